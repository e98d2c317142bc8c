// Which chain the report is about, and what became of it in each run.
import type { ChainFigures, DrawnChain, Page, Run } from "./data";

export interface Compared {
  run: Run;
  /** The chain's figures in this run; absent where this run does not have it. */
  figures: ChainFigures | undefined;
  /** What of it is drawn. */
  drawn: DrawnChain | undefined;
  /** Mean of the first run over the mean of this one. */
  gain: number | undefined;
  /** Another chain is critical here. */
  otherCritical: ChainFigures | undefined;
}

export interface Comparison {
  chain: ChainFigures;
  runs: Compared[];
}

/** The critical chain of the first run, followed by its path through all runs; absent where no chain is critical. */
export function compare(page: Page): Comparison | undefined {
  const chain = page.runs[0]?.summary.chains.find((candidate) => candidate.critical);
  if (chain === undefined) return undefined;
  const before = chain.end_to_end_ms?.mean;
  const runs = page.runs.map((run): Compared => {
    const figures = run.summary.chains.find((candidate) => samePath(candidate.path, chain.path));
    const after = figures?.end_to_end_ms?.mean;
    return {
      run,
      figures,
      drawn: run.chains.find((candidate) => samePath(candidate.path, chain.path)),
      gain: before !== undefined && after !== undefined && after > 0 ? before / after : undefined,
      otherCritical: run.summary.chains.find(
        (candidate) => candidate.critical && !samePath(candidate.path, chain.path),
      ),
    };
  });
  return { chain, runs };
}

/** First and last node. */
export function ends(chain: { path: string[] }): { first: string; last: string } {
  return { first: chain.path[0] ?? "", last: chain.path[chain.path.length - 1] ?? "" };
}

function samePath(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((name, i) => name === other[i]);
}
