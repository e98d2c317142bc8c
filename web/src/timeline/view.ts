// The part of the time axis that is seen, ns since the begin of the run, and how it moves.

export interface View {
  from: number;
  to: number;
}

/** Shortest view: below, single ns would be wider than what the events can tell apart. */
const SHORTEST_NS = 500;

/** A view within limits: not shorter than half a microsecond, not longer than the limits, and inside them. */
export function within({ from, to }: View, limits: View): View {
  const whole = limits.to - limits.from;
  const length = Math.min(Math.max(to - from, SHORTEST_NS), Math.max(whole, SHORTEST_NS));
  const begin = (from + to) / 2 - length / 2;
  const moved = Math.max(Math.min(begin, limits.to - length), limits.from);
  return { from: moved, to: moved + length };
}

/** Zooms in (a factor below 1) or out around a time, which keeps its place. */
export function zoomed({ from, to }: View, factor: number, around: number, limits: View): View {
  const length = Math.min(Math.max((to - from) * factor, SHORTEST_NS), limits.to - limits.from);
  const share = (around - from) / (to - from);
  const begin = around - share * length;
  return within({ from: begin, to: begin + length }, limits);
}

/** Moves by a share of its length. */
export function panned({ from, to }: View, share: number, limits: View): View {
  const step = share * (to - from);
  return within({ from: from + step, to: to + step }, limits);
}

/** A view of all from `from` to `to` with some space on both sides. */
export function fitted(from: number, to: number, limits: View): View {
  const space = Math.max((to - from) * 0.08, SHORTEST_NS / 2);
  return within({ from: from - space, to: to + space }, limits);
}

/** Moves, with the same length, so that a time from `from` to `to` is seen; the same view if it is. */
export function reaching(view: View, from: number, to: number, limits: View): View {
  if (from >= view.from && to <= view.to) return view;
  const length = view.to - view.from;
  if (to - from > length) return fitted(from, to, limits);
  const begin = (from + to) / 2 - length / 2;
  return within({ from: begin, to: begin + length }, limits);
}

/** Ns with the unit that suits them: 12.3 ms. */
export function duration(ns: number): string {
  const [value, unit] =
    Math.abs(ns) >= 1e9
      ? [ns / 1e9, "s"]
      : Math.abs(ns) >= 1e6
        ? [ns / 1e6, "ms"]
        : Math.abs(ns) >= 1e3
          ? [ns / 1e3, "us"]
          : [ns, "ns"];
  return `${Number(value.toPrecision(4))}\u202f${unit}`;
}

/** A time since the begin of the run in s, with as many decimals as a view of this length can show. */
export function moment(ns: number, length: number): string {
  const decimals = Math.min(Math.max(2 - Math.floor(Math.log10(length / 1e9)), 0), 9);
  return `${(ns / 1e9).toFixed(decimals)}\u202fs`;
}

/** Round times in a view, about one in `space` pixels. */
export function ticks({ from, to }: View, width: number, space: number): number[] {
  const rough = ((to - from) / width) * space;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= rough) ?? rough;
  const found: number[] = [];
  for (let tick = Math.ceil(from / step); tick * step <= to; tick++) found.push(tick * step);
  return found;
}
