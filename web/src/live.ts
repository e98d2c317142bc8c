// A recording that goes on: the page asks for its state again and again, and shows it unless somebody looks at
// something.
import { parse } from "./data";
import { h } from "./dom";
import { count, fixed } from "./format";
import type { Live, Page } from "./shapes";
import { onSubjectChange } from "./subject/address";

/** Where the next state is, beside the page. */
const STATE = "page.json";
/** The same after a failure: tacho may only be busy. */
const RETRY_MS = 2000;
/** Failures in a row after which nothing more is expected. */
const MOST_FAILURES = 3;
/** Keys that move around the page and choose nothing on it. */
const PASSING = new Set(["Tab", "Shift", "Control", "Alt", "Meta"]);

/** Follows a recording from its first state on. `draw` makes the elements of a state. */
export function follow(report: HTMLElement, first: Page, draw: (page: Page) => Element[]): void {
  const shown = h("div", { class: "live-state" });
  const said = h("span", { role: "status" });
  const toggle = h("button", { type: "button" });
  let newest = first;
  let drawn = first;
  let isPaused = false;
  let failures = 0;

  const show = (page: Page): void => {
    drawn = page;
    // The place in the address is that of an earlier state.
    if (location.hash.startsWith("#timeline=")) history.replaceState(null, "", location.pathname);
    // Drawings get their height after the next layout, and a page that shrinks meanwhile would scroll.
    shown.style.minHeight = `${shown.offsetHeight}px`;
    shown.replaceChildren(...draw(drawn));
    requestAnimationFrame(() => (shown.style.minHeight = ""));
  };
  const say = (): void => {
    said.replaceChildren(sentence(newest.live, isPaused, failures >= MOST_FAILURES));
    toggle.replaceChildren(isPaused ? "go on" : "pause");
  };
  const pause = (paused: boolean): void => {
    isPaused = paused;
    if (!isPaused) show(newest);
    say();
  };
  const ask = async (): Promise<void> => {
    try {
      const answer = await fetch(STATE, { cache: "no-store" });
      if (!answer.ok) throw new Error(`${STATE}: ${answer.status}`);
      newest = parse(await answer.text());
      failures = 0;
    } catch {
      failures += 1;
    }
    if (!isPaused && failures === 0) show(newest);
    say();
    if (newest.live?.has_ended === true || failures >= MOST_FAILURES) return;
    setTimeout(() => void ask(), failures > 0 ? RETRY_MS : newest.live?.ask_again_ms);
  };

  toggle.addEventListener("click", () => pause(!isPaused));
  // What somebody points at or selects must not move away.
  shown.addEventListener("pointerdown", () => pause(true));
  shown.addEventListener("keydown", (event) => {
    if (!PASSING.has(event.key)) pause(true);
  });
  onSubjectChange(() => show(drawn));
  report.replaceChildren(h("p", { class: "live-bar" }, h("b", {}, "live"), " ", said, " ", toggle), shown);
  show(first);
  say();
  setTimeout(() => void ask(), first.live?.ask_again_ms);
}

/** How the recording goes on, in words. */
export function sentence(live: Live | undefined, isPaused: boolean, isGone: boolean): string {
  if (live === undefined) return "";
  const lost =
    live.dropped_events > 0 ? `, ${count(live.dropped_events)} events dropped: figures may be incomplete` : "";
  const facts =
    live.processes === 0
      ? "nothing recorded yet"
      : `last ${fixed(Math.min(live.filled_s, live.window_s), 1)}\u202fs, ${count(Math.round(live.events_per_s))} events/s of ${live.processes} ${live.processes === 1 ? "process" : "processes"}${lost}`;
  if (live.has_ended) return `${facts}; the recording has ended`;
  if (isGone) return `${facts}; tacho does not answer any more`;
  return isPaused ? `${facts}; paused, the recording goes on` : facts;
}
