// Spread over repeats: nodes that spin at one rate keep the phases they started with, so one repeat is one draw.
import type { Distribution } from "./shapes";

/** Means of the repeats, as far as their distribution contains them. */
export interface Repeats {
  count: number;
  /** Ascending. Each repeat up to five; beyond, least, quartiles and greatest. */
  values: number[];
}

/**
 * The values behind a small distribution: quartiles interpolate linearly between closest ranks, so up to five values can be
 * had back exactly.
 */
export function repeatsOf(means: Distribution | undefined): Repeats {
  if (means === undefined || means.count === 0) return { count: 0, values: [] };
  const { count, min, q1, median, q3, max } = means;
  // Of four values the quartiles have ranks 0.75 and 2.25, a quarter of a step from the inner two.
  if (count === 4) return { count, values: [min, min + (q1 - min) / 0.75, max - (max - q3) / 0.75, max] };
  const few: Record<number, number[]> = { 1: [min], 2: [min, max], 3: [min, median, max] };
  return { count, values: few[count] ?? [min, q1, median, q3, max] };
}
