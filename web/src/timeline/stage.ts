// The canvas: what is seen and selected, and how pointer and keys change it. It draws at most once a frame.
import { show, hide } from "../tip";
import type { Instance, Instances } from "./chain";
import { decodeChain } from "./chain";
import { decode, numbersOf, type Data } from "./data";
import { described, describedInstance } from "./describe";
import { CHAIN, draw, headOf, RULER, type Drawn, type Scene } from "./draw";
import { actionOf, type Action } from "./keys";
import { heightOf, laneAt, lanesOf, SLICE } from "./lanes";
import { sliceAt } from "./rows";
import { nextFound, search } from "./search";
import { hueOf, onThemeChange, themeOf, type Theme } from "./theme";
import { duration, fitted, moment, panned, reaching, within, zoomed, type View } from "./view";
import type { Timeline } from "../shapes";

/** Names stand beside the lanes from this width on, else above them. */
const WIDE = 640;
const GUTTER = 190;
const ZOOM = 0.75;
const STEP = 0.15;
/** Movement below this is a click. */
const CLICK = 4;

/** Who is told what changed. */
export interface Listener {
  selected(lines: string[]): void;
  found(text: string): void;
  /** An instance of the chain is lit. */
  lit(instance: Instance): void;
  act(action: "search" | "help"): void;
  /** Another part is seen than at first. */
  moved(view: View): void;
}

/** What the page holds of a run, on a canvas inside `scroller`. */
export class Stage {
  readonly data: Data;
  readonly chain: Instances | undefined;
  readonly limits: View;
  private readonly scene: Scene;
  private readonly context: CanvasRenderingContext2D;
  private theme: Theme;
  private waiting = false;
  private pointer: { x: number; y: number } | undefined;
  private readonly pressed = new Map<number, { x: number; y: number }>();
  private moved = 0;
  private wanted: (name: string) => boolean = () => true;
  private foundAt: number | undefined;
  private told: View | undefined;

  constructor(
    shape: Timeline,
    private readonly scroller: HTMLElement,
    private readonly canvas: HTMLCanvasElement,
    private readonly space: HTMLElement,
    private readonly listener: Listener,
  ) {
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("this browser draws on no canvas");
    this.context = context;
    this.data = decode(shape);
    this.chain = shape.chain === undefined ? undefined : decodeChain(shape.chain, shape.names);
    const first = shape.spans[0]?.[0] ?? 0;
    const last = shape.spans[shape.spans.length - 1]?.[1] ?? shape.length_ns;
    const slack = (last - first) * 0.01;
    this.limits = { from: first - slack, to: last + slack };
    this.theme = themeOf(scroller, context);
    const view = { ...this.limits };
    const hues = this.data.callbacks.map((callback) => hueOf(callback.node ?? callback.name));
    const lanes = lanesOf(this.data, this.chain, false, this.wanted);
    const [lit, selected, found] = [undefined, undefined, undefined];
    const { data, chain } = this;
    this.scene = { data, lanes, chain, lit, selected, found, view, width: 0, height: 0, scrolled: 0, gutter: 0, hues };
    this.listen();
    const worst = this.chain?.worst ?? (this.chain !== undefined && this.chain.count > 0 ? 0 : undefined);
    if (worst !== undefined) this.light(worst);
  }

  get view(): View {
    return this.scene.view;
  }

  set view(view: View) {
    this.scene.view = within(view, this.limits);
    this.redraw();
  }

  /** Where the axis begins, CSS pixels. */
  get gutter(): number {
    return this.scene.gutter;
  }

  /** The lit instance, and the selected execution. */
  get lit(): Instance | undefined {
    return this.scene.lit;
  }
  get selected(): number | undefined {
    return this.scene.selected;
  }

  /** Shows lanes whose name holds the text. */
  filter(text: string): void {
    const low = text.trim().toLowerCase();
    this.wanted = (name) => name.toLowerCase().includes(low);
    this.layOut();
  }

  /** Searches; the first hit is selected by the next `found`. */
  search(text: string): void {
    this.scene.found = search(this.data, text);
    this.foundAt = undefined;
    this.tellFound();
    this.redraw();
  }

  /** Lights an instance of the chain and shows it. */
  light(number: number): void {
    const { chain } = this;
    if (chain === undefined || number < 0 || number >= chain.count) return;
    const lit = chain.instance(number);
    this.scene.lit = lit;
    this.scene.selected = undefined;
    this.scene.view = fitted(lit.start, lit.end, this.limits);
    this.listener.selected(describedInstance(chain, lit));
    this.listener.lit(lit);
    this.redraw();
  }

  /** Shows a time, and lights the instance of the chain that has it, if there is one. */
  showFrom(from: number, to: number): void {
    const { chain } = this;
    const number =
      chain?.start.findIndex((start, i) => start === from && start + (chain.duration[i] ?? 0) === to) ?? -1;
    if (number >= 0) this.light(number);
    else this.view = fitted(from, to, this.limits);
  }

  /** Selects an execution, or nothing, and brings it into sight. */
  select(execution: number | undefined): void {
    const { scene, data } = this;
    scene.selected = execution;
    if (execution === undefined)
      this.listener.selected(scene.lit && this.chain ? describedInstance(this.chain, scene.lit) : []);
    else {
      const [start, end] = [data.start[execution] ?? 0, data.end[execution] ?? 0];
      scene.view = reaching(scene.view, start, end, this.limits);
      const y = heightOf(scene.lanes, data, execution);
      const room = scene.height - headOf(scene.chain);
      if (y !== undefined && (y < scene.scrolled || y + SLICE > scene.scrolled + room))
        this.scroller.scrollTop = Math.max(y - room / 2, 0);
      this.listener.selected(described(data, execution));
    }
    this.redraw();
  }

  /** Does what a key or a button asks for. */
  do(action: Action): void {
    const { scene, limits, chain, data } = this;
    const around = this.timeAt(this.pointer?.x) ?? (scene.view.from + scene.view.to) / 2;
    const current = scene.lit?.number ?? -1;
    const selected = scene.selected;
    const follow = (execution: number | undefined): void => {
      if (execution !== undefined && !Number.isNaN(execution)) this.select(execution);
    };
    switch (action) {
      case "zoom in":
        this.view = zoomed(scene.view, ZOOM, around, limits);
        break;
      case "zoom out":
        this.view = zoomed(scene.view, 1 / ZOOM, around, limits);
        break;
      case "left":
      case "right":
        this.view = panned(scene.view, action === "left" ? -STEP : STEP, limits);
        break;
      case "whole":
        this.view = limits;
        break;
      case "focus":
        if (selected !== undefined) this.view = fitted(data.start[selected] ?? 0, data.end[selected] ?? 0, limits);
        else if (scene.lit !== undefined) this.view = fitted(scene.lit.start, scene.lit.end, limits);
        break;
      case "worst":
        this.light(chain?.worst ?? -1);
        break;
      case "median":
        this.light(chain?.median ?? -1);
        break;
      case "instance before":
        this.light(current - 1);
        break;
      case "instance after":
        this.light(current + 1);
        break;
      case "previous":
      case "next":
        this.step(action === "next" ? 1 : -1);
        break;
      case "up":
      case "down":
        this.change(action === "down" ? 1 : -1);
        break;
      case "sender": {
        const [message] = selected === undefined ? [] : numbersOf(data.messagesTo, selected);
        follow(message === undefined ? undefined : data.publishedIn[data.publication[message] ?? -1]);
        break;
      }
      case "receiver": {
        const [call] = selected === undefined ? [] : numbersOf(data.callsOf, selected);
        follow(call === undefined ? undefined : data.takenBy[data.messagesOf[call] ?? -1]);
        break;
      }
      case "found":
      case "found before":
        if (scene.found !== undefined) {
          this.foundAt = nextFound(scene.found, selected, action === "found" ? 1 : -1);
          this.tellFound();
          if (this.foundAt !== undefined) this.select(scene.found.executions[this.foundAt]);
        }
        break;
      case "clear":
        scene.lit = undefined;
        this.select(undefined);
        break;
      case "search":
      case "help":
        this.listener.act(action);
        break;
    }
  }

  /** Lays out the lanes for the width that there is. */
  layOut(): void {
    const { scene } = this;
    const width = this.scroller.clientWidth;
    if (width === 0) return;
    const isWide = width >= WIDE;
    scene.gutter = isWide ? GUTTER : 0;
    scene.lanes = lanesOf(this.data, this.chain, !isWide, this.wanted);
    const head = headOf(this.chain);
    const whole = head + Math.max(scene.lanes.height, 40);
    const height = Math.min(whole, Math.max(Math.round(window.innerHeight * 0.62), 260));
    this.scroller.style.height = `${height + this.scroller.offsetHeight - this.scroller.clientHeight}px`;
    this.space.style.height = `${whole - height}px`;
    // Styles apply only since it stands in the page.
    this.theme = themeOf(this.scroller, this.context);
    const dots = window.devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * dots);
    this.canvas.height = Math.round(height * dots);
    scene.width = width;
    scene.height = height;
    this.redraw();
  }

  /** Asks for a frame. */
  redraw(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.scene.width > 0) this.frame();
    });
  }

  /** Draws now. */
  frame(): Drawn {
    const dots = window.devicePixelRatio || 1;
    this.context.setTransform(dots, 0, 0, dots, 0, 0);
    this.scene.scrolled = this.scroller.scrollTop;
    const drawn = draw(this.context, this.scene, this.theme);
    if (this.told !== undefined && this.told !== this.scene.view) this.listener.moved(this.scene.view);
    this.told = this.scene.view;
    this.canvas.dataset["drawn"] = `${drawn.rectangles} rectangles, ${drawn.arrows} arrows`;
    return drawn;
  }

  /** The execution at a place of the canvas; absent if there is none. */
  executionAt(x: number, y: number): number | undefined {
    const { lanes, scrolled, chain } = this.scene;
    const below = y - headOf(chain);
    const lane = below < 0 ? undefined : laneAt(lanes, below + scrolled);
    const time = this.timeAt(x);
    if (lane === undefined || lane.kind !== "thread" || time === undefined) return undefined;
    const row = lane.rows[Math.floor((below + scrolled - lane.top - lane.slices) / SLICE)];
    if (row === undefined) return undefined;
    const found = sliceAt(row, time, 3 * this.nsOfPixel());
    return found < 0 ? undefined : row.item[found];
  }

  private nsOfPixel(): number {
    const { view, width, gutter } = this.scene;
    return (view.to - view.from) / Math.max(width - gutter, 1);
  }

  private timeAt(x: number | undefined): number | undefined {
    const { view, gutter } = this.scene;
    return x === undefined || x < gutter ? undefined : view.from + (x - gutter) * this.nsOfPixel();
  }

  /** The execution before or after the selected one on its thread; the first in sight if none is selected. */
  private step(by: 1 | -1): void {
    const { scene, data } = this;
    if (scene.selected === undefined)
      return this.selectNear(scene.lanes.all.find(({ kind }) => kind === "thread")?.thread);
    const next = scene.selected + by;
    if (data.thread[next] === data.thread[scene.selected]) this.select(next);
  }

  /** The lane above or below: what runs there at the time of the selection, or next. */
  private change(by: 1 | -1): void {
    const { scene, data } = this;
    if (scene.selected === undefined) return this.step(1);
    const threads = scene.lanes.all.filter(({ kind }) => kind === "thread").map(({ thread }) => thread);
    this.selectNear(threads[threads.indexOf(data.thread[scene.selected] ?? -1) + by]);
  }

  private selectNear(thread: number | undefined): void {
    const { scene, data } = this;
    const row = data.threads[thread ?? -1]?.rows[0];
    if (row === undefined) return;
    const time = scene.selected === undefined ? scene.view.from : (data.start[scene.selected] ?? 0);
    const found = sliceAt(row, time, Infinity);
    if (found >= 0) this.select(row.item[found]);
  }

  private tellFound(): void {
    const { found } = this.scene;
    const all = found?.executions.length ?? 0;
    this.listener.found(
      found === undefined
        ? ""
        : all === 0
          ? "none"
          : this.foundAt === undefined
            ? `${all} found`
            : `${this.foundAt + 1} of ${all}`,
    );
  }

  private listen(): void {
    const { scroller, canvas } = this;
    scroller.addEventListener("keydown", (event) => {
      const action = event.target === scroller ? actionOf(event) : undefined;
      if (action === undefined) return;
      event.preventDefault();
      this.do(action);
    });
    scroller.addEventListener("scroll", () => this.redraw());
    scroller.addEventListener(
      "wheel",
      (event) => {
        // Without a modifier a wheel scrolls the page and the lanes.
        if (event.ctrlKey || event.metaKey) {
          event.preventDefault();
          const around = this.timeAt(this.placeOf(event).x) ?? this.view.from;
          this.view = zoomed(this.view, Math.exp(Math.min(Math.max(event.deltaY, -60), 60) / 150), around, this.limits);
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          event.preventDefault();
          const by = event.deltaX === 0 ? event.deltaY : event.deltaX;
          this.view = panned(this.view, by / Math.max(this.scene.width - this.scene.gutter, 1), this.limits);
        }
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
      this.pressed.set(event.pointerId, this.placeOf(event));
      this.moved = 0;
      canvas.setPointerCapture(event.pointerId);
      hide();
    });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    const end = (event: PointerEvent): void => {
      const wasPressed = this.pressed.delete(event.pointerId);
      if (event.type === "pointerup" && wasPressed && this.moved < CLICK) this.click(this.placeOf(event));
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => {
      this.pointer = undefined;
      hide();
    });
    canvas.addEventListener("dblclick", () => this.do("focus"));
    new ResizeObserver(() => this.layOut()).observe(scroller);
    onThemeChange(scroller, () => {
      this.theme = themeOf(scroller, this.context);
      this.redraw();
    });
  }

  private placeOf(event: MouseEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private move(event: PointerEvent): void {
    const place = this.placeOf(event);
    this.pointer = place;
    const before = this.pressed.get(event.pointerId);
    if (before === undefined) return this.hover(event, place);
    const width = Math.max(this.scene.width - this.scene.gutter, 1);
    const other = [...this.pressed].find(([id]) => id !== event.pointerId)?.[1];
    this.moved += Math.abs(place.x - before.x) + Math.abs(place.y - before.y);
    if (other !== undefined) {
      // Two fingers: what was between them stays between them.
      const factor = Math.max(Math.abs(other.x - before.x), 10) / Math.max(Math.abs(other.x - place.x), 10);
      const around = this.timeAt((other.x + place.x) / 2) ?? this.view.from;
      this.view = zoomed(this.view, factor, around, this.limits);
    } else if (this.moved >= CLICK) {
      this.view = panned(this.view, (before.x - place.x) / width, this.limits);
      if (event.pointerType === "mouse") this.scroller.scrollTop += before.y - place.y;
    }
    this.pressed.set(event.pointerId, place);
  }

  private hover(event: PointerEvent, place: { x: number; y: number }): void {
    const lines = this.linesAt(place.x, place.y);
    if (lines.length === 0) return hide();
    show(lines, new DOMRect(event.clientX, event.clientY, 0, 0));
  }

  /** What a tip says at a place. */
  linesAt(x: number, y: number): string[] {
    const time = this.timeAt(x);
    const { lit, chain, lanes, scrolled } = this.scene;
    if (time === undefined) return [];
    if (y > RULER && y < RULER + CHAIN && lit !== undefined && chain !== undefined) {
      const stretch = lit.stretches.find(({ from, to }) => time >= from && time <= to);
      if (stretch === undefined) return [];
      const node = lit.hops.find(({ position }) => position === stretch.position)?.node ?? "";
      return [`${node}: ${duration(stretch.to - stretch.from)}`, stretch.words];
    }
    const execution = this.executionAt(x, y);
    if (execution !== undefined) return described(this.data, execution).slice(0, 5);
    const below = y - headOf(chain);
    const lane = below < 0 ? undefined : laneAt(lanes, below + scrolled);
    const [rows, off] = [lane?.rows[0], this.data.offCpu];
    if (lane?.kind === "cpu" && rows !== undefined && off !== undefined) {
      const item = rows.item[sliceAt(rows, time, this.nsOfPixel())];
      return item === undefined
        ? []
        : [`${lane.name}: ${this.data.names[off.by[item] ?? -1] ?? ""}`, moment(off.from[item] ?? 0, 1e5)];
    }
    const row = this.data.threads[lane?.thread ?? -1]?.offCpu;
    const item = row === undefined ? undefined : row.item[sliceAt(row, time, this.nsOfPixel())];
    if (item === undefined || off === undefined) return [];
    return [this.data.names[off.words[item] ?? -1] ?? "", duration((off.to[item] ?? 0) - (off.from[item] ?? 0))];
  }

  private click(place: { x: number; y: number }): void {
    this.scroller.focus({ preventScroll: true });
    const time = this.timeAt(place.x);
    const { chain } = this;
    if (place.y > RULER && place.y < RULER + CHAIN && chain !== undefined && time !== undefined) {
      const away = (start: number): number => Math.abs(start - time);
      let nearest = 0;
      chain.start.forEach((start, i) => {
        if (away(start) < away(chain.start[nearest] ?? Infinity)) nearest = i;
      });
      if (away(chain.start[nearest] ?? Infinity) < 4 * this.nsOfPixel()) this.light(nearest);
      return;
    }
    this.select(this.executionAt(place.x, place.y));
  }
}
