// Which chain the report is about, and how it changed from run to run, by the page's data.
import type { ChainFigures, Page, PageChain, PageRun } from "./shapes";

export interface Compared {
  run: PageRun;
  /** The chain's figures in this run; absent if this run does not have it. */
  figures: ChainFigures | undefined;
  /** The instances that are drawn. */
  drawn: PageChain | undefined;
  /** Mean of the first run over the mean of this one. */
  gain: number | undefined;
  /** Another chain is critical here. */
  otherCritical: ChainFigures | undefined;
}

export interface Comparison {
  chain: ChainFigures;
  runs: Compared[];
}

/** The critical chain of the first run in all runs; absent if no chain is critical. */
export function compare(page: Page): Comparison | undefined {
  const runs = page.runs.flatMap((run): Compared[] => {
    if (run.compared === null) return [];
    const { chain, drawn, gain, other_critical } = run.compared;
    return [
      {
        run,
        figures: at(run.summary.chains, chain),
        drawn: at(run.chains, drawn),
        gain,
        otherCritical: at(run.summary.chains, other_critical),
      },
    ];
  });
  const chain = runs[0]?.figures;
  return chain === undefined ? undefined : { chain, runs };
}

/** Where a chain begins and ends, or where it turns if it comes back. */
export function ends({ path }: { path: string[] }): string {
  const first = path[0] ?? "";
  const last = path[path.length - 1] ?? "";
  if (first !== last) {
    return `${first} to ${last}`;
  }
  const nodes = path.filter((_, at) => at % 2 === 0);
  const turn = nodes[Math.floor(nodes.length / 2)] ?? first;
  return turn === first ? first : `${first} to ${turn} and back`;
}

function at<T>(all: readonly T[], index: number | undefined): T | undefined {
  return index === undefined ? undefined : all[index];
}
