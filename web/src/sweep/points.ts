// Every point as a row, and the points that could not run with their reasons.
import type { Sweep, SweepPoint } from "../shapes";
import { h, section } from "../dom";
import { sortable, type SortColumn } from "../sortable";
import { label, numberOf, valueOf, words } from "./model";

/** The columns that distinguish points, and their figures. */
const FIGURES: { path: string; title: string; unit?: string; decimals?: number; scale?: number }[] = [
  { path: "due", title: "due" },
  { path: "sent", title: "sent" },
  { path: "received", title: "received" },
  { path: "loss_percent", title: "loss", unit: "%", decimals: 2 },
  { path: "late", title: "late" },
  { path: "latency_us.median", title: "median", unit: "µs" },
  { path: "latency_us.mean", title: "mean", unit: "µs" },
  { path: "latency_us.std", title: "std", unit: "µs" },
  { path: "latency_us.p99", title: "p99", unit: "µs" },
  { path: "latency_us.max", title: "worst", unit: "µs" },
  { path: "emulated_us.median", title: "emulated time: median", unit: "µs" },
  { path: "emulated_us.p99", title: "emulated time: p99", unit: "µs" },
  { path: "fairness.spread_us", title: "spread of subscribers", unit: "µs" },
  { path: "drives.success_percent", title: "drives that succeeded", unit: "%", decimals: 1 },
  { path: "startup_ms.median", title: "start-up", unit: "ms", decimals: 1 },
  { path: "cpu_percent", title: "CPU", unit: "% of one", decimals: 1 },
  { path: "wakeups_per_s", title: "wake-ups", unit: "1/s" },
  { path: "pss_bytes", title: "PSS", unit: "MiB", decimals: 1, scale: 1 / (1 << 20) },
  { path: "shared_bytes", title: "shared memory", unit: "MiB", decimals: 1, scale: 1 / (1 << 20) },
];

const UNITS: Record<string, string> = { size_bytes: "B", rate_hz: "Hz" };

/** The table of points. */
export function table({ points }: Sweep, dimensions: readonly string[]): HTMLElement | undefined {
  const measured = points.filter(({ figures }) => figures !== null);
  if (measured.length === 0) return undefined;
  const columns: SortColumn<SweepPoint>[] = [
    // The number of its folder; the columns that follow contain the rest of the name.
    { title: "point", value: (point) => point.name.split("-")[0] },
    ...dimensions.map((path): SortColumn<SweepPoint> => ({
      title: words(path),
      ...(path in UNITS ? { unit: UNITS[path] ?? "" } : {}),
      value: (point) => valueOf(point, path),
    })),
    ...FIGURES.filter(({ path }) => measured.some((point) => numberOf(point, path) !== undefined)).map(
      ({ path, title, unit, decimals, scale }): SortColumn<SweepPoint> => ({
        title,
        ...(unit === undefined ? {} : { unit }),
        ...(decimals === undefined ? {} : { decimals }),
        value: (point) => {
          const value = numberOf(point, path);
          return value === undefined ? undefined : value * (scale ?? 1);
        },
      }),
    ),
  ];
  return section(
    "points",
    "All points",
    "A press on a header sorts. An en dash is a figure that was not measured.",
    sortable(measured, columns),
  );
}

/** Points that lack something, with what and why; absent if all are complete. */
export function lacking({ points }: Sweep): HTMLElement | undefined {
  const without = points.filter(({ figures, missing }) => figures === null || missing.length > 0);
  if (without.length === 0) return undefined;
  // Many points often share one reason.
  const reasons = new Map<string, string[]>();
  for (const point of without) {
    const reason = point.missing.length === 0 ? "nothing was measured" : point.missing.join("; ");
    reasons.set(reason, [...(reasons.get(reason) ?? []), point.figures === null ? point.name : label(point)]);
  }
  return h(
    "div",
    { class: "notes", id: "lacking" },
    h("h2", {}, `${without.length} of ${points.length} points lack something`),
    h("ul", {}, ...[...reasons].map(([reason, names]) => h("li", {}, h("b", {}, names.join(", ")), `: ${reason}`))),
  );
}
