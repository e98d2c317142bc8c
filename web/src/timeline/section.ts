// The timeline as a section of the page: its buttons, its drawing, what is selected in words, and what it leaves out.
import type { Page, PageRun, Timeline } from "../shapes";
import { choice } from "../choice";
import { h, section } from "../dom";
import { count } from "../format";
import { announce, follow } from "../moments";
import { legend, type Part } from "../parts";
import type { Action } from "./keys";
import { KEYS } from "./keys";
import { Stage } from "./stage";
import { linked, linkTo } from "./link";
import { duration, moment } from "./view";

/** A view goes into the address when it has not moved for this long. */
const SETTLED_MS = 250;
const NOTHING = "Nothing is selected.";

interface Shown {
  run: PageRun;
  timeline: Timeline;
}

/** The section; absent if no run has an execution of a callback. */
export function timeline(page: Page): HTMLElement | undefined {
  const runs = page.runs.flatMap((run): Shown[] =>
    run.timeline === undefined ? [] : [{ run, timeline: run.timeline }],
  );
  const first = runs[0];
  if (first === undefined) return undefined;
  const holder = h("div");
  const labels = runs.map(({ run }, i) =>
    runs.findIndex((other) => other.run.label === run.label) < i ? `${run.label} (${i + 1})` : run.label,
  );
  const fill = (label: string): void => {
    const shown = runs[labels.indexOf(label)];
    if (shown !== undefined) holder.replaceChildren(...ofRun(shown, labels.indexOf(label)));
  };
  const start = labels[linked(location.hash)?.run ?? 0] ?? labels[0] ?? "";
  fill(start);
  return section(
    "timeline",
    "The run over time",
    "Threads and their callbacks. An arrow is a message, from its publish call (triangle) to the callback that took it (ring: its take). The chain's instance is lit; its waits have the colours of the parts above.",
    runs.length > 1 && choice("run", labels, start, fill),
    holder,
  );
}

function ofRun({ timeline: shape }: Shown, number: number): HTMLElement[] {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const space = h("div", { class: "timeline-space" });
  const scroller = h(
    "div",
    {
      "class": "timeline-view",
      "tabindex": 0,
      "role": "application",
      "aria-label": "Timeline of threads and callbacks. Arrow keys select callbacks, question mark lists all keys.",
    },
    canvas,
    space,
  );
  const selected = h("p", { class: "timeline-selected", role: "status" }, NOTHING);
  const found = h("span", { class: "timeline-found", role: "status" });
  const input = h("input", { type: "search", placeholder: "callback or topic", autocomplete: "off" });
  const lanes = h("input", { type: "search", placeholder: "node", autocomplete: "off" });
  const keys = h(
    "table",
    { class: "timeline-keys", hidden: true },
    ...KEYS.map(([key, does]) => h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, does))),
  );
  let waiting = 0;
  // What the page lights by itself moves nothing else.
  let isReady = false;
  const stage = new Stage(shape, scroller, canvas, space, {
    selected: (lines) => {
      const [title, ...rest] = lines;
      if (title === undefined) selected.replaceChildren(NOTHING);
      else selected.replaceChildren(h("b", {}, title), ...rest.flatMap((line) => ["; ", line]));
    },
    found: (text) => found.replaceChildren(text),
    act: (action) => {
      if (action === "search") input.focus();
      else keys.hidden = !keys.hidden;
    },
    lit: ({ start, end }) => {
      if (isReady) announce("timeline", { run: number, from: start, to: end });
    },
    moved: (view) => {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => history.replaceState(null, "", linkTo(number, view)), SETTLED_MS);
    },
  });
  isReady = true;
  follow("timeline", ({ run, from, to }) => {
    if (run !== number) return;
    isReady = false;
    stage.showFrom(from, to);
    isReady = true;
  });
  const asked = linked(location.hash);
  if (asked?.run === number) stage.view = asked.view;
  input.addEventListener("input", () => stage.search(input.value));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") stage.do(event.shiftKey ? "found before" : "found");
    if (event.key === "Escape") scroller.focus();
  });
  lanes.addEventListener("input", () => stage.filter(lanes.value));
  const button = (text: string, action: Action, name = text): HTMLElement => {
    const made = h("button", { "type": "button", "aria-label": name, "title": name }, text);
    made.addEventListener("click", () => stage.do(action));
    return made;
  };
  const { chain } = stage;
  const instances =
    chain === undefined || chain.count === 0
      ? []
      : [
          button("◂", "instance before", "instance before"),
          chain.worst !== undefined && button("worst", "worst", "worst instance"),
          chain.median !== undefined && button("median", "median", "median instance"),
          button("▸", "instance after", "instance after"),
        ];
  Object.assign(scroller, { timeline: stage });
  return [
    h(
      "div",
      { class: "timeline-tools" },
      h("label", {}, "search ", input),
      found,
      h("label", {}, "lanes of ", lanes),
      h("span", { class: "timeline-buttons" }, ...instances),
      h(
        "span",
        { class: "timeline-buttons" },
        button("+", "zoom in", "zoom in"),
        button("−", "zoom out", "zoom out"),
        button("whole", "whole", "the whole span"),
        button("?", "help", "list of keys"),
      ),
    ),
    keys,
    scroller,
    selected,
    legend(partsIn(stage)),
    h("p", { class: "provenance" }, ...held(shape, chain?.count)),
  ];
}

/** The parts that some of the first instances have. */
function partsIn({ chain }: Stage): Part[] {
  const parts = new Set<Part>();
  for (let i = 0; i < Math.min(chain?.count ?? 0, 20); i++)
    chain?.instance(i).stretches.forEach(({ part }) => parts.add(part));
  chain?.instance(chain.worst ?? 0).stretches.forEach(({ part }) => parts.add(part));
  return [...parts];
}

/** What the page holds of the run, and how another part of it is shown. */
function held(shape: Timeline, instances: number | undefined): string[] {
  const { spans, length_ns, rows, rows_here, repeats, chain } = shape;
  const span = ([from, to]: readonly [number, number]): string =>
    `${moment(from, to - from)} to ${moment(to, to - from)}`;
  const texts = [];
  if (repeats > 1)
    texts.push(
      `The run has ${repeats} repeats; this is the one with the worst instance. To see another, report on its folder in repeats/. `,
    );
  const [first] = spans;
  const isWhole = spans.length === 1 && first !== undefined && first[0] <= 0 && first[1] >= length_ns;
  const these = "executions, messages and intervals";
  texts.push(
    isWhole
      ? `The page holds all ${count(rows_here)} ${these} of ${duration(length_ns)}.`
      : `The page holds ${count(rows_here)}${rows_here < rows ? ` of ${count(rows)}` : ""} ${these}: ${spans.map(span).join(", and ")} of ${duration(length_ns)}. To see another part: tacho report RUN --between FROM TO.`,
  );
  if (chain !== undefined && instances !== undefined && instances < chain.all)
    texts.push(` Of ${count(chain.all)} instances of the chain, ${count(instances)} are here.`);
  return texts;
}
