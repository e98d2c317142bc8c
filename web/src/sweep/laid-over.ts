// Lays several runs of one sweep over each other: the run becomes one more parameter of each point.
import type { PageRun, Sweep } from "../shapes";
import { kernelOf } from "../machine";

/** All points of several runs, each with its run as the parameter `run`; for one run, its sweep unchanged. */
export function laidOver(runs: readonly PageRun[]): Sweep | undefined {
  const swept = runs.flatMap((run) => (run.sweep === null ? [] : [{ run, sweep: run.sweep }]));
  const [first] = swept;
  if (first === undefined || swept.length === 1) return first?.sweep;
  const names = namesOf(swept.map(({ run }) => run));
  return {
    parameters: ["run", ...new Set(swept.flatMap(({ sweep }) => sweep.parameters))],
    points: swept.flatMap(({ sweep }, i) => {
      const run = names[i] as string;
      return sweep.points.map((point) => ({
        ...point,
        name: `${run}/${point.name}`,
        parameters: { ...point.parameters, run },
      }));
    }),
    study: swept.every(({ sweep }) => sweep.study?.id === first.sweep.study?.id) ? first.sweep.study : null,
  };
}

/** Labels, with the kernel if kernels differ, and with numbers if they would be equal. */
function namesOf(runs: readonly PageRun[]): string[] {
  const kernel = ({ info: { machine } }: PageRun): string =>
    machine === undefined ? "unknown kernel" : kernelOf(machine);
  const differ = new Set(runs.map(kernel)).size > 1;
  const names = runs.map((run) => (differ ? `${run.label} (${kernel(run)})` : run.label));
  return names.map((name, i) => (names.filter((other) => other === name).length > 1 ? `${i + 1}: ${name}` : name));
}
