// Latency as boxes: one dimension across, one by colour, one panel for each combination of the others (study A, figures 9, 10, 13).
import { scaleLog } from "d3-scale";
import { symbolDiamond } from "d3-shape";
import { logTicks, yAxis } from "../axis";
import type { Mark, SweepPoint } from "../shapes";
import { choice } from "../choice";
import { canvas, drawing, h, s, section } from "../dom";
import { count, significant } from "../format";
import { withTip } from "../tip";
import { axisHeight, columnAxis, columns, type Arrangement } from "./columns";
import { bands, hollow, marksIn, marksOf, reach, type PlacedMark } from "./marks";
import { label, valuesOf, words, type Value } from "./model";
import { coloursOf, panelsOf } from "./panels";

/** Colours of runs, as style/page.css declares them. */
const COLOURS = 6;

type Boxed = SweepPoint & { latency_us: NonNullable<SweepPoint["latency_us"]> };

/** The section; the reader chooses the arrangement. Absent if no message arrived. */
export function boxes(points: readonly SweepPoint[], dimensions: readonly string[]): HTMLElement | undefined {
  if (points.every(({ latency_us }) => latency_us === null)) return undefined;
  const holder = h("div", {});
  // If there are more values than colours, they go across.
  const crowd = dimensions.filter((path) => valuesOf(points, path).length > COLOURS);
  const across = first(dimensions, [...crowd, "size_bytes", "rate_hz", "many", ...dimensions]);
  const rest = dimensions.filter((path) => path !== across);
  const chosen = { across, colour: first(rest, ["run", "middleware/transport", "topology", ...rest]) };
  const fill = (): void => {
    const { across, colour } = chosen;
    const rest = dimensions.filter((path) => path !== across && path !== colour);
    holder.replaceChildren(
      ...boxPanels(points, { across: across === undefined ? [] : [across], colour, panels: rest }),
    );
  };
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

function first(there: readonly string[], wanted: readonly string[]): string | undefined {
  return wanted.find((path) => there.includes(path));
}

/** A panel for each combination of the arrangement, all on one logarithmic axis, µs, with the published values. */
export function boxPanels(
  points: readonly SweepPoint[],
  arrangement: Arrangement,
  published: readonly Mark[] = [],
): HTMLElement[] {
  const boxed = points.filter((point): point is Boxed => point.latency_us !== null);
  const colours = coloursOf(boxed, arrangement);
  const marks = marksOf(published, boxed, points, "latency_us.median", 1);
  const all = boxed.flatMap(({ latency_us: { low, high }, figures }) => [low, figures?.latency_us?.max ?? high]);
  all.push(...reach(marks).filter((value) => value > 0));
  const range: [number, number] = [Math.max(Math.min(...all), 0.1) * 0.85, Math.max(...all, 0.2) * 1.2];
  return panelsOf(boxed, arrangement, (of) => [panel(of, arrangement, colours, range, marksIn(of, marks))]);
}

function panel(
  points: readonly Boxed[],
  arrangement: Arrangement,
  colours: readonly (Value | undefined)[],
  range: [number, number],
  marks: readonly PlacedMark[],
): HTMLElement {
  return drawing("box plots of latency", (width) => {
    const [left, right, top, bottom] = [64, width - 8, 10, 230];
    const svg = canvas(width, bottom + axisHeight(points, arrangement, right - left));
    const y = scaleLog(range, [bottom, top]);
    const there = columns(points, arrangement, colours, [left, right]);
    const places = new Map(there.placed.map(({ point, from, wide }) => [point as SweepPoint, { from, wide }]));
    svg.append(
      yAxis(logTicks(range[0], range[1], 7), y, [left, right], "µs", top),
      ...bands(marks, places, y, [left, right], [top, bottom]),
      ...there.placed.map(({ point, colour, from, wide }) => box(point, colour, from, wide, y)),
      ...marks.flatMap((mark) => {
        const place = places.get(mark.point);
        return place === undefined
          ? []
          : mark.values.map((value) => hollow(mark, symbolDiamond, place.from + place.wide / 2, y(value)));
      }),
      columnAxis(there, bottom, right, arrangement.across.map(words).join(", ")),
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
      { "class": `box run-${colour % 6}`, "data-point": point.name },
      s("rect", {
        class: "reach",
        x: from,
        y: at(greatest ?? high),
        width: wide,
        height: Math.max(at(low) - at(greatest ?? high), 6),
      }),
      s("line", { x1: middle, x2: middle, y1: at(low), y2: at(q1) }),
      s("line", { x1: middle, x2: middle, y1: at(q3), y2: at(high) }),
      s("rect", {
        class: "quartiles",
        x: middle - half,
        y: at(q3),
        width: 2 * half,
        height: Math.max(at(q1) - at(q3), 1),
      }),
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
