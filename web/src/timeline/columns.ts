// Columns of integers: varints of seven bits a byte, all of them base64. crates/report/src/timeline/columns.rs writes
// them.

/** Values of a column. */
export function values(column: string): Float64Array {
  return varints(column).map(signed);
}

/** Values of a column that holds the difference of each from the one before. */
export function growing(column: string): Float64Array {
  const all = values(column);
  for (let i = 1; i < all.length; i++) all[i] = (all[i] ?? 0) + (all[i - 1] ?? 0);
  return all;
}

/** Values of a column, NaN for those that are absent. */
export function optional(column: string): Float64Array {
  return varints(column).map((value) => (value === 0 ? NaN : signed(value - 1)));
}

/** Begins of groups of these sizes, and the end of the last. */
export function begins(sizes: ArrayLike<number>): Int32Array {
  const all = new Int32Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) all[i + 1] = (all[i] ?? 0) + (sizes[i] ?? 0);
  return all;
}

function signed(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function varints(column: string): Float64Array {
  const bytes = atob(column);
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes.charCodeAt(i) < 0x80) count++;
  const all = new Float64Array(count);
  // Times take more than the 32 bits of JavaScript's shifts.
  let [at, value, scale] = [0, 0, 1];
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes.charCodeAt(i);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      all[at++] = value;
      value = 0;
      scale = 1;
    } else scale *= 128;
  }
  if (scale !== 1) throw new Error("a column of the timeline ends inside a number: the page is torn");
  return all;
}
