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
  /** Thread that had the CPU, for preemption; thread that woke it, for blocked. */
  by?: string;
  /** Only its length is known, and that it was inside this callback. */
  unplaced?: true;
}

/** Before a callback, in this order: if a node wakes and then waits for other callbacks, it slept first. */
const WAITING: readonly Part[] = ["transport", "undivided", "alignment", "queueing", "kept"];

/**
 * Stretches of one node: its message travels, waits for the node to wake, waits for other callbacks, is kept for this
 * callback, and is computed on, except while its thread is off the CPU.
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
  return [...found, ...inside(hop, position)];
}

/**
 * From its start to its output. The CPU-time clock alone shows only the length of the time off the CPU: it is drawn last.
 */
function inside(hop: PageHop, position: number): Stretch[] {
  const off = [
    ...(hop.preemptions ?? []).map(({ from_ms: from, to_ms: to, by }) => {
      return { part: "preemption" as const, from, to, position, by: by ?? "what is not known" };
    }),
    ...(hop.blocked ?? []).map(({ from_ms: from, to_ms: to, woken_by }) => {
      return { part: "off_cpu" as const, from, to, position, ...(woken_by === null ? {} : { by: woken_by }) };
    }),
  ]
    .filter(({ from, to }) => to > from)
    .sort((a, b) => a.from - b.from);
  const placed = off.reduce((sum, { from, to }) => sum + to - from, 0);
  const all = (hop.parts.off_cpu_ms ?? 0) + (hop.parts.preemption_ms ?? 0);
  // Less than a nanosecond is an error of rounding.
  const unplaced = all - placed > 1e-6 ? all - placed : 0;
  let computes = hop.output_ms - hop.start_ms - placed - unplaced;
  const found: Stretch[] = [];
  const rest = (from: number, to: number): void => {
    const until = unplaced === 0 ? to : Math.min(to, from + Math.max(computes, 0));
    if (until > from) found.push({ part: "computation", from, to: until, position });
    if (to > until) found.push({ part: "off_cpu", from: until, to, position, unplaced: true });
    computes -= until - from;
  };
  let from = hop.start_ms;
  for (const stretch of off) {
    rest(from, stretch.from);
    found.push(stretch);
    from = stretch.to;
  }
  rest(from, hop.output_ms);
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
