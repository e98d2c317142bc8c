// The drawing, in m on the map: what stays, and what moves with the moment.
import { s } from "../dom";
import { classesOf, lateOnes, listAt, stateAt, type Drive, type InForce, type Lists } from "./data";

/** Of the body that is drawn, m: that of task vehicle. */
const [LENGTH, WIDTH] = [4.508, 1.61];
/** Around the lane and the way of the car. */
const MARGIN = 8;
/** The part of the map that is seen around the car. */
const AROUND = 90;
/** Points of the way are not nearer to each other than this. */
const NEAREST = 0.15;
const CLASSES = 5;
/** Plans and objects older than this are not shown. */
const OLDEST_NS = 1.5e9;

/** What the way is coloured by. */
export const COLOURS = ["command age", "speed", "lateral error"] as const;
export type Colour = (typeof COLOURS)[number];
const UNITS: Record<Colour, string> = { "command age": "ms", "speed": "m/s", "lateral error": "m" };

export interface Legend {
  limits: number[];
  unit: string;
}

export interface Drawing {
  svg: SVGSVGElement;
  /** Shows a moment. */
  show(ns: number): void;
  /** Colours the way; returns what the colours mean. */
  colour(by: Colour): Legend;
  /** Shows the whole map, or what is around the car. */
  zoom(around: boolean): void;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export function drawDrive(drive: Drive, chosen: (late: InForce) => void): Drawing {
  const whole = boxOf(drive);
  const svg = s("svg", { class: "top-view-map", role: "img" });
  const way = s("g", { class: "way" });
  const moving = s("g");
  const body = s(
    "g",
    { class: "car" },
    s("rect", { x: -LENGTH / 2, y: -WIDTH / 2, width: LENGTH, height: WIDTH, rx: 0.4 }),
    s("path", {
      d: `M${LENGTH / 2 - 1.4},${-WIDTH / 2 + 0.2} L${LENGTH / 2 - 0.3},0 L${LENGTH / 2 - 1.4},${WIDTH / 2 - 0.2} Z`,
    }),
  );
  const here = s("circle", { class: "here", r: 3.2 });
  // North is up: the y axis of the map points the other way than that of the screen.
  const map = s(
    "g",
    { transform: "scale(1,-1)" },
    ...laneOf(drive),
    way,
    ...leftOf(drive),
    ...lateMarks(drive, chosen),
    moving,
    here,
    body,
  );
  svg.append(map);
  let [isAround, now] = [false, drive.at[0] ?? 0];
  const look = (): void => {
    const { x, y } = stateAt(drive, now);
    const height = (AROUND * whole.height) / whole.width;
    const box = isAround ? { x: x - AROUND / 2, y: y - height / 2, width: AROUND, height } : whole;
    svg.setAttribute(
      "viewBox",
      `${box.x.toFixed(2)} ${(-box.y - box.height).toFixed(2)} ${box.width.toFixed(2)} ${box.height.toFixed(2)}`,
    );
  };
  const show = (ns: number): void => {
    now = ns;
    const { x, y, heading } = stateAt(drive, ns);
    const turned = Number.isNaN(heading) ? 0 : (heading * 180) / Math.PI;
    body.setAttribute("transform", `translate(${x.toFixed(3)},${y.toFixed(3)}) rotate(${turned.toFixed(2)})`);
    here.setAttribute("cx", x.toFixed(3));
    here.setAttribute("cy", y.toFixed(3));
    moving.replaceChildren(...movingAt(drive, ns));
    look();
  };
  const colour = (by: Colour): Legend => {
    const of = by === "speed" ? drive.speed : by === "command age" ? drive.age : drive.lateralError.map(Math.abs);
    const { of: classes, limits } = classesOf(of, CLASSES);
    way.replaceChildren(...wayOf(drive, classes));
    return { limits, unit: UNITS[by] };
  };
  const zoom = (around: boolean): void => {
    isAround = around;
    here.classList.toggle("hidden", around);
    look();
  };
  return { svg, show, colour, zoom };
}

function boxOf({ lane, x, y }: Drive): Box {
  const all = [...(lane === undefined ? [] : [[lane.x, lane.y] as const]), [x, y] as const];
  const bound = (axis: 0 | 1, of: (a: number, b: number) => number, start: number): number =>
    all.reduce((found, places) => places[axis].reduce((a, b) => of(a, b), found), start);
  const [left, right] = [bound(0, Math.min, Infinity) - MARGIN, bound(0, Math.max, -Infinity) + MARGIN];
  const [low, high] = [bound(1, Math.min, Infinity) - MARGIN, bound(1, Math.max, -Infinity) + MARGIN];
  // A straight drive would be a line without height.
  const height = Math.max(high - low, (right - left) / 4);
  return { x: left, y: (low + high) / 2 - height / 2, width: right - left, height };
}

function pointsOf(x: ArrayLike<number>, y: ArrayLike<number>): string {
  return Array.from(x, (one, i) => `${one.toFixed(2)},${(y[i] ?? 0).toFixed(2)}`).join(" ");
}

/** The lane: a wide line along its centre, and a wider one below that leaves the borders free. */
function laneOf({ lane }: Drive): SVGElement[] {
  if (lane === undefined) return [];
  const points = pointsOf(lane.x, lane.y);
  const width = Number.isNaN(lane.width) ? 0.5 : lane.width;
  return [
    s("polygon", { "class": "border", points, "stroke-width": width + 0.5 }),
    s("polygon", { "class": "lane", points, "stroke-width": width }),
    s("polygon", { class: "centre", points }),
  ];
}

/** The way of the car: a path for each class of colour. */
function wayOf(drive: Drive, classes: Int8Array): SVGElement[] {
  const paths: string[][] = Array.from({ length: CLASSES + 1 }, () => []);
  let [x, y, of] = [NaN, NaN, NaN];
  drive.at.forEach((_, i) => {
    const [nextX, nextY, next] = [drive.x[i] ?? NaN, drive.y[i] ?? NaN, classes[i] ?? -1];
    if (Math.hypot(nextX - x, nextY - y) < NEAREST && next === of) return;
    const path = paths[next < 0 ? CLASSES : next];
    if (next !== of && !Number.isNaN(x)) path?.push(`M${x.toFixed(2)},${y.toFixed(2)}`);
    path?.push(`${Number.isNaN(x) ? "M" : "L"}${nextX.toFixed(2)},${nextY.toFixed(2)}`);
    [x, y, of] = [nextX, nextY, next];
  });
  return paths.flatMap((path, i) =>
    path.length === 0 ? [] : [s("path", { class: i === CLASSES ? "heat-none" : `heat-${i}`, d: path.join("") })],
  );
}

function leftOf({ left }: Drive): SVGElement[] {
  if (left === undefined) return [];
  const { x_m: x, y_m: y } = left;
  const cross = (r: number): string => `M${x - r},${y - r} L${x + r},${y + r} M${x - r},${y + r} L${x + r},${y - r}`;
  return [s("path", { class: "left-lane", d: cross(3) }, s("title", {}, "left the lane here"))];
}

/** Where the car was when late commands arrived. */
function lateMarks(drive: Drive, chosen: (late: InForce) => void): SVGElement[] {
  return lateOnes(drive).map((late) => {
    const { x, y } = stateAt(drive, late.to);
    const mark = s(
      "circle",
      { class: "late-mark", cx: x.toFixed(2), cy: y.toFixed(2), r: 1.6 },
      s("title", {}, `${late.chain.name}: a late message`),
    );
    mark.addEventListener("click", () => chosen(late));
    return mark;
  });
}

function movingAt(drive: Drive, ns: number): SVGElement[] {
  const circles = (lists: Lists, kind: string, oldest: number): SVGElement[] =>
    listAt(lists, ns, oldest).map(({ x, y, radius }) =>
      s("circle", {
        class: kind,
        cx: x.toFixed(2),
        cy: y.toFixed(2),
        r: (Number.isNaN(radius) ? 0.5 : radius).toFixed(2),
      }),
    );
  const plans = drive.plans.map((plan) => {
    const points = listAt(plan, ns, OLDEST_NS);
    return s("polyline", {
      class: "plan",
      points: points.map(({ x, y }) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" "),
    });
  });
  return [
    ...(drive.obstacles === undefined ? [] : circles(drive.obstacles, "obstacle", Infinity)),
    ...plans,
    ...drive.seen.flatMap((lists) => circles(lists, "seen", OLDEST_NS)),
  ];
}
