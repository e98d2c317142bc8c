// Points of a sweep by their parameters and their figures.
import type { Condition, Point, SweepPoint } from "../shapes";

export type Value = number | string;

/** Figures that no event measures, but that follow from two others. */
const DERIVED: Record<string, (point: Point) => Value | undefined> = {
  "middleware/transport": ({ middleware, transport }) => (transport === "" ? middleware : `${middleware}/${transport}`),
  "many": (point) => Math.max(point.publishers, point.subscribers),
  "not_sent_percent": (point) =>
    point.due === undefined || point.due === 0 ? undefined : (100 * (point.due - point.sent)) / point.due,
  "publish_dds_percent": (point) => {
    // The messages whose publishing side is known layer by layer, if there are any.
    const told = point.layers.find(({ layers }) =>
      layers.some(({ layer, includes }) => layer === "publish_dds" && includes === undefined),
    );
    const publishing = (told?.layers ?? []).filter(({ layer }) => layer.startsWith("publish_"));
    const whole = publishing.reduce((sum, { duration_us }) => sum + duration_us.mean, 0);
    const dds = publishing.find(({ layer }) => layer === "publish_dds");
    return dds === undefined || whole === 0 ? undefined : (100 * dds.duration_us.mean) / whole;
  },
  "rom_bytes": ({ boards }) => greatest((boards ?? []).map(({ rom_bytes }) => rom_bytes)),
  "ram_bytes": ({ boards }) => greatest((boards ?? []).map(({ ram_bytes }) => ram_bytes)),
};

function greatest(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}

/**
 * A figure by its path in the point (`latency_us.median`), else the parameter of that name; absent if it was not
 * measured.
 */
export function valueOf(point: SweepPoint, path: string): Value | undefined {
  const figures = point.figures;
  if (figures !== null) {
    const derived = DERIVED[path];
    if (derived !== undefined) return derived(figures);
    let found: unknown = figures;
    for (const key of path.split("."))
      found = typeof found === "object" && found !== null ? (found as Record<string, unknown>)[key] : undefined;
    if (typeof found === "number" || typeof found === "string") return found === "" ? "default" : found;
  }
  return point.parameters[path];
}

/** A figure that is a number. */
export function numberOf(point: SweepPoint, path: string): number | undefined {
  const value = valueOf(point, path);
  return typeof value === "number" ? value : undefined;
}

/** Points that meet all conditions. */
export function matching(points: readonly SweepPoint[], which: Record<string, Condition>): SweepPoint[] {
  const meets = (point: SweepPoint, path: string, condition: Condition): boolean => {
    const value = valueOf(point, path);
    if (value === undefined) return false;
    if (condition === "greatest") return value === Math.max(...points.flatMap((other) => numberOf(other, path) ?? []));
    if (typeof condition !== "object") return value === condition;
    if (condition.not !== undefined) return value !== condition.not;
    if (condition.one_of !== undefined) return condition.one_of.includes(value);
    return (
      typeof value === "number" && value >= (condition.least ?? -Infinity) && value <= (condition.most ?? Infinity)
    );
  };
  return points.filter((point) => Object.entries(which).every(([path, condition]) => meets(point, path, condition)));
}

/**
 * Points in groups that agree in some values, in the order of their first points; a value that all points share names
 * no group.
 */
export function grouped<P extends SweepPoint>(
  points: readonly P[],
  by: readonly string[],
): { name: string; points: P[] }[] {
  const telling = by.filter((path) => new Set(points.map((point) => valueOf(point, path))).size > 1);
  const groups = new Map<string, P[]>();
  for (const point of points) {
    const key = JSON.stringify(by.map((path) => valueOf(point, path) ?? null));
    groups.set(key, [...(groups.get(key) ?? []), point]);
  }
  return [...groups.values()].map((of) => ({
    name: telling.flatMap((path) => (of[0] === undefined ? [] : [shown(path, valueOf(of[0], path))])).join(", "),
    points: of,
  }));
}

/** A value as people write it. */
export function shown(path: string, value: Value | undefined): string {
  if (value === undefined) return `no ${words(path)}`;
  // A bare number does not show what it counts.
  if (typeof value === "string") return /^[\d.]+$/.test(value) ? `${words(path)} ${value}` : value;
  if (path === "size_bytes") return size(value);
  if (path === "rate_hz") return `${value} Hz`;
  const unit: Record<string, [string, string]> = {
    publishers: ["publisher", "publishers"],
    subscribers: ["subscriber", "subscribers"],
    many: ["node", "nodes"],
  };
  const [one, several] = unit[path] ?? ["", ""];
  return `${value} ${value === 1 ? one : several}`.trim();
}

/** A point in words. */
export function label(point: SweepPoint): string {
  const { figures } = point;
  if (figures === null) return point.name;
  const shape = figures.topology === undefined ? "" : ` ${figures.publishers}-${figures.subscribers}`;
  const transport = figures.transport === "" ? "" : `/${figures.transport}`;
  const size = figures.size_bytes === undefined ? "" : ` ${shown("size_bytes", figures.size_bytes)}`;
  const rate = figures.rate_hz === undefined ? "" : ` ${shown("rate_hz", figures.rate_hz)}`;
  const run = point.parameters["run"] === undefined ? "" : `${point.parameters["run"]}: `;
  return `${run}${figures.middleware}${transport}${shape}${size}${rate}`;
}

/** A path without underscores and unit. */
export function words(path: string): string {
  if (path === "many") return "number of nodes";
  return path.replace(/_(us|ms|hz|bytes|percent)\b/g, "").replace(/[._]/g, " ");
}

function size(bytes: number): string {
  for (const [unit, step] of [
    ["MiB", 1 << 20],
    ["MB", 1e6],
    ["KiB", 1 << 10],
    ["kB", 1e3],
  ] as const)
    if (bytes >= step && bytes % step === 0) return `${bytes / step} ${unit}`;
  return `${bytes} B`;
}

/** The identity of a point, independent of the names in a sweep. */
const IDENTITIES = ["middleware/transport", "topology", "many", "size_bytes", "rate_hz"];

/**
 * What distinguishes points: identities and parameters with more than one value that do not follow from the others. A parameter
 * that follows from the identities is left out, as is an identity that follows from a parameter that is left.
 */
export function dimensions(points: readonly SweepPoint[], parameters: readonly string[]): string[] {
  const measured = points.filter(({ figures }) => figures !== null);
  const varies = (path: string): boolean => new Set(measured.map((point) => valueOf(point, path))).size > 1;
  const identities = IDENTITIES.filter(varies);
  const own = parameters.filter((path) => varies(path) && !follows(measured, path, identities));
  return [...identities.filter((path) => !own.some((parameter) => follows(measured, path, [parameter]))), ...own];
}

/** Whether points that agree in some values always agree in that of `path`. */
function follows(points: readonly SweepPoint[], path: string, from: readonly string[]): boolean {
  const said = new Map<string, Value | undefined>();
  for (const point of points) {
    const key = JSON.stringify(from.map((other) => valueOf(point, other) ?? null));
    if (!said.has(key)) said.set(key, valueOf(point, path));
    else if (said.get(key) !== valueOf(point, path)) return false;
  }
  return from.length > 0;
}

/** Values of a dimension, numbers ascending, texts in the order of the file. */
export function valuesOf(points: readonly SweepPoint[], path: string): Value[] {
  const values = [...new Set(points.flatMap((point) => valueOf(point, path) ?? []))];
  return values.every((value) => typeof value === "number") ? values.sort((a, b) => Number(a) - Number(b)) : values;
}
