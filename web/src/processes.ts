// How processes ended.
import type { PageRun } from "./shapes";
import { ABSENT } from "./format";

/** How many processes are named for one way of ending; for the others it gives their number. */
const NAMED = 3;

/** How processes ended that did not end in order: each way once, with its processes. */
export function ends(processes: PageRun["info"]["processes"]): { name: string; count: number; text: string }[] {
  const ways = new Map<string, string[]>();
  for (const { name, pid, code, signal } of processes) {
    if (signal === undefined && (code ?? 0) === 0) continue;
    const way = signal === undefined ? `exit code ${code ?? ABSENT}` : `signal ${signal}`;
    ways.set(way, [...(ways.get(way) ?? []), `${name} (${pid})`]);
  }
  return [...ways].map(([way, of]) => {
    const more = of.length > NAMED ? ` and ${of.length - NAMED} more` : "";
    return {
      name: "process",
      count: of.length > 1 ? of.length : 0,
      text: `${of.slice(0, NAMED).join(", ")}${more} ended by ${way}`,
    };
  });
}
