// Proof of a tuning: before and after in turns, each pair of repeats with the same phases.
import { scaleLinear, scaleLog } from "d3-scale";
import { logTicks, xAxis } from "./axis";
import type { PageProof, PageRun } from "./shapes";
import { canvas, drawing, h, s, section } from "./dom";
import { factor, ms } from "./format";
import { withTip } from "./tip";

/** A drawing for each run that has a proof. */
export function proofs(runs: PageRun[]): HTMLElement | undefined {
  const found = runs.flatMap(({ label, proof }) => (proof === null ? [] : [{ label, proof }]));
  if (found.length === 0) return undefined;
  return section(
    "proof",
    "Repeat by repeat",
    "Before and after were run in turns, and both of a pair started with the same phases. A ring is the mean before, a disc the mean after.",
    ...found.flatMap(({ label, proof }) => [
      h(
        "h3",
        {},
        `${label}: ${factor(proof.ratio.mean)}, ${factor(proof.ratio.least)} to ${factor(proof.ratio.greatest)} in single repeats`,
      ),
      pairs(label, proof),
      ...proof.notes.map((note) => h("p", { class: "remark" }, note)),
    ]),
  );
}

function pairs(label: string, { repeats, gains }: PageProof): HTMLElement {
  const values = repeats
    .flatMap(({ before, after }) => [before.end_to_end_ms, after.end_to_end_ms])
    .filter((value) => value !== undefined);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return drawing(`${label}: means of each repeat before and after`, (width) => {
    const [left, right, step] = [width < 600 ? 84 : 170, 76, 24];
    const svg = canvas(width, repeats.length * step + 46);
    const logarithmic = low > 0 && high / low > 6;
    const x = logarithmic
      ? scaleLog([low * 0.9, high * 1.1], [left, width - right])
      : scaleLinear([0, high * 1.05], [left, width - right]);
    const most = width < 600 ? 4 : 10;
    if (values.length > 0) {
      svg.append(
        xAxis(
          x,
          logarithmic ? logTicks(low * 0.9, high * 1.1, most) : x.ticks(most),
          repeats.length * step + 4,
          0,
          `mean end-to-end time, ms${logarithmic ? ", logarithmic" : ""}`,
          width - right,
        ),
      );
    }
    repeats.forEach(({ repeat, before, after }, i) => {
      const y = i * step + 12;
      const [from, to] = [before.end_to_end_ms, after.end_to_end_ms];
      const gain = gains[i] ?? undefined;
      const row = s(
        "g",
        { class: "pair" },
        s("rect", { class: "reach", x: 0, y: y - 12, width, height: step }),
        s("text", { "class": "row-label", "x": left - 10, "y": y + 4, "text-anchor": "end" }, `repeat ${repeat + 1}`),
        from !== undefined && to !== undefined && s("line", { x1: x(from), x2: x(to), y1: y, y2: y }),
        from !== undefined && s("circle", { class: "before", cx: x(from), cy: y, r: 4.5 }),
        to !== undefined && s("circle", { class: "after", cx: x(to), cy: y, r: 4.5 }),
        s("text", { "class": "value", "x": width, "y": y + 4, "text-anchor": "end" }, factor(gain)),
      );
      svg.append(
        withTip(
          row,
          [
            `repeat ${repeat + 1}: ${factor(gain)}`,
            `before ${ms(from)}, worst ${ms(before.worst_ms)}`,
            `after ${ms(to)}, worst ${ms(after.worst_ms)}`,
          ],
          true,
        ),
      );
    });
    return svg;
  });
}
