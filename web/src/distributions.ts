// How the end-to-end times spread, and which parts they have.
import { scaleLinear, scaleLog } from "d3-scale";
import { curveStepAfter, line } from "d3-shape";
import { logTicks, xAxis } from "./axis";
import type { Comparison } from "./compare";
import type { Drawn } from "./shapes";
import { canvas, drawing, h, s, section } from "./dom";
import { count, ms, percent, significant } from "./format";
import { laidOut, legend, MEANING, meanParts, nameOf, partsOf } from "./parts";
import { repeatsOf, type Repeats } from "./repeats";
import { withTip } from "./tip";
import { fit } from "./waterfall";

interface Spread {
  label: string;
  index: number;
  drawn: Drawn;
  mean: number | undefined;
  repeats: Repeats;
  whole: number;
}

/** If times differ by more than this, the axis is logarithmic; otherwise the faster run would be a vertical line. */
const LOG_FROM = 6;

/** Distributions as a section; absent without an instance. */
export function distributions(comparison: Comparison): HTMLElement | undefined {
  const spreads = comparison.runs.flatMap(({ run, drawn, figures }, index): Spread[] =>
    drawn?.end_to_end == null
      ? []
      : [
          {
            label: run.label,
            index,
            drawn: drawn.end_to_end,
            mean: figures?.end_to_end_ms?.mean,
            repeats: repeatsOf(figures?.repeat_means_ms),
            whole: figures?.instances ?? 0,
          },
        ],
  );
  if (spreads.length === 0) return undefined;
  const remarks = spreads.flatMap(({ label, drawn, whole }) => [
    ...(drawn.thinned
      ? [
          `${label}: ${count(drawn.count)} instances, drawn by ${count(drawn.points.length)} evenly spaced ranks, the least and the greatest among them.`,
        ]
      : []),
    ...(drawn.count === whole
      ? []
      : [`${label}: drawn from ${count(drawn.count)} instances in the tables; the figures are of ${count(whole)}.`]),
  ]);
  const repeats = spreads.some((spread) => spread.repeats.count > 1);
  return section(
    "distributions",
    "How it spreads",
    "Share of the instances that took no longer than the time below.",
    curve(spreads),
    h(
      "p",
      { class: "lead reading" },
      `Boxes are quartiles with the median as line, whiskers reach to the last value within 1.5 times their distance; the rings are the least and the greatest value, the diamond is the mean${repeats ? `, the dots beneath are the means of the repeats${spreads.some((spread) => spread.repeats.count > 5) ? ", of more than five their least, quartiles and greatest" : ""}` : ""}.`,
    ),
    boxes(spreads),
    ...remarks.map((remark) => h("p", { class: "remark" }, remark)),
    h("h3", {}, "What it is made of"),
    legend(partsOf(comparison.runs.map(({ figures }) => figures))),
    shares(comparison),
  );
}

function scale(
  spreads: Spread[],
  from: number,
  to: number,
): {
  x: ReturnType<typeof scaleLinear<number, number>> | ReturnType<typeof scaleLog<number, number>>;
  ticks: number[];
  title: string;
} {
  const values = spreads.flatMap(({ drawn }) => drawn.points.map(([, value]) => value));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const most = to - from < 500 ? 5 : 10;
  if (low > 0 && high / low > LOG_FROM) {
    return {
      x: scaleLog([low * 0.9, high * 1.1], [from, to]),
      ticks: logTicks(low * 0.9, high * 1.1, most),
      title: "end-to-end time, ms, logarithmic",
    };
  }
  const x = scaleLinear([Math.max(low - (high - low) * 0.1, 0), high + (high - low || high) * 0.05], [from, to]);
  return { x, ticks: x.ticks(most), title: "end-to-end time, ms" };
}

function curve(spreads: Spread[]): HTMLElement {
  return h(
    "div",
    {},
    h(
      "ul",
      { class: "legend" },
      ...spreads.map(({ label, index }) =>
        h(
          "li",
          {},
          s(
            "svg",
            { "width": 28, "height": 11, "aria-hidden": "true" },
            s("line", { class: `run run-${index % 6}`, x1: 0, x2: 28, y1: 6, y2: 6 }),
          ),
          h("span", {}, label),
        ),
      ),
    ),
    drawing("cumulative distribution of end-to-end times", (width) => {
      const [left, bottom] = [width < 600 ? 48 : 170, 228];
      const svg = canvas(width, bottom + 42);
      const { x, ticks, title } = scale(spreads, left, width - 12);
      const y = scaleLinear([0, 1], [bottom, 8]);
      svg.append(xAxis(x, ticks, bottom, 8, title, width - 12));
      for (const part of [0, 0.25, 0.5, 0.75, 1]) {
        svg.append(
          s("line", { class: "grid", x1: left, x2: width - 12, y1: y(part), y2: y(part) }),
          s(
            "text",
            { "class": "tick", "x": left - 10, "y": y(part) + 4, "text-anchor": "end" },
            percent(part).replace(".0", ""),
          ),
        );
      }
      for (const { label, index, drawn } of spreads) {
        const path = line<[number, number]>(
          ([, value]) => x(value),
          ([part]) => y(part),
        ).curve(curveStepAfter);
        const first = drawn.points[0];
        const d = path(first === undefined ? [] : [[0, first[1]], ...drawn.points]) ?? "";
        const tip = [
          label,
          ...[0.5, 0.9, 0.99].map(
            (part) =>
              `${percent(part).replace(".0", "")} within ${ms(drawn.points.find(([p]) => p >= part - 1e-9)?.[1])}`,
          ),
        ];
        svg.append(
          withTip(
            s("g", {}, s("path", { class: `run run-${index % 6}`, d }), s("path", { class: "reach", d })),
            tip,
            true,
          ),
        );
      }
      return svg;
    }),
  );
}

function boxes(spreads: Spread[]): HTMLElement {
  const dots = spreads.some(({ repeats }) => repeats.count > 1);
  const step = dots ? 46 : 34;
  return drawing("box plots of end-to-end times", (width) => {
    const left = width < 600 ? 84 : 170;
    const bottom = spreads.length * step + 6;
    const svg = canvas(width, bottom + 42);
    const { x, ticks, title } = scale(spreads, left, width - 12);
    svg.append(xAxis(x, ticks, bottom, 0, title, width - 12));
    spreads.forEach(({ label, index, drawn, mean, repeats }, i) => {
      const { low, q1, median, q3, high, beyond } = drawn.whiskers;
      const [least, greatest] = [drawn.points[0]?.[1] ?? low, drawn.points[drawn.points.length - 1]?.[1] ?? high];
      const y = i * step + 18;
      const box = s(
        "g",
        { class: `box run-${index % 6}` },
        s("rect", { class: "reach", x: left, y: y - 14, width: width - left - 12, height: 28 }),
        s("line", { x1: x(low), x2: x(q1), y1: y, y2: y }),
        s("line", { x1: x(q3), x2: x(high), y1: y, y2: y }),
        s("line", { x1: x(low), x2: x(low), y1: y - 5, y2: y + 5 }),
        s("line", { x1: x(high), x2: x(high), y1: y - 5, y2: y + 5 }),
        s("rect", { class: "quartiles", x: x(q1), y: y - 9, width: Math.max(x(q3) - x(q1), 1), height: 18 }),
        s("line", { class: "median", x1: x(median), x2: x(median), y1: y - 9, y2: y + 9 }),
        ...(least < low ? [s("circle", { cx: x(least), cy: y, r: 3 })] : []),
        ...(greatest > high ? [s("circle", { cx: x(greatest), cy: y, r: 3 })] : []),
        mean !== undefined && s("path", { class: "mean", d: `M${x(mean)},${y - 4.5} l4.5,4.5 l-4.5,4.5 l-4.5,-4.5 z` }),
      );
      if (repeats.count > 1) {
        const [first = 0, last = first] = [repeats.values[0], repeats.values[repeats.values.length - 1]];
        box.append(
          s("line", { class: "repeat", x1: x(first), x2: x(last), y1: y + 19, y2: y + 19 }),
          ...repeats.values.map((value) => s("circle", { class: "repeat", cx: x(value), cy: y + 19, r: 3.5 })),
        );
      }
      svg.append(
        s("text", { "class": "row-label", "x": left - 10, "y": y + 4, "text-anchor": "end" }, fit(label, left - 14)),
      );
      svg.append(
        withTip(
          box,
          [
            label,
            `median ${ms(median)}, quartiles ${significant(q1)} to ${ms(q3)}`,
            `whiskers ${significant(low)} to ${ms(high)}, ${count(beyond)} of ${count(drawn.count)} beyond`,
            `least ${ms(least)}, greatest ${ms(greatest)}, mean ${ms(mean)}`,
            ...(repeats.count > 1
              ? [
                  `means of ${repeats.count} repeats: ${repeats.count > 5 ? "least, quartiles, greatest " : ""}${repeats.values.map((value) => significant(value)).join(", ")} ms`,
                ]
              : []),
          ],
          true,
        ),
      );
    });
    return svg;
  });
}

/** Shares of the mean; every run has the same length. */
function shares({ runs }: Comparison): HTMLElement {
  const rows = runs.flatMap(({ run, figures }) =>
    figures?.end_to_end_ms === undefined
      ? []
      : [{ label: run.label, whole: figures.end_to_end_ms.mean, parts: meanParts(figures) }],
  );
  return drawing("share of each part in the mean", (width) => {
    const [left, step] = [width < 600 ? 84 : 170, 32];
    const svg = canvas(width, rows.length * step + 4);
    const x = scaleLinear([0, 1], [left, width - 12]);
    rows.forEach(({ label, whole, parts }, i) => {
      const y = i * step + 4;
      svg.append(
        s("text", { "class": "row-label", "x": left - 10, "y": y + 15, "text-anchor": "end" }, fit(label, left - 14)),
      );
      for (const { part, ms: mean, from } of laidOut(parts)) {
        const [share, begin] = [mean / whole, x(from / whole)];
        const size = x(share) - x(0);
        svg.append(
          withTip(
            s("rect", { class: `part ${part}`, x: begin, y, width: size, height: 22 }),
            [`${label}: ${nameOf(part)}`, `${percent(share)} of the mean, ${ms(mean)}`, MEANING[part]],
            true,
          ),
        );
        if (size > 48)
          svg.append(
            s(
              "text",
              { "class": `share ${part}`, "x": begin + size / 2, "y": y + 15, "text-anchor": "middle" },
              percent(share),
            ),
          );
      }
    });
    return svg;
  });
}
