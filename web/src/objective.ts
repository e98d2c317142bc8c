// Study E's objective: the response time that its equations predict at each spin rate.
import { scaleLinear, scaleLog } from "d3-scale";
import { area, line } from "d3-shape";
import { logTicks, tickText, xAxis } from "./axis";
import type { ObjectiveCurve, ObjectivePoint, PageRun } from "./shapes";
import { canvas, drawing, h, s, section } from "./dom";
import { ms, significant } from "./format";
import { legend, type Part } from "./parts";
import { publishedRate } from "./study-of-runs";
import { withTip } from "./tip";

const STACK = ["computation", "alignment", "preemption"] as const satisfies readonly Part[];

/** The objective curve of the first run that has one. */
export function objective(runs: PageRun[]): HTMLElement | undefined {
  const run = runs.find((candidate) => (candidate.objective?.points.length ?? 0) > 1);
  const curve = run?.objective;
  if (run === undefined || curve == null) return undefined;
  const points = [...curve.points].sort((a, b) => a.hz - b.hz);
  const best = points.find(({ hz }) => hz === curve.best_hz);
  const diverging = curve.diverging_hz;
  const published = publishedRate(run);
  const near = best === undefined ? [] : points.filter(({ response_ms }) => response_ms <= 3 * best.response_ms);
  return section(
    "objective",
    "Response against spin rate",
    `The response time that the model of study E predicts if all nodes of the chain spin at one rate; it is not measured. If nodes wake more often, alignment falls and the cost of waking rises. Best: ${significant(curve.best_hz)} Hz, ${ms(best?.response_ms)}.`,
    ...(diverging.length > 0
      ? [
          h(
            "p",
            { class: "remark" },
            `At ${diverging.length} rates, from ${significant(Math.min(...diverging))} Hz on, the model has no finite response; they are not drawn.`,
          ),
        ]
      : []),
    legend(STACK),
    panel("whole range", points, curve, published),
    ...(near.length > 2 && near.length < points.length
      ? [h("h3", {}, "Near the best"), panel("near the best", near, curve, published)]
      : []),
  );
}

function panel(
  name: string,
  points: ObjectivePoint[],
  { best_hz }: ObjectiveCurve,
  published: number | undefined,
): HTMLElement {
  const top = Math.max(...points.map(({ response_ms }) => response_ms));
  const [low, high] = [points[0]?.hz ?? 1, points[points.length - 1]?.hz ?? 1];
  return drawing(`response time against spin rate, ${name}`, (width) => {
    const [left, bottom] = [56, 220];
    const svg = canvas(width, bottom + 42);
    const x = scaleLog([low, high], [left, width - 12]);
    const y = scaleLinear([0, top * 1.05], [bottom, 18]);
    svg.append(xAxis(x, logTicks(low, high, 10), bottom, 18, "spin rate, Hz, logarithmic", width - 12));
    for (const value of y.ticks(5))
      svg.append(
        s("line", { class: "grid", x1: left, x2: width - 12, y1: y(value), y2: y(value) }),
        s("text", { "class": "tick", "x": left - 10, "y": y(value) + 4, "text-anchor": "end" }, tickText(value)),
      );
    svg.append(s("text", { "class": "axis-title", "x": left - 10, "y": 10, "text-anchor": "end" }, "ms"));
    let below = (_point: ObjectivePoint): number => 0;
    for (const part of STACK) {
      const [under, value] = [below, (point: ObjectivePoint): number => point[`${part}_ms`]];
      const over = (point: ObjectivePoint): number => under(point) + value(point);
      const shape = area<ObjectivePoint>(
        (point) => x(point.hz),
        (point) => y(under(point)),
        (point) => y(over(point)),
      );
      svg.append(s("path", { class: `part ${part}`, d: shape(points) ?? "" }));
      below = over;
    }
    svg.append(
      s("path", {
        class: "response",
        d:
          line<ObjectivePoint>(
            (point) => x(point.hz),
            (point) => y(point.response_ms),
          )(points) ?? "",
      }),
    );
    if (published !== undefined && published >= low && published <= high)
      svg.append(
        s("line", { class: "published", x1: x(published), x2: x(published), y1: 18, y2: bottom }),
        s(
          "text",
          { "class": "published", "x": x(published) - 8, "y": bottom - 8, "text-anchor": "end" },
          `published best: ${significant(published)} Hz`,
        ),
      );
    const best = points.find(({ hz }) => hz === best_hz);
    if (best !== undefined) {
      const right = x(best.hz) > width / 2;
      svg.append(
        s("line", { class: "best", x1: x(best.hz), x2: x(best.hz), y1: 18, y2: bottom }),
        s("circle", { class: "best", cx: x(best.hz), cy: y(best.response_ms), r: 4.5 }),
        s(
          "text",
          { "class": "best", "x": x(best.hz) + (right ? -8 : 8), "y": 30, "text-anchor": right ? "end" : "start" },
          `${significant(best.hz)} Hz: ${ms(best.response_ms)}`,
        ),
      );
    }
    points.forEach((point, i) => {
      const from = x(points[i - 1]?.hz ?? point.hz);
      const to = x(points[i + 1]?.hz ?? point.hz);
      const middle = x(point.hz);
      const reach = s("rect", {
        class: "reach",
        x: (from + middle) / 2,
        y: 18,
        width: Math.max((to - from) / 2, 1),
        height: bottom - 18,
      });
      svg.append(
        withTip(reach, [
          `${significant(point.hz)} Hz: ${ms(point.response_ms)}`,
          ...STACK.map((part) => `${part} ${ms(point[`${part}_ms`])}`),
        ]),
      );
    });
    return svg;
  });
}
