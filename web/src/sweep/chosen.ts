// One point at a time: its subscribers (study A, figure 14) and its course (figure 8).
import { scaleLinear, scaleLog } from "d3-scale";
import { area, line } from "d3-shape";
import { logTicks, tickText, xAxis } from "../axis";
import type { Point, SweepPoint } from "../data";
import { canvas, drawing, h, s, section } from "../dom";
import { significant } from "../format";
import { withTip } from "../tip";
import { label } from "./boxes";

/** A section in which one of the points is chosen. */
function chosen(
  id: string,
  title: string,
  lead: string,
  points: readonly SweepPoint[],
  worst: (point: SweepPoint) => number,
  draw: (point: SweepPoint) => (Node | string)[],
): HTMLElement | undefined {
  if (points.length === 0) return undefined;
  const start = points.reduce((one, other) => (worst(other) > worst(one) ? other : one));
  const holder = h("div", {}, ...draw(start));
  const select = h(
    "select",
    { "aria-label": `${title}: point` },
    ...points.map((point, i) => h("option", { value: i, selected: point === start }, label(point))),
  );
  select.addEventListener("change", () => {
    const point = points[Number(select.value)];
    if (point !== undefined) holder.replaceChildren(...draw(point));
  });
  return section(id, title, lead, points.length > 1 && h("p", { class: "chosen" }, select), holder);
}

/** Mean latency of each subscription in the order of creation; absent where no topic has two. */
export function subscribers(points: readonly SweepPoint[]): HTMLElement | undefined {
  const shared = points.filter((point) => point.figures?.fairness !== undefined);
  return chosen(
    "subscribers",
    "Each subscriber",
    "Mean latency of each subscription, with its quartiles, in the order in which they were created. Those that are served one after the other show as a staircase: the rank correlation with the order is then 1.",
    shared,
    (point) => point.figures?.fairness?.spread_us ?? 0,
    ({ figures }) => (figures === null ? [] : [statement(figures), subscriptionPlot(figures)]),
  );
}

function statement({ fairness }: Point): HTMLElement {
  const stairs =
    fairness?.staircase === undefined
      ? ""
      : ` Rank correlation with the order of creation ${significant(fairness.staircase, 2)}${
          fairness.staircase_p === undefined ? "" : `, which chance alone gives with probability ${fairness.staircase_p < 0.001 ? "below 0.001" : significant(fairness.staircase_p, 2)}`
        }.`;
  return h("p", { class: "answer" }, `Means differ by ${significant(fairness?.spread_us)} µs between ${fairness?.subscriptions ?? 0} subscriptions.${stairs}`);
}

function subscriptionPlot({ subscribing }: Point): HTMLElement {
  const taken = subscribing.flatMap(({ node, latency_us }, i) => (latency_us === undefined ? [] : [{ node, i, latency: latency_us }]));
  return drawing("mean latency of each subscription", (width) => {
    const [left, top, bottom] = [64, 10, 220];
    const svg = canvas(width, bottom + 42);
    const high = Math.max(...taken.map(({ latency }) => Math.max(latency.q3, latency.mean)), 1e-3);
    const y = scaleLinear([0, high * 1.08], [bottom, top]);
    const x = scaleLinear([-0.5, subscribing.length - 0.5], [left, width - 10]);
    for (const tick of y.ticks(5))
      svg.append(
        s("line", { class: "grid", x1: left, x2: width - 10, y1: y(tick), y2: y(tick) }),
        s("text", { class: "tick", x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick)),
      );
    for (const { node, i, latency } of taken)
      svg.append(
        withTip(
          s(
            "g",
            { class: "box run-2" },
            s("rect", { class: "reach", x: x(i - 0.5), y: top, width: x(1) - x(0), height: bottom - top }),
            s("line", { x1: x(i), x2: x(i), y1: y(latency.q1), y2: y(latency.q3) }),
            s("circle", { class: "mean", cx: x(i), cy: y(latency.mean), r: 4 }),
          ),
          [`${i + 1}: ${node}`, `mean ${significant(latency.mean)} µs, quartiles ${significant(latency.q1)} to ${significant(latency.q3)}`],
          true,
        ),
      );
    svg.append(
      s("text", { class: "axis-title", x: width - 10, y: bottom + 30, "text-anchor": "end" }, "subscriptions in the order of creation"),
      s("text", { class: "axis-title", x: 0, y: top + 2 }, "µs"),
    );
    return svg;
  });
}

/** Latency over the run; absent where no message arrived. */
export function course(points: readonly SweepPoint[]): HTMLElement | undefined {
  return chosen(
    "course",
    "Over the run",
    "Median latency of the messages of each stretch of the first repeat; the band reaches from the least to the greatest. Logarithmic.",
    points.filter((point) => point.course.length > 1),
    (point) => Math.max(...point.course.map(({ max_us }) => max_us)),
    (point) => [...drift(point), coursePlot(point)],
  );
}

function drift({ figures }: SweepPoint): HTMLElement[] {
  const found = figures?.drift;
  if (found === undefined) return [];
  const { slope_us_per_s: slope, slope_low_us_per_s: low, slope_high_us_per_s: high, changes_at_s: changes } = found;
  const steady = low <= 0 && high >= 0;
  const level = changes.length === 0 ? "" : ` The level changes after ${changes.map((at) => significant(at)).join(", ")} s.`;
  return [
    h(
      "p",
      { class: "answer" },
      `${steady ? "No slope that differs from zero" : `Slope ${significant(slope)} µs a second`} (95 % interval ${significant(low)} to ${significant(high)} µs/s).${level}`,
    ),
  ];
}

function coursePlot({ course: stretches }: SweepPoint): HTMLElement {
  return drawing("latency over the run", (width) => {
    const [left, top, bottom] = [64, 10, 220];
    const svg = canvas(width, bottom + 42);
    const low = Math.max(Math.min(...stretches.map(({ min_us }) => min_us)), 0.1) * 0.9;
    const high = Math.max(...stretches.map(({ max_us }) => max_us), low * 1.2) * 1.1;
    const y = scaleLog([low, high], [bottom, top]);
    const x = scaleLinear([0, stretches[stretches.length - 1]?.at_s ?? 1], [left, width - 10]);
    const at = (value: number): number => y(Math.max(value, low));
    svg.append(xAxis(x, x.ticks(6), bottom, top, "s since the start of the window", width - 10));
    for (const tick of logTicks(low, high, 6))
      svg.append(
        s("line", { class: "grid", x1: left, x2: width - 10, y1: y(tick), y2: y(tick) }),
        s("text", { class: "tick", x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick)),
      );
    type Stretch = (typeof stretches)[number];
    const band = area<Stretch>((d) => x(d.at_s), (d) => at(d.min_us), (d) => at(d.max_us));
    const median = line<Stretch>((d) => x(d.at_s), (d) => at(d.median_us));
    svg.append(
      s("path", { class: "band", d: band(stretches) ?? "" }),
      s("path", { class: "run run-2", d: median(stretches) ?? "" }),
      s("text", { class: "axis-title", x: 0, y: top + 2 }, "µs"),
    );
    for (const stretch of stretches)
      svg.append(
        withTip(s("circle", { class: "course", cx: x(stretch.at_s), cy: at(stretch.median_us), r: 3.5 }), [
          `${significant(stretch.at_s)} s`,
          `median ${significant(stretch.median_us)} µs, ${significant(stretch.min_us)} to ${significant(stretch.max_us)}`,
        ]),
      );
    return svg;
  });
}
