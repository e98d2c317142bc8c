// What it costs a node to wake and look for messages, by spin rate (study E, figures 9 and 10).
import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import { xAxis, yAxis } from "./axis";
import type { ChainNode, PageRun } from "./shapes";
import { canvas, drawing, h, s, section } from "./dom";
import { ms, significant } from "./format";
import { withTip } from "./tip";

/** An instance of the study is a period of its LiDAR. */
const INSTANCE_S = 0.1;
/** Instances of figures 9 and 10. */
const INSTANCES = 750;
/** The study's mean time of a check, section 3.2. */
const PUBLISHED_CHECK_MS = 0.000273;

/** Time of all checks over the study's instances, ms: one at each wake. */
export function totalOfChecks(check_ms: number, hz: number): number {
  return INSTANCES * INSTANCE_S * hz * check_ms;
}

/** Time of the checks of an instance over that of the callback, percent. */
export function checksOverCallback({ check_ms, execution_ms }: ChainNode, hz: number): number {
  return (100 * INSTANCE_S * hz * check_ms) / execution_ms;
}

/** The section, of the first run with a search; absent without one. */
export function checks(runs: readonly PageRun[]): HTMLElement | undefined {
  const objective = runs.map((run) => run.objective).find((found) => (found?.points.length ?? 0) > 1);
  const chain = (objective?.input.chain ?? []).filter(({ execution_ms }) => execution_ms > 0);
  // The study draws its Voxel Grid Filter.
  const node = chain.find(({ name }) => /voxel/i.test(name)) ?? chain[0];
  if (objective == null || node === undefined) return undefined;
  const rates = objective.points.map(({ hz }) => hz).sort((a, b) => a - b);
  const published = { ...node, check_ms: PUBLISHED_CHECK_MS };
  const total = ({ check_ms }: ChainNode, hz: number): number => totalOfChecks(check_ms, hz);
  return section(
    "checks",
    "What looking for messages costs",
    `A node that spins wakes, looks at its queues and sleeps. These curves are computed from the time of one such check; the checks were not counted. ${node.name}: ${ms(node.check_ms)} a check, ${ms(node.execution_ms)} a callback. The violet curve has the check that study E published, ${PUBLISHED_CHECK_MS} ms.`,
    h("h3", {}, `All checks of ${INSTANCES} instances (study E, figure 9)`),
    curve("time of all checks", "ms", rates, node, published, total),
    h("h3", {}, "Checks over the execution of the callback (figure 10)"),
    curve("checks over callback execution", "%", rates, node, published, checksOverCallback),
  );
}

function curve(
  title: string,
  unit: string,
  rates: readonly number[],
  ours: ChainNode,
  published: ChainNode,
  value: (node: ChainNode, hz: number) => number,
): HTMLElement {
  return drawing(`${title} by spin rate`, (width) => {
    const [left, right, top, bottom] = [64, width - 12, 12, 180];
    const svg = canvas(width, bottom + 42);
    const last = rates[rates.length - 1] ?? 1;
    const x = scaleLinear([0, last], [left, right]);
    const y = scaleLinear([0, Math.max(value(ours, last), value(published, last)) * 1.05], [bottom, top]);
    const path = (node: ChainNode): string =>
      line<number>(
        (hz) => x(hz),
        (hz) => y(value(node, hz)),
      )([...rates]) ?? "";
    svg.append(
      xAxis(x, x.ticks(8), bottom, top, "spin rate, Hz", right),
      yAxis(y.ticks(5), y, [left, right], unit, top - 4),
      s("path", { class: "published", d: path(published) }),
      s("path", { class: "response", d: path(ours) }),
      ...rates.map((hz) =>
        withTip(s("circle", { class: "reach", cx: x(hz), cy: y(value(ours, hz)), r: 5 }), [
          `${significant(hz)} Hz: ${significant(value(ours, hz))} ${unit}`,
          `with the published check ${significant(value(published, hz))} ${unit}`,
        ]),
      ),
    );
    return svg;
  });
}
