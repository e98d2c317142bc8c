// Latency to each subscription of a point (study A, figure 14).
import { scaleLinear, scaleLog } from "d3-scale";
import { logTicks, yAxis } from "../axis";
import type { Mark, Point, SweepPoint } from "../shapes";
import { canvas, drawing, h, s } from "../dom";
import { significant } from "../format";
import { withTip } from "../tip";
import { chosen } from "./chosen";
import { band, level, marksOf, reach, type PlacedMark } from "./marks";
import { label } from "./model";

/** The section; the reader chooses the point. Absent if no topic has two subscriptions. */
export function subscribers(points: readonly SweepPoint[]): HTMLElement | undefined {
  return chosen(
    "subscribers",
    "Each subscriber",
    "Mean latency of each subscription, with its quartiles, in the order in which they were created. Those that are served one after the other show as a staircase: the rank correlation with the order is then 1.",
    shared(points),
    (point) => point.figures?.fairness?.spread_us ?? 0,
    (point) => subscriptionsOf(point, []),
  );
}

/** A panel for each point, with the published values. */
export function subscriberPanels(points: readonly SweepPoint[], published: readonly Mark[]): HTMLElement[] {
  return shared(points).map((point) => {
    const marks = marksOf(published, [point], points, "latency_us.mean", 1);
    return h("figure", {}, h("figcaption", {}, h("b", {}, label(point))), ...subscriptionsOf(point, marks));
  });
}

function shared(points: readonly SweepPoint[]): SweepPoint[] {
  return points.filter((point) => point.figures?.fairness !== undefined);
}

function subscriptionsOf({ figures }: SweepPoint, marks: readonly PlacedMark[]): HTMLElement[] {
  return figures === null ? [] : [statement(figures), subscriptionPlot(figures, marks)];
}

function statement({ fairness }: Point): HTMLElement {
  const stairs =
    fairness?.staircase === undefined
      ? ""
      : ` Rank correlation with the order of creation ${significant(fairness.staircase, 2)}${
          fairness.staircase_p === undefined
            ? ""
            : `, which chance alone gives with probability ${fairness.staircase_p < 0.001 ? "below 0.001" : significant(fairness.staircase_p, 2)}`
        }.`;
  return h(
    "p",
    { class: "answer" },
    `Means differ by ${significant(fairness?.spread_us)} µs between ${fairness?.subscriptions ?? 0} subscriptions.${stairs}`,
  );
}

function subscriptionPlot({ subscribing }: Point, marks: readonly PlacedMark[]): HTMLElement {
  const taken = subscribing.flatMap(({ node, latency_us }, i) =>
    latency_us === undefined ? [] : [{ node, i, latency: latency_us }],
  );
  const [least, most] = [
    Math.min(...taken.map(({ latency }) => latency.q1)),
    Math.max(...taken.map(({ latency }) => Math.max(latency.q3, latency.mean)), 1e-3),
  ];
  const published = reach(marks);
  const high = Math.max(most, ...published);
  // Published values may be far from ours; on an axis from zero, stairs would then be invisible.
  const logarithmic = high > 5 * most && least > 0;
  const range = logarithmic
    ? ([Math.min(least, ...published) * 0.8, high * 1.2] as const)
    : ([0, high * 1.08] as const);
  return drawing("mean latency of each subscription", (width) => {
    const [left, right, top, bottom] = [64, width - 10, 10, 220];
    const svg = canvas(width, bottom + 42);
    const y = logarithmic ? scaleLog(range, [bottom, top]) : scaleLinear(range, [bottom, top]);
    const x = scaleLinear([-0.5, subscribing.length - 0.5], [left, right]);
    svg.append(yAxis(logarithmic ? logTicks(range[0], range[1], 7) : y.ticks(5), y, [left, right], "µs", top));
    for (const mark of marks) {
      if (mark.from !== undefined || mark.to !== undefined)
        svg.append(band(mark, [left, right - left], y, [top, bottom]));
      for (const value of mark.values) svg.append(level(mark, [left, right], y(value)));
    }
    for (const { node, i, latency } of taken)
      svg.append(
        withTip(
          s(
            "g",
            { class: "box run-2" },
            s("rect", { class: "reach", x: x(i - 0.5), y: top, width: x(1) - x(0), height: bottom - top }),
            s("line", {
              x1: x(i),
              x2: x(i),
              y1: y(Math.max(latency.q1, range[0])),
              y2: y(Math.max(latency.q3, range[0])),
            }),
            s("circle", { class: "mean", cx: x(i), cy: y(latency.mean), r: 4 }),
          ),
          [
            `${i + 1}: ${node}`,
            `mean ${significant(latency.mean)} µs, quartiles ${significant(latency.q1)} to ${significant(latency.q3)}`,
          ],
          true,
        ),
      );
    svg.append(
      s(
        "text",
        { "class": "axis-title", "x": right, "y": bottom + 30, "text-anchor": "end" },
        "subscriptions in the order of creation",
      ),
    );
    return svg;
  });
}
