// A study's findings beside ours.
import type { Measure, RunInfo, Study } from "./shapes";
import { h, section } from "./dom";
import { machineOf } from "./machine";
import { strip } from "./study-strip";

/** One line of ours: a figure of a group of points, or why there is none. */
export interface Ours {
  /** What the figure is; without it, the text says why there is none. */
  title?: string;
  /** What it is of; empty where there is one group. */
  group: string;
  text: string;
  /** For the strip beside what was published. */
  value?: number;
}

/** The section; `ours` gives what this run has of a measure. */
export function statements(study: Study, infos: readonly RunInfo[], ours: (measure: Measure) => Ours[]): HTMLElement {
  const machines = infos.map(({ machine }) => (machine === undefined ? "an unknown machine" : machineOf(machine)));
  return section(
    "study",
    study.title,
    `What the study found, and what this run measured. There: ${study.setting} Here: ${[...new Set(machines)].join("; ")}. Machines differ, so figures do: what can be compared is which is faster, and how they grow.`,
    h(
      "div",
      { class: "wide" },
      h(
        "table",
        { class: "figures study" },
        h("thead", {}, h("tr", {}, ...["published", "this run"].map((title) => h("th", { scope: "col" }, title)))),
        h(
          "tbody",
          {},
          ...study.statements.map(({ source, says, measure }) => row(source, says, measure, ours(measure))),
        ),
      ),
    ),
    h("p", { class: "provenance" }, study.citation),
  );
}

function row(source: string, says: string, measure: Measure, ours: readonly Ours[]): HTMLElement {
  const lines = ours.map(({ title, group, text }) => {
    if (title === undefined) return h("li", { class: "absent" }, text);
    // A title that several lines share stands above them.
    const named = ours.length === 1 ? [title, group] : [group];
    return h("li", {}, named.filter((part) => part !== "").join(", "), ": ", h("b", {}, text));
  });
  const shared = ours.length > 1 ? ours[0]?.title : undefined;
  const valued = ours.flatMap(({ group, value }) =>
    value === undefined ? [] : [{ of: group === "" ? "this run" : group, value }],
  );
  const drawn =
    "published" in measure &&
    measure.published.length > 0 &&
    valued.length > 0 &&
    strip(measure.title, measure.unit, measure.published, valued);
  return h(
    "tr",
    {},
    h("td", {}, says, " ", h("small", {}, `(${source})`)),
    h("td", {}, shared !== undefined && h("p", { class: "shared" }, shared), h("ul", {}, ...lines), drawn),
  );
}
