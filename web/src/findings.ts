// The findings of the lints: evidence, cost, next step.
import type { Finding, FindingCase, Page } from "./shapes";
import { h, section } from "./dom";

/** How many cases of a finding are shown at once if there are more; the others unfold. */
const SHOWN = 2;

/** Findings of all runs; absent if there is none. */
export function findings(page: Page): HTMLElement | undefined {
  const items = page.runs.flatMap((run) =>
    (run.summary.findings ?? []).map((finding) => item(finding, page.runs.length > 1 ? run.label : undefined)),
  );
  if (items.length === 0) return undefined;
  return section("findings", "Findings", "", h("ul", {}, ...items));
}

/**
 * Splits a finding into what is shown at once, what unfolds, and what to try. The last is the same for all cases, or
 * `undefined` if each case has its own.
 */
export function parts(finding: Finding): { shown: FindingCase[]; folded: FindingCase[]; next: string | undefined } {
  const { cases } = finding;
  // The line that unfolds them takes the room of one.
  const many = cases.length > SHOWN + 1;
  const next = cases[0]?.next;
  return {
    shown: many ? cases.slice(0, SHOWN) : cases,
    folded: many ? cases.slice(SHOWN) : [],
    next: cases.every((found) => found.next === next) ? next : undefined,
  };
}

function item(finding: Finding, run: string | undefined): HTMLElement {
  const { shown, folded, next } = parts(finding);
  const untold = finding.count - finding.cases.length;
  const line = (found: FindingCase) =>
    h(
      "li",
      {},
      h("b", {}, found.subject),
      `: ${found.evidence}. Costs: ${found.cost}.`,
      next === undefined && ` Next: ${found.next}.`,
      found.repeats !== undefined && h("small", {}, ` in ${found.repeats} repeats`),
    );
  return h(
    "li",
    {},
    h("b", {}, finding.lint),
    finding.count > 1 && ` (${finding.count})`,
    `: ${finding.finds}`,
    run !== undefined && h("small", {}, ` ${run}`),
    h("ul", {}, ...shown.map(line)),
    folded.length > 0 &&
      h("details", {}, h("summary", {}, `and ${folded.length} more`), h("ul", {}, ...folded.map(line))),
    untold > 0 && h("p", {}, `and ${untold} that are counted only`),
    next !== undefined && h("p", {}, `Next: ${next}.`),
  );
}
