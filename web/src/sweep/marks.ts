// Draws published values beside their points: ranges as bands, values as hollow symbols.
import { symbol, type SymbolType } from "d3-shape";
import type { Mark, SweepPoint } from "../shapes";
import { s } from "../dom";
import { withTip } from "../tip";
import { matching, numberOf, valueOf } from "./model";

/** A published value or range beside one point, in the unit of the drawing. */
export interface PlacedMark {
  mark: Mark;
  point: SweepPoint;
  values: readonly number[];
  from?: number | undefined;
  to?: number | undefined;
}

/**
 * The marks of the points of a panel. Bounds that are multiples of another point's figure are computed from `all` points; without such a
 * point there is none.
 */
export function marksOf(
  marks: readonly Mark[],
  panel: readonly SweepPoint[],
  all: readonly SweepPoint[],
  figure: string,
  scale: number,
): PlacedMark[] {
  return marks.flatMap((mark) => {
    const meant = matching(all, mark.where);
    return panel
      .filter((point) => meant.includes(point))
      .flatMap((point): PlacedMark[] => {
        const of = mark.times === undefined ? 1 : divisor(mark.times, point, all, mark.figure ?? figure, scale);
        if (of === undefined) return [];
        const bound = (value: number | undefined): number | undefined => (value === undefined ? undefined : value * of);
        return [{ mark, point, values: mark.values ?? [], from: bound(mark.from), to: bound(mark.to) }];
      });
  });
}

function divisor(
  { of, by }: NonNullable<Mark["times"]>,
  point: SweepPoint,
  all: readonly SweepPoint[],
  figure: string,
  scale: number,
): number | undefined {
  const one = matching(all, of).find((other) => by.every((path) => valueOf(other, path) === valueOf(point, path)));
  const value = one === undefined ? undefined : numberOf(one, figure);
  return value === undefined ? undefined : value * scale;
}

/** The marks of a panel. */
export function marksIn(panel: readonly SweepPoint[], marks: readonly PlacedMark[]): PlacedMark[] {
  return marks.filter(({ point }) => panel.includes(point));
}

/** Every number of some marks; an axis includes them. */
export function reach(marks: readonly PlacedMark[]): number[] {
  return marks.flatMap(({ values, from, to }) => [
    ...values,
    ...(from === undefined ? [] : [from]),
    ...(to === undefined ? [] : [to]),
  ]);
}

/** A rectangle from `from` to `to`; if one end is absent, it reaches the edge of the panel. */
export function band(
  { mark: { says }, from, to }: PlacedMark,
  [x, wide]: readonly [number, number],
  y: (value: number) => number,
  [top, bottom]: readonly [number, number],
): SVGElement {
  const upper = to === undefined ? top : Math.max(y(to), top);
  const lower = from === undefined ? bottom : Math.min(y(from), bottom);
  return withTip(
    s(
      "g",
      { class: "published" },
      s("rect", { class: "published", x, y: upper, width: wide, height: Math.max(lower - upper, 1) }),
      to !== undefined && s("line", { class: "published", x1: x, x2: x + wide, y1: upper, y2: upper }),
      from !== undefined && s("line", { class: "published", x1: x, x2: x + wide, y1: lower, y2: lower }),
    ),
    ["published", says],
  );
}

/** A hollow symbol. */
export function hollow(
  { mark: { says } }: Pick<PlacedMark, "mark">,
  shape: SymbolType,
  x: number,
  y: number,
): SVGElement {
  const path = symbol(shape, 130)() ?? "";
  return withTip(
    s("path", { class: "published", d: path, transform: `translate(${x},${y})` }),
    ["published", says],
    true,
  );
}

/** A line at a value that belongs to a whole panel. */
export function level({ mark: { says } }: PlacedMark, [left, right]: readonly [number, number], y: number): SVGElement {
  const line = s("line", { class: "published", x1: left, x2: right, y1: y, y2: y });
  return withTip(
    s(
      "g",
      { class: "published" },
      s("rect", { class: "reach", x: left, y: y - 5, width: right - left, height: 10 }),
      line,
    ),
    ["published", says],
  );
}

/**
 * Bands of marks in the places of their points: adjoining places share one, and a band of all points spans the panel.
 */
export function bands(
  marks: readonly PlacedMark[],
  places: ReadonlyMap<SweepPoint, { from: number; wide: number }>,
  y: (value: number) => number,
  [left, right]: readonly [number, number],
  edges: readonly [number, number],
): SVGElement[] {
  const ranges = marks.filter(({ from, to }) => from !== undefined || to !== undefined);
  const groups = new Map<Mark, PlacedMark[]>();
  for (const mark of ranges) groups.set(mark.mark, [...(groups.get(mark.mark) ?? []), mark]);
  return [...groups.values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    if (first.mark.times === undefined && of.length === places.size)
      return [band(first, [left, right - left], y, edges)];
    return of.flatMap((mark) => {
      const place = places.get(mark.point);
      return place === undefined ? [] : [band(mark, [place.from, place.wide], y, edges)];
    });
  });
}
