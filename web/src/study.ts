// The findings of a study beside ours.
import type { Measure, RunInfo, Study } from "./shapes";
import { h, section } from "./dom";
import { machineOf } from "./machine";
import { strip } from "./study-strip";

/** One line of ours: a figure of a group of points, or the reason why there is none. */
export interface Ours {
  /** The figure; if it is absent, the text gives the reason. */
  title?: string;
  /** The group that it belongs to; empty if there is one group. */
  group: string;
  text: string;
  /** For the strip beside the published values. */
  value?: number;
}

/** The section; `ours` returns what this run has of a measure. */
export function statements(study: Study, infos: readonly RunInfo[], ours: (measure: Measure) => Ours[]): HTMLElement {
  const machines = infos.map(({ machine }) => (machine === undefined ? "an unknown machine" : machineOf(machine)));
  return section(
    "study",
    study.title,
    `The findings of the study, and the measurements of this run. There: ${study.setting} Here: ${[...new Set(machines)].join("; ")}. Figures differ because machines do. Compare which is faster, and how figures grow.`,
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
    // A title that several lines share is above them.
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
