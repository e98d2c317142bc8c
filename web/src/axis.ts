// Axes with few marks, and a unit at the end.
import { s } from "./dom";
import { fixed } from "./format";

interface Ticked {
  (value: number): number;
  ticks(count?: number): number[];
}

/** A horizontal time axis below `y`, with thin lines up to `top`. */
export function xAxis(
  scale: Ticked,
  values: number[],
  y: number,
  top: number,
  title: string,
  end: number,
): SVGGElement {
  const marks = values.map((value) =>
    s(
      "g",
      { transform: `translate(${scale(value).toFixed(2)},0)` },
      s("line", { class: "grid", y1: top, y2: y }),
      s("text", { "class": "tick", "y": y + 16, "text-anchor": "middle" }, tickText(value)),
    ),
  );
  return s(
    "g",
    { "class": "axis", "aria-hidden": "true" },
    ...marks,
    s("text", { "class": "axis-title", "x": end, "y": y + 34, "text-anchor": "end" }, title),
  );
}

/** Thin lines at values of a vertical axis, with the values on the left and the unit above them. */
export function yAxis(
  values: number[],
  y: (value: number) => number,
  [left, right]: readonly [number, number],
  unit: string,
  top: number,
): SVGGElement {
  const marks = values.flatMap((value) => [
    s("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }),
    s("text", { "class": "tick", "x": left - 8, "y": y(value) + 4, "text-anchor": "end" }, tickText(value)),
  ]);
  return s(
    "g",
    { "class": "axis", "aria-hidden": "true" },
    ...marks,
    s("text", { class: "axis-title", x: 0, y: top + 2 }, unit),
  );
}

/** A tick: as many decimals as it has, none for show. */
export function tickText(value: number): string {
  const text = String(Number(value.toPrecision(6)));
  return fixed(Number(text), text.split(".")[1]?.length ?? 0);
}

/** Ticks of a logarithmic axis: every digit of each power within the range, or fewer if they would crowd. */
export function logTicks(low: number, high: number, most: number): number[] {
  const steps = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]];
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
