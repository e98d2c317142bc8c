// What the worst instances of a chain waited for, by name.
import type { ChainFigures, LatePart, Page, PageRun } from "./shapes";
import { CAUSES } from "./shapes/words";
import { h, section } from "./dom";
import { choice } from "./choice";
import { ABSENT, fixed, wallClock } from "./format";
import { sortable } from "./sortable";

/** A cause in words. */
function words({ kind, by }: Pick<LatePart, "kind" | "by">): string {
  return `${CAUSES[kind]} ${by}`;
}

/** A chain whose worst instances are explained, by a name that no other has. */
export interface Explained {
  run: PageRun;
  chain: ChainFigures;
  label: string;
}

/** All chains with explained instances; first the one that the headline is about: the verdict's, else the critical one. */
export function explained(page: Page): Explained[] {
  const chains = page.runs.flatMap((run) =>
    run.summary.chains.flatMap((chain, row) => (chain.worst.length > 0 ? [{ run, chain, row }] : [])),
  );
  const order = ({ run, chain, row }: (typeof chains)[number]): number =>
    page.runs.length === 1 && samePath(chain.path, run.summary.verdict?.path)
      ? 0
      : row === run.compared?.chain
        ? 1
        : chain.critical
          ? 2
          : 3;
  const sorted = [...chains].sort((a, b) => order(a) - order(b));
  const label = (run: PageRun, name: string): string => (page.runs.length > 1 ? `${name}, ${run.label}` : name);
  const known = new Map<string, number>();
  return sorted.map(({ run, chain }) => {
    // Many paths share a name: what they pass on the way tells them apart.
    const namesakes = run.summary.chains.filter(({ name }) => name === chain.name).length;
    const way = chain.path.filter((_, place) => place % 2 === 0).slice(1, -1);
    const through = namesakes > 1 ? ` through ${way.length === 0 ? "no other node" : way.join(", ")}` : "";
    const whole = label(run, `${chain.name}${through}`);
    const number = (known.get(whole) ?? 0) + 1;
    known.set(whole, number);
    return { run, chain, label: number > 1 ? `${whole} (${number})` : whole };
  });
}

function samePath(a: readonly string[], b: readonly string[] | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((name, place) => name === b[place]);
}

/** Causes of the chain that the headline is about, or another; absent if no instance is explained. */
export function causes(page: Page): HTMLElement | undefined {
  const chains = explained(page);
  const first = chains[0];
  if (first === undefined) return undefined;
  const holder = h("div", { class: "tables" });
  const labels = chains.map(({ label }) => label);
  const fill = (wanted: string): void => {
    const found = chains[labels.indexOf(wanted)];
    if (found !== undefined) holder.replaceChildren(...ofChain(found.chain));
  };
  fill(first.label);
  return section(
    "causes",
    "Causes",
    "What took the time of the worst instances, greatest part first. The parts of an instance add up to it.",
    labels.length > 1 && choice("chain", labels, first.label, fill),
    holder,
  );
}

function ofChain(chain: ChainFigures): HTMLElement[] {
  const instances = chain.worst.map((instance, i) => {
    const parts = [...instance.parts].sort((a, b) => b.ms - a.ms);
    const at = instance.start_realtime_ns === undefined ? "" : ` (${wallClock(instance.start_realtime_ns)})`;
    const title = `${fixed(instance.end_to_end_ms, 2)} ms at ${fixed(instance.start_ns / 1e9, 6)} s${at}`;
    return h(
      "details",
      { open: i === 0 },
      h("summary", {}, `${title}: ${parts[0] === undefined ? ABSENT : words(parts[0])}`),
      sortable<LatePart>(parts, [
        { title: "cause", value: words },
        { title: "took", unit: "ms", decimals: 3, value: (part) => part.ms },
        { title: "usual", unit: "ms", decimals: 3, value: (part) => part.usual_ms },
        { title: "at", value: (part) => (part.nodes.length === 1 ? part.nodes[0] : `${part.nodes.length} nodes`) },
      ]),
    );
  });
  if (chain.lost_inputs.length === 0) return instances;
  const lost = sortable(chain.lost_inputs, [
    { title: "inputs that led to no output", value: words },
    { title: "at", value: (row) => row.node },
    { title: "inputs", value: (row) => row.inputs },
  ]);
  return [...instances, lost];
}
