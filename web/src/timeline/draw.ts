// One frame of the timeline. What it costs is bounded by the pixels: no list is walked from end to end.
import type { Instance, Instances, Stretch } from "./chain";
import { numbersOf, type Data } from "./data";
import { heightOf, SLICE, STRIP, type Lane, type Lanes } from "./lanes";
import { firstFrom, visible } from "./rows";
import type { Found } from "./search";
import type { Theme } from "./theme";
import { moment, ticks, type View } from "./view";

/** Time axis and the lane of the chain, which stay at the top. */
export const RULER = 22;
export const CHAIN = 26;
/** Below them, for the heads of arrows. */
const GAP = 6;
/** Arrows of all messages are drawn if no more than this many are in sight. */
const ARROWS = 150;
/** Slices wider than this show their publish calls and takes, and no more than so many of each. */
const MARKED = 24;
const MARKS = 24;
/** Rough width of a letter of the labels. */
const LETTER = 6.1;

export interface Scene {
  data: Data;
  lanes: Lanes;
  chain: Instances | undefined;
  lit: Instance | undefined;
  selected: number | undefined;
  found: Found | undefined;
  view: View;
  /** Size of the canvas, and how far the lanes are scrolled. */
  width: number;
  height: number;
  scrolled: number;
  /** Width of the names on the left. */
  gutter: number;
  hues: number[];
}

/** What a frame drew. */
export interface Drawn {
  rectangles: number;
  arrows: number;
}

/** Pixels of what stands above the lanes. */
export function headOf(chain: Instances | undefined): number {
  return RULER + (chain === undefined ? 0 : CHAIN) + GAP;
}

/** Draws a frame. */
export function draw(on: CanvasRenderingContext2D, scene: Scene, theme: Theme): Drawn {
  const { view, width, height, gutter, lanes, scrolled, lit } = scene;
  const drawn: Drawn = { rectangles: 0, arrows: 0 };
  const head = headOf(scene.chain);
  const across = width - gutter;
  const x = (ns: number): number => gutter + ((ns - view.from) / (view.to - view.from)) * across;
  on.fillStyle = theme.ground;
  on.fillRect(0, 0, width, height);
  on.font = "12px system-ui, sans-serif";
  on.textBaseline = "middle";

  on.save();
  on.beginPath();
  on.rect(gutter, 0, across, height);
  on.clip();
  if (lit !== undefined) {
    on.fillStyle = theme.tint;
    on.fillRect(x(lit.start), 0, Math.max(x(lit.end) - x(lit.start), 1), height);
  }
  absent(on, scene, theme, x);
  const seen = lanes.all.filter((lane) => lane.top + lane.height > scrolled && lane.top < scrolled + height - head);
  const litOnes = new Set((lit?.hops ?? []).map((hop) => hop.execution));
  for (const lane of seen) drawn.rectangles += drawLane(on, scene, theme, lane, head - scrolled + lane.top, litOnes);
  if (lit !== undefined) litHops(on, scene, theme, lit, head - scrolled, x);
  drawn.arrows = arrows(on, scene, theme, head - scrolled, x);
  on.restore();

  names(on, scene, theme, seen, head - scrolled);
  ruler(on, scene, theme, x);
  if (scene.chain !== undefined) chainLane(on, scene, theme, x);
  return drawn;
}

/** What the page does not hold is hatched by thin lines. */
function absent(
  on: CanvasRenderingContext2D,
  { data, view, height, chain }: Scene,
  theme: Theme,
  x: (ns: number) => number,
): void {
  let from = view.from;
  const gap = (to: number): void => {
    if (to <= from) return;
    on.fillStyle = theme.rule;
    const [left, right] = [x(from), x(to)];
    for (let at = Math.ceil(left / 8) * 8; at < right; at += 8) on.fillRect(at, headOf(chain), 1, height);
  };
  for (const [begin, end] of data.shape.spans) {
    if (end < view.from || begin > view.to) continue;
    gap(Math.min(begin, view.to));
    from = Math.max(from, end);
  }
  gap(view.to);
}

function drawLane(
  on: CanvasRenderingContext2D,
  scene: Scene,
  theme: Theme,
  lane: Lane,
  top: number,
  lit: Set<number>,
): number {
  const { data, view, width, gutter, hues, found, selected } = scene;
  const across = width - gutter;
  let count = 0;
  on.fillStyle = theme.rule;
  on.fillRect(gutter, top + lane.height - 1, across, 1);
  lane.rows.forEach((row, depth) => {
    const y = top + lane.slices + depth * SLICE;
    visible(row, view.from, view.to, across, (left, w, i, many, busy) => {
      const item = row.item[i] ?? 0;
      const x = Math.max(gutter + left, gutter - 2);
      const shown = Math.min(gutter + left + w, width + 2) - x;
      count++;
      if (lane.kind === "calls") {
        on.fillStyle = theme.accent;
        on.fillRect(x, y + 2, 1.5, SLICE - 4);
        return;
      }
      if (lane.kind === "cpu") {
        on.fillStyle = theme.slice(hueOfName(data, item), false);
        on.globalAlpha = solid(many, busy);
        on.fillRect(x, y, Math.max(shown, 0.5), SLICE - 2);
        on.globalAlpha = 1;
        label(on, theme.ink, data.names[data.offCpu?.by[item] ?? -1] ?? "", x, y, shown);
        return;
      }
      const callback = data.callback[item] ?? 0;
      const isLit = lit.has(item);
      const dim = (lit.size > 0 && !isLit) || (found !== undefined && found.callbacks[callback] !== true);
      const colour = isLit && many === 1 ? theme.part.computation : theme.slice(hues[callback] ?? 0, dim);
      on.fillStyle = colour;
      // Many short ones are as high as they are busy.
      const high = many === 1 ? SLICE - 2 : Math.max((SLICE - 2) * (0.35 + 0.65 * busy), 3);
      on.fillRect(x, y + SLICE - 2 - high, Math.max(shown - (w > 3 ? 0.5 : 0), 0.75), high);
      if (shown > 34) {
        const ink = isLit ? (theme.dark ? "#0d1014" : "#fff") : dim ? theme.soft : theme.onSlice;
        const of = data.callbacks[callback];
        // Its node is said unless the lane says it.
        label(on, ink, (of?.node === lane.name ? of.short : of?.name) ?? "", x, y, shown);
      }
      if (many === 1 && shown > MARKED && !dim) count += marks(on, scene, theme, item, y, isLit);
      if (item === selected && many === 1) {
        on.strokeStyle = theme.ink;
        on.lineWidth = 2;
        on.strokeRect(x + 0.5, y, Math.max(shown - 1, 2), SLICE - 2);
      }
    });
  });
  const off = data.threads[lane.thread]?.offCpu;
  if (off !== undefined && off.start.length > 0) {
    const y = top + lane.slices + Math.max(lane.rows.length, 1) * SLICE;
    visible(off, view.from, view.to, across, (left, w, i, many, busy) => {
      const state = data.offCpu?.state[off.item[i] ?? 0];
      const x = Math.max(gutter + left, gutter);
      on.fillStyle = state === 1 ? theme.part.off_cpu : theme.part.preemption;
      on.globalAlpha = solid(many, busy);
      on.fillRect(x, y, Math.max(Math.min(gutter + left + w, width) - x, 0.75), STRIP);
      count++;
    });
    on.globalAlpha = 1;
  }
  return count;
}

/** How solid a pixel is: many short intervals are as solid as it is busy. */
function solid(many: number, busy: number): number {
  return many === 1 ? 1 : 0.2 + 0.8 * busy;
}

/** Publish calls as ticks at the foot of a slice, takes as rings before it. */
function marks(
  on: CanvasRenderingContext2D,
  { data, view, width, gutter }: Scene,
  theme: Theme,
  execution: number,
  y: number,
  isLit: boolean,
): number {
  const x = (ns: number): number => gutter + ((ns - view.from) / (view.to - view.from)) * (width - gutter);
  const calls = numbersOf(data.callsOf, execution).subarray(0, MARKS);
  on.fillStyle = isLit && !theme.dark ? theme.ground : theme.ink;
  for (const call of calls) {
    const at = x(data.at[call] ?? 0);
    on.beginPath();
    on.moveTo(at, y + SLICE - 7);
    on.lineTo(at + 3.5, y + SLICE - 2);
    on.lineTo(at - 3.5, y + SLICE - 2);
    on.fill();
  }
  const messages = numbersOf(data.messagesTo, execution).subarray(0, MARKS);
  on.strokeStyle = theme.ink;
  on.lineWidth = 1;
  for (const message of messages) {
    const taken = (data.at[data.publication[message] ?? -1] ?? 0) + (data.taken[message] ?? NaN);
    if (Number.isNaN(taken)) continue;
    on.beginPath();
    on.arc(x(taken), y + SLICE / 2 - 1, 2.5, 0, 2 * Math.PI);
    on.stroke();
  }
  return calls.length + messages.length;
}

function hueOfName(data: Data, interval: number): number {
  return ((data.offCpu?.by[interval] ?? 0) * 75) % 360;
}

function label(on: CanvasRenderingContext2D, colour: string, text: string, x: number, y: number, width: number): void {
  const most = Math.floor((width - 8) / LETTER);
  if (most < 4) return;
  on.fillStyle = colour;
  on.fillText(text.length > most ? `${text.slice(0, most - 1)}…` : text, x + 4, y + SLICE / 2);
}

/** Callbacks of the lit instance, however short, and its waits, under the slices of the thread that waited. */
function litHops(
  on: CanvasRenderingContext2D,
  { data, lanes, width, gutter }: Scene,
  theme: Theme,
  lit: Instance,
  top: number,
  x: (ns: number) => number,
): void {
  on.fillStyle = theme.part.computation;
  for (const hop of lit.hops) {
    const y = heightOf(lanes, data, hop.execution);
    const [left, right] = [x(data.start[hop.execution] ?? NaN), x(data.end[hop.execution] ?? NaN)];
    if (y !== undefined && right - left < 2) on.fillRect(left, top + y, 2, SLICE - 2);
  }
  for (const stretch of lit.stretches) {
    const hop = lit.hops.find(({ position }) => position === stretch.position);
    const y = hop === undefined ? undefined : heightOf(lanes, data, hop.execution);
    if (hop === undefined || y === undefined || stretch.to > hop.begun) continue;
    bar(on, theme, stretch, x, top + y + SLICE - 6, 5, gutter, width);
  }
}

function bar(
  on: CanvasRenderingContext2D,
  theme: Theme,
  stretch: Stretch,
  x: (ns: number) => number,
  y: number,
  height: number,
  low: number,
  high: number,
): number {
  const left = Math.max(x(stretch.from), low);
  const right = Math.min(x(stretch.to), high);
  if (right < left) return 0;
  on.fillStyle = theme.part[stretch.part];
  on.fillRect(left, y, Math.max(right - left, 0.5), height);
  return right - left;
}

/** Arrows of the messages of the selection and of the lit instance; of all in sight if they are few. */
function arrows(
  on: CanvasRenderingContext2D,
  scene: Scene,
  theme: Theme,
  top: number,
  x: (ns: number) => number,
): number {
  const { data, lit, selected, view } = scene;
  const strong = new Set<number>();
  if (selected !== undefined) {
    for (const message of numbersOf(data.messagesTo, selected)) strong.add(message);
    for (const call of numbersOf(data.callsOf, selected)) {
      for (let message = data.messagesOf[call] ?? 0; message < (data.messagesOf[call + 1] ?? 0); message++)
        strong.add(message);
    }
  }
  const ofChain = lit === undefined ? [] : messagesOf(data, lit);
  const first = firstFrom(data.at, view.from);
  const last = firstFrom(data.at, view.to);
  const inSight = (data.messagesOf[last] ?? data.publication.length) - (data.messagesOf[first] ?? 0);
  let drawn = 0;
  if (inSight <= ARROWS && lit === undefined && selected === undefined) {
    on.globalAlpha = 0.45;
    for (let i = 0; i < inSight; i++)
      drawn += arrow(on, scene, (data.messagesOf[first] ?? 0) + i, theme.soft, 1, top, x);
    on.globalAlpha = 1;
  }
  for (const message of ofChain) drawn += arrow(on, scene, message, theme.accent, 1.5, top, x);
  for (const message of strong) drawn += arrow(on, scene, message, theme.ink, 1.5, top, x);
  return drawn;
}

/** The messages between the hops of an instance. */
export function messagesOf(data: Data, instance: Instance): number[] {
  return instance.hops.flatMap((hop) => {
    if (Number.isNaN(hop.execution)) return [];
    const taken = [...numbersOf(data.messagesTo, hop.execution)];
    return taken.filter((message) => data.at[data.publication[message] ?? -1] === hop.published);
  });
}

/** Both ends of a message: when, and at which height of the lanes; absent if one is in a lane that is not shown. */
export function endsOf(
  { data, lanes }: Pick<Scene, "data" | "lanes">,
  message: number,
): [number, number, number, number] | undefined {
  const call = data.publication[message] ?? -1;
  const sender = data.publishedIn[call] ?? NaN;
  const outside = lanes.ofProcess.get(data.process[call] ?? -1);
  const from = Number.isNaN(sender) ? outside && outside.top + outside.slices : heightOf(lanes, data, sender);
  const receiver = data.takenBy[message] ?? -1;
  const to = heightOf(lanes, data, receiver);
  if (from === undefined || to === undefined) return undefined;
  return [
    data.at[call] ?? 0,
    from + (to > from ? SLICE - 2 : 0),
    data.start[receiver] ?? 0,
    to + (to >= from ? 0 : SLICE - 2),
  ];
}

function arrow(
  on: CanvasRenderingContext2D,
  scene: Scene,
  message: number,
  colour: string,
  width: number,
  top: number,
  x: (ns: number) => number,
): number {
  const ends = endsOf(scene, message);
  if (ends === undefined) return 0;
  const [x0, y0, x1, y1] = [x(ends[0]), top + ends[1], x(ends[2]), top + ends[3]];
  if (Math.max(x0, x1) < scene.gutter || Math.min(x0, x1) > scene.width) return 0;
  const bend = Math.min(Math.max(Math.abs(x1 - x0) / 2, 4), 60);
  on.strokeStyle = colour;
  on.fillStyle = colour;
  on.lineWidth = width;
  on.beginPath();
  on.moveTo(x0, y0);
  on.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  on.stroke();
  on.beginPath();
  on.moveTo(x1, y1);
  on.lineTo(x1 - 5, y1 - 3);
  on.lineTo(x1 - 5, y1 + 3);
  on.fill();
  return 1;
}

function names(
  on: CanvasRenderingContext2D,
  { gutter, lanes, width }: Scene,
  theme: Theme,
  seen: Lane[],
  top: number,
): void {
  if (lanes.all.length === 0) {
    on.fillStyle = theme.soft;
    on.fillText("no lane has this name", gutter + 8, top + 20);
  }
  for (const lane of seen) {
    const y = top + lane.top + (lane.slices > 0 ? 8 : SLICE / 2);
    const room = Math.floor((gutter > 0 ? gutter - 12 : width - 12) / 6.3);
    const name = shortened(lane.name, room);
    on.fillStyle = theme.ink;
    on.fillText(name, 4, y);
    const left = room - name.length - 2;
    if (gutter > 0 && lane.height < 44 && left < lane.detail.length) continue;
    on.fillStyle = theme.soft;
    if (gutter > 0 && lane.height >= 44) on.fillText(lane.detail, 4, y + 15);
    else if (left >= lane.detail.length) on.fillText(lane.detail, 10 + on.measureText(name).width, y);
  }
}

/** Of several nodes the first, of one name its end, which tells it from others. */
function shortened(name: string, most: number): string {
  if (name.length <= most) return name;
  return name.includes(" ") ? `${name.slice(0, most - 1)}…` : `…${name.slice(name.length - most + 1)}`;
}

function ruler(
  on: CanvasRenderingContext2D,
  { view, width, gutter, found, height }: Scene,
  theme: Theme,
  x: (ns: number) => number,
): void {
  on.fillStyle = theme.ground;
  on.fillRect(0, 0, width, RULER);
  const marks = ticks(view, width - gutter, 110);
  const step = (marks[1] ?? view.to) - (marks[0] ?? view.from);
  for (const at of marks) {
    on.fillStyle = theme.rule;
    on.fillRect(Math.round(x(at)), RULER - 5, 1, height);
    on.fillStyle = theme.soft;
    on.textAlign = "left";
    on.fillText(moment(at, step), Math.round(x(at)) + 4, RULER / 2);
  }
  if (found !== undefined) {
    on.fillStyle = theme.accent;
    let i = firstFrom(found.start, view.from);
    while (i < found.start.length && (found.start[i] ?? 0) <= view.to) {
      const at = Math.floor(x(found.start[i] ?? 0));
      on.fillRect(at, RULER - 4, 2, 4);
      i = Math.max(
        firstFrom(found.start, view.from + ((at + 2 - gutter) / (width - gutter)) * (view.to - view.from), i + 1),
        i + 1,
      );
    }
  }
}

/** Instances of the chain: all as marks where they begin, the lit one by its stretches. */
function chainLane(
  on: CanvasRenderingContext2D,
  { chain, lit, view, width, gutter }: Scene,
  theme: Theme,
  x: (ns: number) => number,
): void {
  if (chain === undefined) return;
  const y = RULER + 2;
  on.fillStyle = theme.ground;
  on.fillRect(0, RULER, width, CHAIN);
  on.fillStyle = theme.soft;
  on.fillRect(0, RULER + CHAIN - 1, width, 1);
  on.save();
  on.beginPath();
  on.rect(gutter, RULER, width - gutter, CHAIN);
  on.clip();
  on.fillStyle = theme.accent;
  let i = firstFrom(chain.start, view.from);
  while (i < chain.count && (chain.start[i] ?? 0) <= view.to) {
    const at = Math.floor(x(chain.start[i] ?? 0));
    on.fillRect(at, y + SLICE - 5, 1, 5);
    i = Math.max(
      firstFrom(chain.start, view.from + ((at + 1 - gutter) / (width - gutter)) * (view.to - view.from), i + 1),
      i + 1,
    );
  }
  if (lit !== undefined) {
    for (const stretch of lit.stretches) {
      const shown = bar(on, theme, stretch, x, y, SLICE, gutter, width);
      if (shown > 60 && (stretch.part === "computation" || stretch.part === "transport"))
        label(
          on,
          theme.dark ? "#0d1014" : "#fff",
          lit.hops.find(({ position }) => position === stretch.position)?.node ?? "",
          Math.max(x(stretch.from), gutter),
          y,
          shown,
        );
    }
  }
  on.restore();
  const room = Math.floor((gutter - 12) / 6.3);
  on.fillStyle = theme.ink;
  if (gutter > 0)
    on.fillText(chain.name.length > room ? `${chain.name.slice(0, room - 1)}…` : chain.name, 4, y + SLICE / 2);
}
