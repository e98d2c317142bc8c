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

/** Causes of the critical chain, or another; absent if no instance is explained. */
export function causes(page: Page): HTMLElement | undefined {
  const chains = page.runs.flatMap((run) =>
    run.summary.chains.filter((chain) => chain.worst.length > 0).map((chain) => ({ run, chain })),
  );
  const first = chains.find(({ chain }) => chain.critical) ?? chains[0];
  if (first === undefined) return undefined;
  const label = (run: PageRun, chain: ChainFigures): string =>
    page.runs.length > 1 ? `${chain.name}, ${run.label}` : chain.name;
  const labels = [...new Set([first, ...chains].map(({ run, chain }) => label(run, chain)))];
  const holder = h("div", { class: "tables" });
  const fill = (wanted: string): void => {
    const found = chains.find(({ run, chain }) => label(run, chain) === wanted);
    if (found !== undefined) holder.replaceChildren(...ofChain(found.chain));
  };
  fill(labels[0] ?? "");
  return section(
    "causes",
    "Causes",
    "What took the time of the worst instances, greatest part first. The parts of an instance add up to it.",
    labels.length > 1 && choice("chain", labels, labels[0] ?? "", fill),
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
