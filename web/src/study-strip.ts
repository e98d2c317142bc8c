// Published values and ours on one line.
import { scaleLinear } from "d3-scale";
import { symbol, symbolCircle, symbolDiamond } from "d3-shape";
import { tickText } from "./axis";
import type { PublishedValue } from "./shapes";
import { canvas, drawing, s } from "./dom";
import { significant } from "./format";
import { withTip } from "./tip";

/** Our values as discs and the published ones as hollow diamonds, on an axis from zero. */
export function strip(
  title: string,
  unit: string,
  published: readonly PublishedValue[],
  ours: readonly PublishedValue[],
): HTMLElement {
  const greatest = Math.max(...[...published, ...ours].map(({ value }) => value));
  return drawing(`${title}: published and ours`, (width) => {
    const [left, right, line] = [8, width - 44, 14];
    const svg = canvas(width, 40);
    const x = scaleLinear([0, greatest], [left, right]);
    const mark = (kind: string, of: string, value: number, path: string): SVGElement =>
      withTip(
        s("path", { class: kind, d: path, transform: `translate(${x(value)},${line})` }),
        [of, `${title} ${significant(value)} ${unit}`],
        true,
      );
    svg.append(
      s("line", { class: "grid", x1: left, x2: right, y1: line, y2: line }),
      ...x
        .ticks(4)
        .map((value) =>
          s("text", { "class": "tick", "x": x(value), "y": line + 22, "text-anchor": "middle" }, tickText(value)),
        ),
      s("text", { "class": "axis-title", "x": width, "y": line + 22, "text-anchor": "end" }, unit),
      ...ours.map(({ of, value }) => mark("course", of, value, symbol(symbolCircle, 64)() ?? "")),
      ...published.map(({ of, value }) =>
        mark("published", `published, ${of}`, value, symbol(symbolDiamond, 80)() ?? ""),
      ),
    );
    return svg;
  });
}
