// What lints found: evidence, cost, next step.
import type { Page } from "./data";
import { h, section } from "./dom";

/** Findings of all runs; absent where there is none. */
export function findings(page: Page): HTMLElement | undefined {
  const items = page.runs.flatMap((run) =>
    (run.summary.findings ?? []).map((finding) =>
      h(
        "li",
        {},
        h("b", {}, finding.lint),
        finding.count > 1 && ` (${finding.count})`,
        `: ${finding.finds}`,
        page.runs.length > 1 && h("small", {}, ` ${run.label}`),
        h(
          "ul",
          {},
          ...finding.cases.map((found) =>
            h(
              "li",
              {},
              h("b", {}, found.subject),
              `: ${found.evidence}. Costs: ${found.cost}. Next: ${found.next}.`,
              found.repeats !== undefined && h("small", {}, ` in ${found.repeats} repeats`),
            ),
          ),
        ),
      ),
    ),
  );
  if (items.length === 0) return undefined;
  return section("findings", "Findings", "", h("ul", {}, ...items));
}
