// Places of the points of a panel: a column for each value across, and in it a place for each colour.
import { scaleBand } from "d3-scale";
import type { SweepPoint } from "../shapes";
import { s } from "../dom";
import { shown, valueOf, valuesOf, type Value } from "./model";

/** The dimensions across (the outermost first), the dimension of the colours, and the dimensions of the panels. */
export interface Arrangement {
  across: readonly string[];
  colour?: string | undefined;
  panels: readonly string[];
}

/** A point in its place, pixels. */
export interface Placed<P extends SweepPoint> {
  point: P;
  /** Index of the value that its colour stands for. */
  colour: number;
  /** Index of its column. */
  column: number;
  from: number;
  wide: number;
}

export interface Columns<P extends SweepPoint> {
  placed: Placed<P>[];
  labels: Label[];
  /** The values across except for the last, which several columns share. */
  outer: Label[];
}

interface Label {
  text: string;
  middle: number;
  wide: number;
}

const CHARACTER = 6.6;

/** Places between two edges. Points that differ in nothing share a place. */
export function columns<P extends SweepPoint>(
  points: readonly P[],
  { across, colour }: Arrangement,
  colours: readonly (Value | undefined)[],
  [left, right]: readonly [number, number],
): Columns<P> {
  const keys = tuples(points, across);
  const x = scaleBand<number>()
    .domain(keys.map((_, i) => i))
    .range([left, right])
    .paddingInner(0.16)
    .paddingOuter(0.08);
  const inner = scaleBand<number>()
    .domain(colours.map((_, i) => i))
    .range([0, x.bandwidth()])
    .paddingInner(0.2);
  const placed = keys.flatMap((key, i) =>
    colours.flatMap((value, j) => {
      const of = points.filter(
        (point) =>
          across.every((path, k) => valueOf(point, path) === key[k]) &&
          (colour === undefined || valueOf(point, colour) === value),
      );
      const wide = Math.min(inner.bandwidth() / Math.max(of.length, 1), 34);
      const from = (x(i) ?? 0) + (inner(j) ?? 0) + (inner.bandwidth() - wide * of.length) / 2;
      return of.map((point, k): Placed<P> => ({ point, colour: j, column: i, from: from + wide * k, wide }));
    }),
  );
  const labels = keys.map((key, i): Label => {
    const last = across.length - 1;
    const text = last < 0 ? "" : shown(across[last] as string, key[last]);
    return { text, middle: (x(i) ?? 0) + x.bandwidth() / 2, wide: x.step() };
  });
  return { placed, labels, outer: outerLabels(keys, across, labels) };
}

/** Each combination of values that a point has, in the order of the values. */
export function tuples(points: readonly SweepPoint[], across: readonly string[]): (Value | undefined)[][] {
  let found: { key: (Value | undefined)[]; points: readonly SweepPoint[] }[] = [{ key: [], points }];
  for (const path of across)
    found = found.flatMap(({ key, points: of }) =>
      [...valuesOf(points, path), undefined].flatMap((value) => {
        const there = of.filter((point) => valueOf(point, path) === value);
        return there.length === 0 ? [] : [{ key: [...key, value], points: there }];
      }),
    );
  return found.map(({ key }) => key);
}

function outerLabels(
  keys: readonly (Value | undefined)[][],
  across: readonly string[],
  labels: readonly Label[],
): Label[] {
  if (across.length < 2) return [];
  const groups = new Map<string, Label[]>();
  keys.forEach((key, i) => {
    const text = across
      .slice(0, -1)
      .map((path, k) => shown(path, key[k]))
      .join(", ");
    groups.set(text, [...(groups.get(text) ?? []), labels[i] as Label]);
  });
  return [...groups].map(([text, of]) => ({
    text,
    middle: of.reduce((sum, { middle }) => sum + middle, 0) / of.length,
    wide: of.reduce((sum, { wide }) => sum + wide, 0),
  }));
}

/** The angle of the labels, and the height that they need: level, slanting, or upright if even slanting ones would crowd. */
function slant(labels: readonly Label[]): { degrees: number; height: number } {
  const longest = Math.max(...labels.map(({ text }) => text.length), 0) * CHARACTER;
  const wide = Math.min(...labels.map((label) => label.wide));
  if (longest <= wide) return { degrees: 0, height: 18 };
  return wide >= 22 ? { degrees: -38, height: 14 + longest * 0.62 } : { degrees: -90, height: 12 + longest };
}

/** Height of the axis below a panel, with `title` in its last line. */
export function axisHeight(points: readonly SweepPoint[], arrangement: Arrangement, width: number): number {
  const { labels, outer } = columns(points, arrangement, [undefined], [0, width]);
  return slant(labels).height + (outer.length > 0 ? slant(outer).height : 0) + 22;
}

/** Labels of columns below `y`, and the title of the axis. */
export function columnAxis(
  { labels, outer }: Columns<SweepPoint>,
  y: number,
  right: number,
  title: string,
): SVGGElement {
  const row = (of: readonly Label[], top: number): { texts: SVGElement[]; height: number } => {
    const { degrees, height } = slant(of);
    const text = ({ text, middle }: Label): SVGElement =>
      degrees === 0
        ? s("text", { "class": "tick", "x": middle, "y": top + 16, "text-anchor": "middle" }, text)
        : s(
            "text",
            {
              "class": "tick",
              "transform": `translate(${middle + 4},${top + 12}) rotate(${degrees})`,
              "text-anchor": "end",
            },
            text,
          );
    return { texts: of.map(text), height };
  };
  const inner = row(labels, y);
  const above = row(outer, y + inner.height);
  const end = y + inner.height + (outer.length > 0 ? above.height : 0) + 16;
  return s(
    "g",
    { "class": "axis", "aria-hidden": "true" },
    ...inner.texts,
    ...above.texts,
    s("text", { "class": "axis-title", "x": right, "y": end, "text-anchor": "end" }, title),
  );
}
