// Slices that follow each other without overlap, and what of them can be seen: found by binary search, and merged where
// several fall into one pixel, so that a frame costs its pixels and not its slices.

/** Slices in order of time. */
export interface Row {
  start: Float64Array;
  end: Float64Array;
  /** What each slice stands for. */
  item: Int32Array;
  /** Sum of the lengths of all slices before each, and of all. */
  before: Float64Array;
}

/** A row of slices of these items, which must be in order and must not overlap. */
export function rowOf(items: ArrayLike<number>, start: ArrayLike<number>, end: ArrayLike<number>): Row {
  const count = items.length;
  const row: Row = {
    start: new Float64Array(count),
    end: new Float64Array(count),
    item: Int32Array.from(items),
    before: new Float64Array(count + 1),
  };
  for (let i = 0; i < count; i++) {
    const item = row.item[i] ?? 0;
    const [from, to] = [start[item] ?? 0, end[item] ?? 0];
    row.start[i] = from;
    row.end[i] = to;
    row.before[i + 1] = (row.before[i] ?? 0) + to - from;
  }
  return row;
}

/** Index of the first value from `low` on that is at least `value`, in an ascending array. */
export function firstFrom(values: Float64Array, value: number, low = 0): number {
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A slice as it is seen, or all that begin in one pixel and are shorter than one. */
export type Seen = (x: number, width: number, index: number, count: number, busy: number) => void;

/** Calls `seen` for what a row shows of `from` to `to` on `width` pixels: at most twice a pixel. */
export function visible(row: Row, from: number, to: number, width: number, seen: Seen): void {
  const scale = width / (to - from);
  const { start, end, before } = row;
  const isWide = (i: number): boolean => ((end[i] ?? 0) - (start[i] ?? 0)) * scale >= 1;
  let i = firstFrom(end, from);
  while (i < start.length && (start[i] ?? 0) < to) {
    const x = ((start[i] ?? 0) - from) * scale;
    if (isWide(i)) {
      seen(x, ((end[i] ?? 0) - (start[i] ?? 0)) * scale, i, 1, 1);
      i++;
      continue;
    }
    const pixel = Math.floor(x);
    let next = Math.max(firstFrom(start, from + (pixel + 1) / scale, i + 1), i + 1);
    // Only the last that begins here can go on beyond.
    if (next > i + 1 && isWide(next - 1)) next--;
    const busy = ((before[next] ?? 0) - (before[i] ?? 0)) * scale;
    seen(pixel, 1, i, next - i, Math.min(busy, 1));
    i = next;
  }
}

/** Index of the slice at a time, or the nearest one within `reach` ns; -1 if there is none. */
export function sliceAt(row: Row, time: number, reach: number): number {
  const next = firstFrom(row.end, time);
  let [best, distance] = [-1, reach];
  for (const i of [next - 1, next]) {
    if (i < 0 || i >= row.start.length) continue;
    const away = Math.max((row.start[i] ?? 0) - time, time - (row.end[i] ?? 0), 0);
    if (away <= distance) [best, distance] = [i, away];
  }
  return best;
}
