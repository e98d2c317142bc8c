// Means of the repeats of a run, where the summary has them.
import type { ChainFigures } from "./data";

/** Mean end-to-end time of each repeat, ms; empty for a single run. */
export function repeatMeans(chain: ChainFigures | undefined): number[] {
  const repeats: unknown = (chain as { repeats?: unknown } | undefined)?.repeats;
  return Array.isArray(repeats) ? repeats.filter((mean): mean is number => typeof mean === "number") : [];
}
