// Numbers as text. Not measured is an en dash, never zero.

export const ABSENT = "–";

type Maybe = number | null | undefined;

/** `digits` significant digits, without an exponent: 400, 26.1, 1.35, 0.0284. */
export function significant(value: Maybe, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return ABSENT;
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(digits));
  const decimals = digits - 1 - Math.floor(Math.log10(Math.abs(rounded)));
  return group(rounded.toFixed(Math.min(Math.max(decimals, 0), 9)));
}

/** A fixed number of decimals, for columns. */
export function fixed(value: Maybe, decimals: number): string {
  return value === null || value === undefined || !Number.isFinite(value) ? ABSENT : group(value.toFixed(decimals));
}

/** A count. */
export function count(value: Maybe): string {
  return fixed(value, 0);
}

/** Microseconds in milliseconds. */
export function toMs(us: number | undefined): number | undefined {
  return us === undefined ? undefined : us / 1000;
}

/** Milliseconds with their unit. */
export function ms(value: Maybe): string {
  return withUnit(significant(value), "ms");
}

/** A part of one as percent: 6.1 %; a value that would round to zero is shown as below the least digit. */
export function percent(part: Maybe): string {
  if (part === null || part === undefined || !Number.isFinite(part)) return ABSENT;
  const value = 100 * part;
  return value > 0 && value < 0.05 ? "< 0.1 %" : withUnit(value.toFixed(1), "%");
}

/** A reduction as a factor: 15.4×. */
export function factor(value: Maybe): string {
  const text = significant(value);
  return text === ABSENT ? ABSENT : `${text}×`;
}

/** Ns since 1970 as a time of day, UTC, to the millisecond; a JSON number holds no more digits reliably. */
export function wallClock(ns: number): string {
  return new Date(Math.floor(ns / 1e6)).toISOString();
}

/** Memory. */
export function bytes(value: Maybe): string {
  if (value === null || value === undefined) return ABSENT;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const step = Math.min(value > 0 ? Math.floor(Math.log2(value) / 10) : 0, units.length - 1);
  return withUnit(significant(value / 1024 ** step), units[step] ?? "B");
}

function withUnit(text: string, unit: string): string {
  return text === ABSENT ? ABSENT : `${text}\u202f${unit}`;
}

/** Narrow spaces between thousands, from five digits on. */
function group(text: string): string {
  const [whole = "", rest] = text.split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}
