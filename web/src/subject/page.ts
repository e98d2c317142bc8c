// The page of one node or topic: all that the run says of it.
import type { LatePart, Page } from "../shapes";
import { CAUSES } from "../shapes/words";
import { h, section } from "../dom";
import { findings } from "../findings";
import { graph } from "../graph";
import { layers } from "../layers";
import { sortable } from "../sortable";
import { tables } from "../tables";
import { about, names, subjects } from "./about";
import { addressOf, type Subject } from "./address";

/** The sections of the page of a subject. */
export function subjectSections(page: Page, subject: Subject): (HTMLElement | undefined)[] {
  const own = about(page, subject);
  const isKnown = subjects(page).some(({ kind, name }) => kind === subject.kind && name === subject.name);
  if (!isKnown) return [head(page, subject, `No ${subject.kind} of this name was seen in the run.`)];
  return [
    head(page, subject, lead(own, subject)),
    graph(own, undefined, "What it is connected to."),
    late(page, subject),
    findings(own),
    layers(own),
    tables(own, false),
  ];
}

function head(page: Page, { kind, name }: Subject, text: string): HTMLElement {
  return h(
    "header",
    {},
    h("p", { class: "overline" }, h("a", { href: "#report" }, "Whole report"), ` · ${kind}`),
    h("h1", {}, name),
    h("p", { class: "answer" }, text),
    finder(page),
  );
}

/** Who publishes and takes a topic; what a node takes and publishes. */
function lead({ runs }: Page, { kind, name }: Subject): string {
  const topics = runs.flatMap(({ summary }) => summary.topics);
  const list = (all: readonly string[]): string => [...new Set(all)].join(", ");
  if (kind === "topic") {
    const [from, to] = [topics.flatMap((of) => of.publishers), topics.flatMap((of) => of.subscribers)];
    return `Published by ${list(from) || "nobody seen"}, taken by ${list(to) || "nobody seen"}.`;
  }
  const inputs = topics.filter(({ subscribers }) => subscribers.includes(name)).map(({ topic }) => topic);
  const outputs = topics.filter(({ publishers }) => publishers.includes(name)).map(({ topic }) => topic);
  return `Takes ${list(inputs) || "no topic"}, publishes ${list(outputs) || "no topic"}.`;
}

interface Late extends LatePart {
  chain: string;
  start_ns: number;
}

/** Where it took the time of the worst instances of chains; absent if nowhere. */
function late({ runs }: Page, { name }: Subject): HTMLElement | undefined {
  const rows: Late[] = runs.flatMap(({ summary }) =>
    summary.chains.flatMap((chain) =>
      chain.worst.flatMap((instance) =>
        instance.parts
          .filter((part) => part.nodes.includes(name) || names(part.by, name))
          .map((part) => ({ ...part, chain: chain.name, start_ns: instance.start_ns })),
      ),
    ),
  );
  if (rows.length === 0) return undefined;
  return section(
    "late",
    "In the worst instances",
    "Parts of the worst instances of each chain that happened here or were caused from here, longest first.",
    sortable<Late>(
      rows.sort((a, b) => b.ms - a.ms),
      [
        { title: "chain", value: ({ chain }) => chain },
        { title: "instance at", unit: "s", decimals: 3, value: ({ start_ns }) => start_ns / 1e9 },
        { title: "cause", value: ({ kind, by }) => `${CAUSES[kind]} ${by}` },
        { title: "took", unit: "ms", decimals: 3, value: ({ ms }) => ms },
        { title: "usual", unit: "ms", decimals: 3, value: ({ usual_ms }) => usual_ms },
        { title: "at", value: ({ nodes }) => nodes.join(", ") },
      ],
    ),
  );
}

/** A field that leads to the page of a node or topic; absent if there are none. */
export function finder(page: Page): HTMLElement | undefined {
  const all = subjects(page);
  if (all.length === 0) return undefined;
  const input = h("input", {
    "type": "search",
    "list": "subjects",
    "aria-label": "Node or topic",
    "placeholder": "/…",
  });
  const go = (): void => {
    const found = all.find(({ name }) => name === input.value);
    if (found !== undefined) location.hash = addressOf(found);
  };
  input.addEventListener("change", go);
  input.addEventListener("input", (event) => {
    // A choice from the list comes whole; typing goes on.
    if (!(event instanceof InputEvent) || event.inputType === "insertReplacementText") go();
  });
  return h(
    "p",
    { class: "finder" },
    h("label", {}, "Node or topic ", input),
    h("datalist", { id: "subjects" }, ...all.map(({ kind, name }) => h("option", { value: name }, kind))),
  );
}
