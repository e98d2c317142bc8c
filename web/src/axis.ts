// Axes with few marks, and a unit at the end.
import { s } from "./dom";
import { significant } from "./format";

interface Ticked {
  (value: number): number;
  ticks(count?: number): number[];
}

/** A horizontal time axis below `y`, with thin lines up to `top`. */
export function xAxis(scale: Ticked, values: number[], y: number, top: number, title: string, end: number): SVGGElement {
  const marks = values.map((value) =>
    s("g", { transform: `translate(${scale(value).toFixed(2)},0)` }, s("line", { class: "grid", y1: top, y2: y }), s("text", { class: "tick", y: y + 16, "text-anchor": "middle" }, significant(value))),
  );
  return s("g", { class: "axis", "aria-hidden": "true" }, ...marks, s("text", { class: "axis-title", x: end, y: y + 34, "text-anchor": "end" }, title));
}

/** Ticks of a logarithmic axis: 1, 2 and 5 of each power within the range, fewer where they would crowd. */
export function logTicks(low: number, high: number, most: number): number[] {
  const steps = [[1, 2, 5], [1, 3], [1]];
  for (const step of steps) {
    const ticks: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      for (const digit of step) {
        const tick = Number((digit * 10 ** power).toPrecision(1));
        if (tick >= low && tick <= high) ticks.push(tick);
      }
    }
    if (ticks.length <= most || step.length === 1) return ticks;
  }
  return [];
}
