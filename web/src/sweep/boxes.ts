// Latency as boxes: one dimension across, one by colour, one panel for each combination of the others (study A, figures 9, 10, 13).
import { scaleBand, scaleLog } from "d3-scale";
import { logTicks, tickText } from "../axis";
import type { SweepPoint } from "../data";
import { choice } from "../choice";
import { canvas, drawing, h, s, section } from "../dom";
import { count, significant } from "../format";
import { withTip } from "../tip";
import { grouped, shown, valueOf, valuesOf, words, type Value } from "./model";
import { swatches } from "./swatches";

/** More panels than these would bury the rest of the page; the table has every point. */
const MOST_PANELS = 24;

type Boxed = SweepPoint & { latency_us: NonNullable<SweepPoint["latency_us"]> };

/** The section; absent where no message arrived. */
export function boxes(points: readonly SweepPoint[], dimensions: readonly string[]): HTMLElement | undefined {
  const boxed = points.filter((point): point is Boxed => point.latency_us !== null);
  if (boxed.length === 0) return undefined;
  const holder = h("div", {});
  const chosen = {
    across: first(dimensions, ["size_bytes", "rate_hz", "many", ...dimensions]),
    colour: first(dimensions, ["middleware", "transport", "topology", ...dimensions], ["size_bytes"]),
  };
  const fill = (): void => holder.replaceChildren(...panels(boxed, dimensions, chosen.across, chosen.colour));
  fill();
  const pick = (title: string, start: string | undefined, set: (path: string) => void): HTMLElement | false =>
    dimensions.length > 1 &&
    start !== undefined &&
    choice(title, dimensions.map(words), words(start), (name) => {
      set(dimensions.find((path) => words(path) === name) ?? start);
      fill();
    });
  return section(
    "latency",
    "Latency",
    "From just before the publish call to the first line of the subscriber's callback, all messages of all repeats, µs, on a logarithmic axis. Boxes are quartiles with the median as line, whiskers reach to the last value within 1.5 times their distance; the ring is the greatest value.",
    pick("across", chosen.across, (path) => (chosen.across = path)),
    pick("colour", chosen.colour, (path) => (chosen.colour = path)),
    holder,
  );
}

function first(there: readonly string[], wanted: readonly string[], not: readonly string[] = []): string | undefined {
  return wanted.find((path) => there.includes(path) && !not.includes(path));
}

function panels(points: readonly Boxed[], dimensions: readonly string[], across: string | undefined, colour: string | undefined): HTMLElement[] {
  const rest = dimensions.filter((path) => path !== across && path !== colour);
  const groups = grouped(points, rest);
  const colours = colour === undefined ? [undefined] : valuesOf(points, colour);
  const all = points.flatMap(({ latency_us: { low, high }, figures }) => [low, figures?.latency_us?.max ?? high]);
  const range: [number, number] = [Math.max(Math.min(...all), 0.1) * 0.85, Math.max(...all, 0.2) * 1.2];
  const cut = groups.length > MOST_PANELS;
  return [
    ...(colour === undefined ? [] : [swatches(colours.map((value) => shown(colour, value)))]),
    ...groups
      .slice(0, MOST_PANELS)
      .map(({ name, points: of }) =>
        h("figure", {}, name !== "" && h("figcaption", {}, h("b", {}, name)), panel(of as Boxed[], across, colour, colours, range)),
      ),
    ...(cut ? [h("p", { class: "remark" }, `${MOST_PANELS} of ${groups.length} panels are drawn; the table below has every point.`)] : []),
  ];
}

function panel(
  points: readonly Boxed[],
  across: string | undefined,
  colour: string | undefined,
  colours: readonly (Value | undefined)[],
  range: [number, number],
): HTMLElement {
  const columns = across === undefined ? [undefined] : valuesOf(points, across);
  return drawing("box plots of latency", (width) => {
    const [left, top, bottom] = [64, 10, 230];
    const svg = canvas(width, bottom + 44);
    const y = scaleLog(range, [bottom, top]);
    const x = scaleBand<number>().domain(columns.map((_, i) => i)).range([left, width - 8]).paddingInner(0.16).paddingOuter(0.08);
    const inner = scaleBand<number>().domain(colours.map((_, i) => i)).range([0, x.bandwidth()]).paddingInner(0.2);
    for (const tick of logTicks(range[0], range[1], 7))
      svg.append(
        s("line", { class: "grid", x1: left, x2: width - 8, y1: y(tick), y2: y(tick) }),
        s("text", { class: "tick", x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick)),
      );
    columns.forEach((column, i) => {
      if (across !== undefined)
        svg.append(
          s("text", { class: "tick", x: (x(i) ?? 0) + x.bandwidth() / 2, y: bottom + 18, "text-anchor": "middle" }, shown(across, column)),
        );
      colours.forEach((value, j) => {
        const of = points.filter(
          (point) =>
            (across === undefined || valueOf(point, across) === column) && (colour === undefined || valueOf(point, colour) === value),
        );
        // Points that nothing on the page tells apart share a place.
        const wide = Math.min(inner.bandwidth() / Math.max(of.length, 1), 34);
        const from = (x(i) ?? 0) + (inner(j) ?? 0) + (inner.bandwidth() - wide * of.length) / 2;
        of.forEach((point, k) => svg.append(box(point, j, from + wide * k, wide, y)));
      });
    });
    svg.append(
      s("text", { class: "axis-title", x: width - 8, y: bottom + 38, "text-anchor": "end" }, across === undefined ? "" : words(across)),
      s("text", { class: "axis-title", x: 0, y: top + 2 }, "µs"),
    );
    return svg;
  });
}

function box(point: Boxed, colour: number, from: number, wide: number, y: (value: number) => number): SVGElement {
  const { low, q1, median, q3, high, beyond } = point.latency_us;
  const at = (value: number): number => y(Math.max(value, 0.1));
  const middle = from + wide / 2;
  const half = Math.max(Math.min(wide * 0.42, 13), 1);
  const greatest = point.figures?.latency_us?.max;
  return withTip(
    s(
      "g",
      { class: `box run-${colour % 6}`, "data-point": point.name },
      s("rect", { class: "reach", x: from, y: at(greatest ?? high), width: wide, height: Math.max(at(low) - at(greatest ?? high), 6) }),
      s("line", { x1: middle, x2: middle, y1: at(low), y2: at(q1) }),
      s("line", { x1: middle, x2: middle, y1: at(q3), y2: at(high) }),
      s("rect", { class: "quartiles", x: middle - half, y: at(q3), width: 2 * half, height: Math.max(at(q1) - at(q3), 1) }),
      s("line", { class: "median", x1: middle - half, x2: middle + half, y1: at(median), y2: at(median) }),
      greatest !== undefined && greatest > high && s("circle", { cx: middle, cy: at(greatest), r: 2.5 }),
    ),
    [
      label(point),
      `median ${significant(median)} µs, quartiles ${significant(q1)} to ${significant(q3)}`,
      `whiskers ${significant(low)} to ${significant(high)}, ${count(beyond)} beyond, greatest ${significant(greatest)}`,
    ],
    true,
  );
}

/** A point in words. */
export function label(point: SweepPoint): string {
  const { figures } = point;
  if (figures === null) return point.name;
  const shape = figures.topology === undefined ? "" : ` ${figures.publishers}-${figures.subscribers}`;
  const transport = figures.transport === "" ? "" : `/${figures.transport}`;
  const size = figures.size_bytes === undefined ? "" : ` ${shown("size_bytes", figures.size_bytes)}`;
  const rate = figures.rate_hz === undefined ? "" : ` ${shown("rate_hz", figures.rate_hz)}`;
  return `${figures.middleware}${transport}${shape}${size}${rate}`;
}
