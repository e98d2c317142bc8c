// A study's findings beside ours.
import type { Measure, RunInfo, Study } from "./data";
import { h, section } from "./dom";

/** One line of ours; without a group, why there is none. */
export interface Ours {
  group: string;
  text: string;
}

/** The section; `ours` gives what this run has of a measure. */
export function statements(study: Study, info: RunInfo, ours: (measure: Measure) => Ours[]): HTMLElement {
  const machine = info.machine;
  return section(
    "study",
    study.title,
    `What the study found, and what this run measured. There: ${study.setting} Here: ${
      machine === undefined ? "an unknown machine" : `${machine.cpu}, ${machine.cpus} CPUs, Linux ${machine.kernel} ${machine.preemption}`
    }. Machines differ, so figures do: what can be compared is which is faster, and how they grow.`,
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
          ...study.statements.map(({ source, says, measure }) =>
            h(
              "tr",
              {},
              h("td", {}, says, " ", h("small", {}, `(${source})`)),
              h(
                "td",
                {},
                h(
                  "ul",
                  {},
                  ...ours(measure).map(({ group, text }) =>
                    group === "" ? h("li", { class: "absent" }, text) : h("li", {}, `${group}: `, h("b", {}, text)),
                  ),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
    h("p", { class: "provenance" }, study.citation),
  );
}
