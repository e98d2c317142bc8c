// Single figures of points as symbols: a shape for each figure, a colour for each value, a panel for each combination
// of the others.
import { scaleLinear, scaleLog } from "d3-scale";
import { symbol, symbolCircle, symbolSquare, symbolTriangle, type SymbolType } from "d3-shape";
import { logTicks, yAxis } from "../axis";
import type { Mark, SweepPoint } from "../shapes";
import { canvas, drawing, h, s } from "../dom";
import { significant } from "../format";
import { withTip } from "../tip";
import { axisHeight, columnAxis, columns, type Arrangement } from "./columns";
import { bands, hollow, marksIn, marksOf, reach, type PlacedMark } from "./marks";
import { label, numberOf, words, type Value } from "./model";
import { coloursOf, panelsOf } from "./panels";

/** What to draw of each point. */
export interface Drawn {
  figures: readonly string[];
  unit: string;
  scale: number;
}

const SHAPES: readonly SymbolType[] = [symbolCircle, symbolTriangle, symbolSquare];
/** A range of more than this is drawn on a logarithmic axis. */
const LOGARITHMIC = 20;

/**
 * The panels, all on one axis. Points without any of the figures have no place; bounds may be multiples of figures of
 * `all` points.
 */
export function valuePanels(
  points: readonly SweepPoint[],
  drawn: Drawn,
  arrangement: Arrangement,
  published: readonly Mark[],
  all: readonly SweepPoint[],
): HTMLElement[] {
  const valued = points.filter((point) => drawn.figures.some((figure) => numberOf(point, figure) !== undefined));
  if (valued.length === 0) return [];
  const colours = coloursOf(valued, arrangement);
  const marks = marksOf(published, valued, all, drawn.figures[0] ?? "", drawn.scale);
  const values = [
    ...valued.flatMap((point) => drawn.figures.flatMap((figure) => scaled(point, figure, drawn) ?? [])),
    ...reach(marks),
  ];
  const positive = values.filter((value) => value > 0);
  const [least, greatest] = [Math.min(...positive), Math.max(...positive, 0)];
  const y =
    values.length === positive.length && greatest > LOGARITHMIC * least
      ? ([least * 0.8, greatest * 1.25] as const)
      : ([0, greatest * 1.08 || 1] as const);
  return [
    ...(drawn.figures.length > 1 ? [shapes(drawn.figures)] : []),
    ...panelsOf(valued, arrangement, (of) => [panel(of, drawn, arrangement, colours, y, marksIn(of, marks))]),
  ];
}

function scaled(point: SweepPoint, figure: string, { scale }: Drawn): number | undefined {
  const value = numberOf(point, figure);
  return value === undefined ? undefined : value * scale;
}

function panel(
  points: readonly SweepPoint[],
  drawn: Drawn,
  arrangement: Arrangement,
  colours: readonly (Value | undefined)[],
  range: readonly [number, number],
  marks: readonly PlacedMark[],
): HTMLElement {
  return drawing(drawn.figures.map(words).join(", "), (width) => {
    const [left, right, top, bottom] = [64, width - 8, 14, 220];
    const svg = canvas(width, bottom + axisHeight(points, arrangement, right - left));
    const y = range[0] > 0 ? scaleLog(range, [bottom, top]) : scaleLinear(range, [bottom, top]);
    const there = columns(points, arrangement, colours, [left, right]);
    const places = new Map(there.placed.map(({ point, from, wide }) => [point, { from, wide }]));
    const middle = (point: SweepPoint): number | undefined => {
      const place = places.get(point);
      return place === undefined ? undefined : place.from + place.wide / 2;
    };
    const ticks = range[0] > 0 ? logTicks(range[0], range[1], 7) : y.ticks(5);
    svg.append(
      yAxis(ticks, y, [left, right], drawn.unit, top - 4),
      ...bands(marks, places, y, [left, right], [top, bottom]),
      ...marks.flatMap((mark) => {
        const x = middle(mark.point);
        const shape = SHAPES[Math.max(drawn.figures.indexOf(mark.mark.figure ?? ""), 0)] ?? symbolCircle;
        return x === undefined ? [] : mark.values.map((value) => hollow(mark, shape, x, y(value)));
      }),
      ...there.placed.flatMap(({ point, colour }) =>
        drawn.figures.flatMap((figure, i) => {
          const [value, x] = [scaled(point, figure, drawn), middle(point)];
          return value === undefined || x === undefined
            ? []
            : [dot(point, figure, value, drawn, SHAPES[i] ?? symbolCircle, colour, x, y(value))];
        }),
      ),
      columnAxis(there, bottom, right, arrangement.across.map(words).join(", ")),
    );
    return svg;
  });
}

function dot(
  point: SweepPoint,
  figure: string,
  value: number,
  drawn: Drawn,
  shape: SymbolType,
  colour: number,
  x: number,
  y: number,
): SVGElement {
  const path = symbol(shape, 56)() ?? "";
  const element = s("path", {
    "class": `dot run-${colour % 6}`,
    "data-point": point.name,
    "data-figure": figure,
    "d": path,
    "transform": `translate(${x},${y})`,
  });
  return withTip(element, [label(point), `${words(figure)} ${significant(value)} ${drawn.unit}`.trim()], true);
}

function shapes(figures: readonly string[]): HTMLElement {
  return h(
    "ul",
    { class: "legend" },
    ...figures.map((figure, i) =>
      h(
        "li",
        {},
        s(
          "svg",
          { "width": 16, "height": 14, "aria-hidden": "true" },
          s("path", {
            class: "dot run-0",
            d: symbol(SHAPES[i] ?? symbolCircle, 56)() ?? "",
            transform: "translate(8,7)",
          }),
        ),
        h("span", {}, words(figure)),
      ),
    ),
  );
}
