// One instance of a chain as stretches of time, one after another.
import type { PageHop, PageInstance } from "./shapes";
import { laidOut, timesOf, type Part } from "./parts";

export interface Stretch {
  part: Part;
  /** ms since the start of the instance. */
  from: number;
  to: number;
  /** Position of its node in the chain. */
  position: number;
  /** Thread that had the CPU, for preemption. */
  by?: string;
}

/** Before a callback, in this order: if a node wakes and then waits for other callbacks, it slept first. */
const WAITING: readonly Part[] = ["transport", "undivided", "alignment", "queueing", "kept"];

/**
 * Stretches of one node: its message travels, waits for the node to wake, waits for other callbacks, is kept for this
 * callback, and is computed on, except while others had the CPU.
 */
export function stretches(hop: PageHop, position: number): Stretch[] {
  const found: Stretch[] = [];
  const add = (part: Part, from: number, to: number): void => {
    if (to > from) found.push({ part, from, to, position });
  };
  if (hop.published_ms !== null) {
    const told = hop.parts.alignment_ms !== undefined;
    const times = timesOf(hop.parts).map(
      ({ part, ms }) => ({ part: part === "transport" && !told ? "undivided" : part, ms }) as const,
    );
    const waiting = WAITING.flatMap((part) => times.filter((time) => time.part === part));
    for (const { part, from, to } of laidOut(waiting, hop.published_ms)) add(part, from, to);
  }
  let from = hop.start_ms;
  for (const { from_ms, to_ms, by } of [...(hop.preemptions ?? [])].sort((a, b) => a.from_ms - b.from_ms)) {
    add("computation", from, from_ms);
    if (to_ms > from_ms)
      found.push({ part: "preemption", from: from_ms, to: to_ms, position, by: by ?? "what is not known" });
    from = to_ms;
  }
  add("computation", from, hop.output_ms);
  return found;
}

/** All stretches of an instance. */
export function waterfallOf(instance: PageInstance): Stretch[] {
  return instance.hops.flatMap(stretches);
}

/** Time before the callback of a hop, from publication on; absent for the first. */
export function waited(hop: PageHop): number | undefined {
  return hop.published_ms === null ? undefined : hop.start_ms - hop.published_ms;
}
