// Latency over the run (study A, figure 8).
import { scaleLinear, scaleLog } from "d3-scale";
import { area, line } from "d3-shape";
import { logTicks, xAxis, yAxis } from "../axis";
import type { Mark, SweepPoint } from "../shapes";
import { canvas, drawing, h, s } from "../dom";
import { significant } from "../format";
import { withTip } from "../tip";
import { chosen } from "./chosen";
import type { Arrangement } from "./columns";
import { band, marksIn, marksOf, reach, type PlacedMark } from "./marks";
import { label, valueOf } from "./model";
import { coloursOf, panelsOf } from "./panels";

/** The section; the reader chooses the point. Absent if no message arrived. */
export function course(points: readonly SweepPoint[]): HTMLElement | undefined {
  return chosen(
    "course",
    "Over the run",
    "Median latency of the messages of each stretch of the first repeat; the band reaches from the least to the greatest. Logarithmic.",
    drawn(points),
    (point) => Math.max(...point.course.map(({ max_us }) => max_us)),
    (point) => [...drift(point), plot([{ point, colour: 2 }], rangeOf([point], []), [])],
  );
}

/** A panel for each combination, a line for each colour, all on one axis, with the published values. */
export function coursePanels(
  points: readonly SweepPoint[],
  { colour, panels }: Arrangement,
  published: readonly Mark[],
): HTMLElement[] {
  const there = drawn(points);
  const arrangement = { across: [], colour, panels };
  const colours = coloursOf(there, arrangement);
  const marks = marksOf(published, there, points, "latency_us.mean", 1);
  const range = rangeOf(there, marks);
  const indexOf = (point: SweepPoint): number => (colour === undefined ? 2 : colours.indexOf(valueOf(point, colour)));
  return panelsOf(there, arrangement, (of) => {
    const lines = of.map((point) => ({ point, colour: indexOf(point) }));
    return [...(of.length === 1 ? of.flatMap(drift) : []), plot(lines, range, marksIn(of, marks))];
  });
}

function drawn(points: readonly SweepPoint[]): SweepPoint[] {
  return points.filter((point) => point.course.length > 1);
}

function rangeOf(points: readonly SweepPoint[], marks: readonly PlacedMark[]): readonly [number, number] {
  const published = reach(marks).filter((value) => value > 0);
  const low =
    Math.max(Math.min(...points.flatMap(({ course: of }) => of.map(({ min_us }) => min_us)), ...published), 0.1) * 0.9;
  return [
    low,
    Math.max(...points.flatMap(({ course: of }) => of.map(({ max_us }) => max_us)), ...published, low * 1.2) * 1.1,
  ];
}

function drift({ figures }: SweepPoint): HTMLElement[] {
  const found = figures?.drift;
  if (found === undefined) return [];
  const { slope_us_per_s: slope, slope_low_us_per_s: low, slope_high_us_per_s: high, changes_at_s: changes } = found;
  const steady = low <= 0 && high >= 0;
  const level =
    changes.length === 0 ? "" : ` The level changes after ${changes.map((at) => significant(at)).join(", ")} s.`;
  return [
    h(
      "p",
      { class: "answer" },
      `${steady ? "No slope that differs from zero" : `Slope ${significant(slope)} µs a second`} (95 % interval ${significant(low)} to ${significant(high)} µs/s).${level}`,
    ),
  ];
}

function plot(
  lines: readonly { point: SweepPoint; colour: number }[],
  [low, high]: readonly [number, number],
  marks: readonly PlacedMark[],
): HTMLElement {
  return drawing("latency over the run", (width) => {
    const [left, right, top, bottom] = [64, width - 10, 10, 220];
    const svg = canvas(width, bottom + 42);
    const y = scaleLog([low, high], [bottom, top]);
    const x = scaleLinear(
      [0, Math.max(...lines.map(({ point }) => point.course[point.course.length - 1]?.at_s ?? 1))],
      [left, right],
    );
    const at = (value: number): number => y(Math.max(value, low));
    svg.append(
      xAxis(x, x.ticks(6), bottom, top, "s since the start of the window", right),
      yAxis(logTicks(low, high, 6), y, [left, right], "µs", top),
      ...ranges(marks).map((mark) => band(mark, [left, right - left], at, [top, bottom])),
    );
    type Stretch = SweepPoint["course"][number];
    const reachOf = area<Stretch>(
      (d) => x(d.at_s),
      (d) => at(d.min_us),
      (d) => at(d.max_us),
    );
    const median = line<Stretch>(
      (d) => x(d.at_s),
      (d) => at(d.median_us),
    );
    for (const { point, colour } of lines)
      svg.append(
        // Bands of several lines would hide each other.
        s("path", { class: lines.length > 1 ? "band shared" : "band", d: reachOf(point.course) ?? "" }),
        s("path", { "class": `run run-${colour % 6}`, "data-point": point.name, "d": median(point.course) ?? "" }),
      );
    for (const { point } of lines)
      for (const stretch of point.course)
        svg.append(
          withTip(
            s("circle", {
              class: lines.length > 1 ? "reach" : "course",
              cx: x(stretch.at_s),
              cy: at(stretch.median_us),
              r: 3.5,
            }),
            [
              ...(lines.length > 1 ? [label(point)] : []),
              `${significant(stretch.at_s)} s`,
              `median ${significant(stretch.median_us)} µs, ${significant(stretch.min_us)} to ${significant(stretch.max_us)}`,
            ],
          ),
        );
    return svg;
  });
}

/** A range of several lines of a panel, once. */
function ranges(marks: readonly PlacedMark[]): PlacedMark[] {
  const bounds = ({ from, to }: PlacedMark): boolean => from !== undefined || to !== undefined;
  return marks.filter(
    (mark, i) => bounds(mark) && marks.findIndex(({ from, to }) => from === mark.from && to === mark.to) === i,
  );
}
