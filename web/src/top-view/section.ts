// The top view as a section of the page: the drawing, its buttons and keys, and in words what the moment is.
import { choice } from "../choice";
import { h, section } from "../dom";
import { fixed } from "../format";
import { announce, follow } from "../moments";
import type { Page, PageRun, TopView } from "../shapes";
import { CAUSES } from "../shapes/words";
import { duration, moment } from "../timeline/view";
import { decodeDrive, inForce, lastBy, lateOnes, stateAt, type Drive, type InForce } from "./data";
import { COLOURS, drawDrive, type Colour, type Legend } from "./draw";

const NAME = "top-view";
const NS_PER_MS = 1e6;
/** Steps of the keys. */
const STEP_NS = 1e8;
const LEAP_NS = 1e9;
const PACES = ["1×", "4×", "16×"] as const;
/** Late messages that are listed. */
const LISTED = 8;
/** The parts of an end-to-end time, as columns number them. */
const PARTS = ["computation", "off the CPU", "preemption", "transport", "alignment", "queueing", "kept"];
export const VIEW_KEYS: readonly (readonly [string, string])[] = [
  ["Space", "play or pause"],
  ["← →", "0.1 s back or on; with Shift, 1 s"],
  ["Home End", "begin and end of the drive"],
  ["n p", "next and previous late message"],
];

interface Shown {
  run: PageRun;
  view: TopView;
  /** Whether the drive goes on: the last moment counts. */
  isLive: boolean;
  /** Index of the run among those that have a timeline. */
  number: number;
}

/** The section; absent if no run drove. */
export function topView(page: Page): HTMLElement | undefined {
  const timed = page.runs.filter(({ timeline }) => timeline !== undefined);
  const runs = timed.flatMap((run, number): Shown[] =>
    run.top_view === undefined ? [] : [{ run, view: run.top_view, isLive: page.live !== undefined, number }],
  );
  const first = runs[0];
  if (first === undefined) return undefined;
  const holder = h("div");
  const labels = runs.map(({ run }, i) =>
    runs.findIndex((other) => other.run.label === run.label) < i ? `${run.label} (${i + 1})` : run.label,
  );
  let stop = (): void => undefined;
  const fill = (label: string): void => {
    const shown = runs[labels.indexOf(label)];
    if (shown === undefined) return;
    stop();
    const { elements, pause } = ofRun(shown);
    stop = pause;
    holder.replaceChildren(...elements);
  };
  fill(labels[0] ?? "");
  return section(
    NAME,
    "The drive from above",
    "The lane, the way of the car, what it planned and saw. At each moment, the text says which message the car's commands rest on. A ring marks a late one: a click moves the car and the timeline there.",
    runs.length > 1 && choice("run", labels, labels[0] ?? "", fill),
    holder,
  );
}

function ofRun({ view, isLive, number }: Shown): { elements: HTMLElement[]; pause: () => void } {
  const drive = decodeDrive(view);
  const [begin, end] = [drive.at[0] ?? 0, drive.at[drive.at.length - 1] ?? 0];
  const late = lateOnes(drive);
  const text = h("p", { class: "timeline-selected top-view-moment", role: "status" });
  const slider = h("input", {
    "type": "range",
    "min": Math.floor(begin / NS_PER_MS),
    "max": Math.ceil(end / NS_PER_MS),
    "step": 10,
    "aria-label": "moment of the drive",
  });
  const play = h("button", { type: "button", class: "top-view-play" });
  const legend = h("p", { class: "top-view-legend" });
  let now = begin;
  let pace = 1;
  let frame = 0;
  const isPlaying = (): boolean => frame !== 0;

  const show = (ns: number): void => {
    now = Math.min(Math.max(ns, begin), end);
    drawing.show(now);
    slider.value = String(Math.round(now / NS_PER_MS));
    slider.setAttribute("aria-valuetext", moment(now, 1e9));
    // Read out by itself only while nothing moves.
    text.setAttribute("aria-live", isPlaying() ? "off" : "polite");
    text.replaceChildren(...words(drive, now));
  };
  const pause = (): void => {
    cancelAnimationFrame(frame);
    frame = 0;
    tellPlay();
  };
  const tellPlay = (): void => {
    play.replaceChildren(isPlaying() ? "pause" : "play");
    play.setAttribute("aria-label", isPlaying() ? "pause the drive" : "play the drive");
  };
  const start = (): void => {
    if (now >= end) show(begin);
    let before: number | undefined;
    const step = (time: number): void => {
      const passed = before === undefined ? 0 : Math.min(time - before, 100);
      before = time;
      frame = requestAnimationFrame(step);
      show(now + passed * NS_PER_MS * pace);
      if (now >= end) pause();
    };
    frame = requestAnimationFrame(step);
    tellPlay();
  };
  const toggle = (): void => (isPlaying() ? pause() : start());
  const move = (ns: number): void => {
    pause();
    show(ns);
  };
  const choose = (one: InForce): void => {
    move(one.to);
    announce(NAME, { run: number, from: one.from, to: one.to });
  };
  const stepLate = (by: 1 | -1): void => {
    const next = by > 0 ? late.find(({ to }) => to > now + 1) : [...late].reverse().find(({ to }) => to < now - 1);
    if (next !== undefined) choose(next);
  };

  const drawing = drawDrive(drive, choose);
  drawing.svg.setAttribute("aria-label", `Map of the drive of ${view.car.node}, ${moment(end - begin, 1e9)} long`);
  const colour = (by: Colour): void => legend.replaceChildren(...legendOf(drawing.colour(by)));
  const known = COLOURS.filter((by) => by !== "command age" || drive.arrival.length > 0);
  colour(known[0] ?? "speed");
  tellPlay();
  // Where it left the lane is what one looks for; else the begin.
  show(isLive ? end : (drive.left?.at_ns ?? begin));

  play.addEventListener("click", toggle);
  slider.addEventListener("input", () => move(Number(slider.value) * NS_PER_MS));
  const keys = (event: KeyboardEvent): void => {
    const step = event.shiftKey ? LEAP_NS : STEP_NS;
    const does: Record<string, () => void> = {
      " ": toggle,
      "ArrowLeft": () => move(now - step),
      "ArrowRight": () => move(now + step),
      "Home": () => move(begin),
      "End": () => move(end),
      "n": () => stepLate(1),
      "p": () => stepLate(-1),
    };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : does[key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  const map = h(
    "div",
    {
      "class": "top-view-holder",
      "tabindex": 0,
      "role": "application",
      "aria-label":
        "Top view of the drive. Space plays and pauses, arrow keys move by 0.1 s, n and p step through late messages.",
    },
    drawing.svg,
  );
  map.addEventListener("keydown", keys);
  slider.addEventListener("keydown", keys);
  follow(NAME, (other) => {
    if (other.run === number) move(other.to);
  });
  const button = (name: string, text: string, does: () => void): HTMLElement => {
    const made = h("button", { "type": "button", "aria-label": name, "title": name }, text);
    made.addEventListener("click", does);
    return made;
  };
  Object.assign(map, { topView: { drive, show: move, now: () => now, isPlaying } });
  const elements = [
    h(
      "div",
      { class: "timeline-tools top-view-tools" },
      play,
      slider,
      h(
        "span",
        { class: "timeline-buttons" },
        ...(late.length === 0
          ? []
          : [
              button("previous late message", "◂ late", () => stepLate(-1)),
              button("next late message", "late ▸", () => stepLate(1)),
            ]),
        ...(drive.left === undefined
          ? []
          : [button("where it left the lane", "left the lane", () => move(drive.left?.at_ns ?? begin))]),
      ),
    ),
    h(
      "div",
      { class: "top-view-choices" },
      choice("pace", PACES, "1×", (chosen) => (pace = Number.parseInt(chosen, 10))),
      choice("map", ["whole", "around the car"] as const, "whole", (chosen) => drawing.zoom(chosen !== "whole")),
      choice("colour", known, known[0] ?? "speed", colour),
    ),
    map,
    legend,
    marksOf(drive, late),
    text,
    ...lateList(drive, choose),
    h(
      "details",
      {},
      h("summary", {}, "keys of the map"),
      h(
        "table",
        { class: "timeline-keys" },
        ...VIEW_KEYS.map(([key, does]) => h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, does))),
      ),
    ),
  ];
  return { elements, pause };
}

/** The moment in words: the car, its command, and the instance of each chain that it rests on. */
export function words(drive: Drive, ns: number): (Node | string)[] {
  const { speed, lateralError } = stateAt(drive, ns);
  const told: string[] = [];
  if (!Number.isNaN(speed)) told.push(`${fixed(speed, 2)}\u202fm/s`);
  if (!Number.isNaN(lateralError)) {
    const side = lateralError >= 0 ? "left" : "right";
    told.push(`${fixed(Math.abs(lateralError), 2)}\u202fm to the ${side} of the centre line`);
  }
  const arrival = lastBy(drive.arrival, ns);
  if (arrival >= 0) {
    const since = (ns - (drive.arrival[arrival] ?? 0)) / NS_PER_MS;
    const age = (drive.ageAtArrival[arrival] ?? NaN) + since;
    told.push(`its command rests on what was sensed ${fixed(age, 0)}\u202fms before`);
  } else told.push("no command yet");
  const parts: (Node | string)[] = [h("b", {}, moment(ns, 1e9)), `: ${told.join(", ")}.`];
  for (const chain of drive.chains) {
    const one = inForce(chain, ns);
    if (one !== undefined) parts.push(h("br"), h("b", {}, chain.name), `: ${instanceWords(one)}`);
  }
  return parts;
}

/** An instance in words: how long it took, and what it waited for. */
export function instanceWords({ chain, number }: InForce): string {
  const took = chain.duration[number] ?? NaN;
  const part = PARTS[chain.part[number] ?? -1];
  const [mostly, why] = [chain.took[number] ?? NaN, chain.worst.find(({ instance }) => instance === number)];
  const text = [`${duration(took)}, of which ${duration(mostly)} ${part ?? "of an unknown part"}`];
  if (why !== undefined) {
    const usual = why.usual_ns === undefined ? "" : `, usually ${duration(why.usual_ns)}`;
    text.push(`late: ${CAUSES[why.kind]} ${why.by} at ${why.node}, ${duration(why.took_ns)}${usual}`);
  }
  return `${text.join("; ")}.`;
}

function legendOf({ limits, unit }: Legend): (Node | string)[] {
  const shown = limits.slice(0, -1).map((low, i) => {
    const high = limits[i + 1] ?? low;
    const digits = limits[limits.length - 1]! - limits[0]! >= 20 ? 0 : 2;
    const range = high > low ? `${fixed(low, digits)} to ${fixed(high, digits)}` : fixed(low, digits);
    return h("span", {}, h("i", { "class": `heat-${i}`, "aria-hidden": "true" }), `${range} ${unit}`);
  });
  return limits.length > 1 ? shown : ["Nothing was reported to colour the way by."];
}

/** What the other marks of the map are. */
function marksOf(drive: Drive, late: readonly InForce[]): HTMLElement {
  const mark = (kind: string, text: string): HTMLElement =>
    h("span", {}, h("i", { "class": `mark ${kind}`, "aria-hidden": "true" }), text);
  return h(
    "p",
    { class: "top-view-legend" },
    drive.obstacles !== undefined && drive.obstacles.all > 0 && mark("obstacle", "obstacle"),
    drive.seen.some(({ all }) => all > 0) && mark("seen", `seen by ${drive.seen.map(({ node }) => node).join(", ")}`),
    drive.plans.length > 0 && mark("plan", "planned"),
    late.length > 0 && mark("late-mark", "late message"),
    drive.left !== undefined && mark("left-lane", "left the lane"),
  );
}

/** The longest instances of each chain, each a button that moves the car there. */
function lateList(drive: Drive, choose: (one: InForce) => void): HTMLElement[] {
  const longest = lateOnes(drive).sort((a, b) => b.to - b.from - (a.to - a.from));
  if (longest.length === 0) return [];
  const items = longest.slice(0, LISTED).map((one) => {
    const go = h("button", { type: "button", class: "more" }, `${one.chain.name} at ${moment(one.to, 1e9)}`);
    go.addEventListener("click", () => choose(one));
    return h("li", {}, go, `: ${instanceWords(one)}`);
  });
  return [h("h3", {}, "Late messages"), h("ol", { class: "top-view-late" }, ...items)];
}
