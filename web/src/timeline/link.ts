// The view of a timeline in the page's address, so that a link shows the same part: #timeline=RUN,FROM,TO, in ns since the
// begin of the run.
import type { View } from "./view";

/** The part of an address that shows a view of a run. */
export function linkTo(run: number, { from, to }: View): string {
  return `#timeline=${run},${Math.round(from)},${Math.round(to)}`;
}

/** What an address asks for; absent if it asks for no view. */
export function linked(hash: string): { run: number; view: View } | undefined {
  const found = /^#timeline=(\d{1,4}),(-?\d{1,16}),(-?\d{1,16})$/.exec(hash);
  if (found === null) return undefined;
  const [run, from, to] = [Number(found[1]), Number(found[2]), Number(found[3])];
  return to > from ? { run, view: { from, to } } : undefined;
}
