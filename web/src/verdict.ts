// What stands out in each run, whose fault it is, and what to try: the first thing on the page.
import type { Culprit, Page, Verdict } from "./shapes";
import { h } from "./dom";
import { count, significant } from "./format";

/** Culprits that are shown at once; the others unfold. */
const SHOWN = 3;

/** What would be left without a culprit; empty where nobody knows. */
export function estimate(verdict: Verdict, culprit: Culprit): string {
  const { worst_without_ms: left, late_without: late } = culprit;
  if (verdict.worst_ms === undefined || left === undefined || left >= verdict.worst_ms) return "";
  const of =
    late === undefined || verdict.late_cases === 0 ? "" : `, ${count(late)} of ${count(verdict.late_cases)} late`;
  return ` Then about ${significant(left)} ms at worst${of} (estimate).`;
}

/** The verdict of the only run, which is the headline. */
export function only(page: Page): Verdict | undefined {
  return page.runs.length === 1 ? page.runs[0]?.summary.verdict : undefined;
}

/** The culprits of each run; of several runs with the sentence about each. */
export function verdicts(page: Page): HTMLElement[] {
  return page.runs.flatMap((run) => {
    const { verdict } = run.summary;
    if (verdict === undefined) return [];
    const items = verdict.culprits.map((culprit) =>
      h("li", {}, culprit.text, h("p", {}, h("b", {}, "Try: "), `${culprit.next}${estimate(verdict, culprit)}`)),
    );
    const folded = items.slice(SHOWN);
    return [
      h(
        "div",
        { class: "verdict" },
        page.runs.length > 1 && h("p", { class: "answer" }, h("b", {}, `${run.label}: `), verdict.text),
        items.length > 0 && h("ol", {}, ...items.slice(0, SHOWN)),
        folded.length > 0 &&
          h("details", {}, h("summary", {}, `and ${folded.length} more`), h("ol", { start: SHOWN + 1 }, ...folded)),
      ),
    ];
  });
}
