// What the page holds of a drive from above, decoded once. Lengths are m, angles rad, times ns since the begin of the run.
import type { Sets, TopView, ViewChain } from "../shapes";
import { begins, growing, optional, values } from "../timeline/columns";

/** The car at an instant; NaN for what was not reported. */
export interface State {
  x: number;
  y: number;
  heading: number;
  speed: number;
  steering: number;
  lateralError: number;
}

export interface Place {
  x: number;
  y: number;
  radius: number;
}

/** Lists of places, each of an instant. */
export interface Lists {
  node: string;
  at: Float64Array;
  /** Entries of all lists. */
  all: number;
  entries(list: number): Place[];
}

/** Instances of a chain by their ends. */
export interface Commands {
  name: string;
  path: string[];
  end: Float64Array;
  duration: Float64Array;
  part: Float64Array;
  took: Float64Array;
  worst: ViewChain["worst"];
}

export interface Drive {
  at: Float64Array;
  x: Float64Array;
  y: Float64Array;
  heading: Float64Array;
  speed: Float64Array;
  steering: Float64Array;
  lateralError: Float64Array;
  /** Age of the command in force at each state, ms; NaN before the first. */
  age: Float64Array;
  arrival: Float64Array;
  ageAtArrival: Float64Array;
  lane: { x: Float64Array; y: Float64Array; width: number } | undefined;
  obstacles: Lists | undefined;
  seen: Lists[];
  plans: Lists[];
  left: TopView["left"];
  chains: Commands[];
}

const thousandth = (all: Float64Array): Float64Array => all.map((value) => value / 1000);

export function decodeDrive(shape: TopView): Drive {
  const { car, ages } = shape;
  const at = growing(car.at);
  const arrival = growing(ages.at);
  const ageAtArrival = thousandth(values(ages.age_us));
  const lane = { x: thousandth(growing(shape.lane_x_mm)), y: thousandth(growing(shape.lane_y_mm)) };
  return {
    at,
    x: thousandth(growing(car.x_mm)),
    y: thousandth(growing(car.y_mm)),
    heading: thousandth(optional(car.heading_mrad)),
    speed: thousandth(optional(car.speed_mm_s)),
    steering: thousandth(optional(car.steering_mrad)),
    lateralError: thousandth(optional(car.lateral_error_mm)),
    age: at.map((ns) => ageAtArrival[lastBy(arrival, ns)] ?? NaN),
    arrival,
    ageAtArrival,
    lane: lane.x.length > 2 ? { ...lane, width: shape.lane_width_m ?? NaN } : undefined,
    obstacles: shape.obstacles === undefined ? undefined : listsOf(shape.obstacles),
    seen: shape.seen.map(listsOf),
    plans: shape.plans.map(listsOf),
    left: shape.left,
    chains: shape.chains.map(({ name, path, end, duration, part, took, worst }) => ({
      name,
      path,
      worst,
      end: growing(end),
      duration: values(duration),
      part: values(part),
      took: values(took),
    })),
  };
}

function listsOf(shape: Sets): Lists {
  const at = growing(shape.at);
  const first = begins(values(shape.counts));
  const [x, y] = [thousandth(growing(shape.x_mm)), thousandth(growing(shape.y_mm))];
  const radius = shape.radius_mm === undefined ? undefined : thousandth(growing(shape.radius_mm));
  return {
    node: shape.node,
    at,
    all: x.length,
    entries: (list) => {
      const found: Place[] = [];
      for (let i = first[list] ?? 0; i < (first[list + 1] ?? 0); i++)
        found.push({ x: x[i] ?? NaN, y: y[i] ?? NaN, radius: radius?.[i] ?? NaN });
      return found;
    },
  };
}

/** Index of the last time up to `ns`; -1 if all are later. */
export function lastBy(times: Float64Array, ns: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? Infinity) <= ns) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The car at an instant, between the states around it; before the first and after the last it is as there. */
export function stateAt(drive: Drive, ns: number): State {
  const before = Math.min(Math.max(lastBy(drive.at, ns), 0), drive.at.length - 1);
  const after = Math.min(before + 1, drive.at.length - 1);
  const [from, to] = [drive.at[before] ?? 0, drive.at[after] ?? 0];
  const part = to > from ? Math.min(Math.max((ns - from) / (to - from), 0), 1) : 0;
  const between = (of: Float64Array): number => {
    const [a, b] = [of[before] ?? NaN, of[after] ?? NaN];
    return part === 0 ? a : a + part * (b - a);
  };
  const [a, b] = [drive.heading[before] ?? NaN, drive.heading[after] ?? NaN];
  const turn = Math.atan2(Math.sin(b - a), Math.cos(b - a));
  return {
    x: between(drive.x),
    y: between(drive.y),
    heading: part === 0 ? a : a + part * turn,
    speed: between(drive.speed),
    steering: between(drive.steering),
    lateralError: between(drive.lateralError),
  };
}

/** What of lists is known at an instant: the latest list up to it; none if it is older than `oldest`. */
export function listAt(lists: Lists, ns: number, oldest: number): Place[] {
  const list = lastBy(lists.at, ns);
  return list < 0 || ns - (lists.at[list] ?? 0) > oldest ? [] : lists.entries(list);
}

/** An instance of a chain that ends at the car. */
export interface InForce {
  chain: Commands;
  number: number;
  /** When its first node began, and when it ended. */
  from: number;
  to: number;
}

/** The instance of a chain on which the commands of an instant rest. */
export function inForce(chain: Commands, ns: number): InForce | undefined {
  const number = lastBy(chain.end, ns);
  return number < 0 ? undefined : instanceOf(chain, number);
}

export function instanceOf(chain: Commands, number: number): InForce {
  const to = chain.end[number] ?? NaN;
  return { chain, number, from: to - (chain.duration[number] ?? NaN), to };
}

/** The explained instances of all chains, as they end. */
export function lateOnes(drive: Drive): InForce[] {
  const all = drive.chains.flatMap((chain) => chain.worst.map(({ instance }) => instanceOf(chain, instance)));
  return all.sort((a, b) => a.to - b.to);
}

/** Classes of values from the least to the greatest, as many as tell them apart. */
export function classesOf(of: Float64Array, most: number): { of: Int8Array; limits: number[] } {
  const known = of.filter((value) => !Number.isNaN(value));
  const [low, high] = [
    known.reduce((a, b) => Math.min(a, b), Infinity),
    known.reduce((a, b) => Math.max(a, b), -Infinity),
  ];
  const count = high > low ? most : 1;
  const limits =
    known.length === 0 ? [] : Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count);
  const classOf = (value: number): number =>
    Number.isNaN(value) ? -1 : Math.min(Math.floor(((value - low) / (high - low || 1)) * count), count - 1);
  return { of: Int8Array.from(of, classOf), limits };
}
