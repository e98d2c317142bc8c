// One instance of a chain as stretches of time, one after another.
import type { Hop, Instance } from "./data";
import type { Part } from "./parts";

export interface Stretch {
  part: Part;
  /** ms since the start of the instance. */
  from: number;
  to: number;
  /** Position of its node in the chain. */
  position: number;
  /** Thread that had the CPU, of preemption. */
  by?: string;
}

/** Stretches of one node: its message travels, waits for the node to wake, waits behind other callbacks, is kept for this one, is computed on, but for when others had the CPU. */
export function stretches(hop: Hop, position: number): Stretch[] {
  const found: Stretch[] = [];
  const add = (part: Part, from: number, to: number): void => {
    if (to > from) found.push({ part, from, to, position });
  };
  // When a node is woken behind other callbacks, it slept first: alignment, then queueing.
  const began = hop.start_ms - (hop.kept_ms ?? 0);
  const queued = began - hop.queueing_ms;
  if (hop.published_ms !== null && hop.arrival_ms !== null) {
    add("transport", hop.published_ms, hop.arrival_ms);
    add("alignment", hop.arrival_ms, queued);
  } else if (hop.published_ms !== null) {
    add("undivided", hop.published_ms, queued);
  }
  if (hop.published_ms !== null) {
    add("queueing", queued, began);
    add("kept", began, hop.start_ms);
  }
  let from = hop.start_ms;
  for (const { from_ms, to_ms, by } of [...(hop.preemptions ?? [])].sort((a, b) => a.from_ms - b.from_ms)) {
    add("computation", from, from_ms);
    if (to_ms > from_ms) found.push({ part: "preemption", from: from_ms, to: to_ms, position, by: by ?? "what is not known" });
    from = to_ms;
  }
  add("computation", from, hop.output_ms);
  return found;
}

/** All stretches of an instance. */
export function waterfallOf(instance: Instance): Stretch[] {
  return instance.hops.flatMap(stretches);
}

/** Time before the callback of a hop, from publication on; absent for the first. */
export function waited(hop: Hop): number | undefined {
  return hop.published_ms === null ? undefined : hop.start_ms - hop.published_ms;
}
