// The answer first: what ran, where the time goes, and how it changed.
import { scaleLinear } from "d3-scale";
import { compare, ends, type Comparison, type Compared } from "./compare";
import type { Page } from "./shapes";
import { canvas, drawing, h, s } from "./dom";
import { count, factor, ms, percent, significant } from "./format";
import { machineOf } from "./machine";
import { laidOut, legend, MEANING, meanParts, nameOf, partsOf } from "./parts";
import { withTip } from "./tip";
import { only, verdicts } from "./verdict";

/** Title, answer, and one line for each run. */
export function headline(page: Page): HTMLElement {
  const comparison = compare(page);
  const first = page.runs[0];
  const header = h(
    "header",
    {},
    h(
      "p",
      { class: "overline" },
      "Tachograph report",
      first !== undefined && first.info.started_at !== "" && ` · ${first.info.started_at.slice(0, 10)}`,
    ),
  );
  const verdict = only(page);
  if (comparison?.chain.end_to_end_ms === undefined) {
    header.append(
      h("h1", {}, verdict?.text ?? "No end-to-end time was measured"),
      ...verdicts(page),
      h("p", { class: "answer" }, communication(page)),
    );
  } else {
    header.append(
      h("h1", {}, verdict?.text ?? title(comparison)),
      ...verdicts(page),
      ...answer(comparison),
      runTable(comparison),
      legend(partsOf(comparison.runs.map(({ figures }) => figures))),
    );
    for (const remark of remarks(page, comparison)) header.append(h("p", { class: "remark" }, remark));
  }
  for (const text of windows(page)) header.append(h("p", { class: "remark" }, text));
  for (const text of inDoubt(page)) header.append(h("p", { class: "remark" }, text));
  if (first !== undefined) {
    const machine = first.info.machine;
    header.append(
      h(
        "p",
        { class: "provenance" },
        h("code", {}, first.info.command.join(" ")),
        machine === undefined ? "" : ` on ${machine.host}: ${machineOf(machine)}`,
      ),
    );
  }
  return header;
}

/** The part of each run that does not count. */
export function windows(page: Page): string[] {
  const told = page.runs.filter((run) => run.window !== undefined);
  return told.map((run) => `${page.runs.length > 1 ? `${run.label}: ` : ""}${run.window}`);
}

function title({ chain, runs }: Comparison): string {
  const before = chain.end_to_end_ms?.mean;
  const best = fastest(runs.slice(1));
  if (best?.gain === undefined)
    return `${ends(chain)} takes ${ms(before)} on average, ${ms(chain.end_to_end_ms?.max)} at worst`;
  const change = best.gain >= 1 ? `${factor(best.gain)} faster` : `${factor(1 / best.gain)} slower`;
  return `${ends(chain)}: from ${ms(before)} to ${ms(best.figures?.end_to_end_ms?.mean)}, ${change}`;
}

function answer({ chain, runs }: Comparison): HTMLElement[] {
  const best = fastest(runs.slice(1));
  const shown = [runs[0], best].flatMap((entry) =>
    entry?.figures?.end_to_end_ms === undefined ? [] : [{ label: entry.run.label, figures: entry.figures }],
  );
  const shares = shown.map(({ label, figures }) =>
    h(
      "p",
      { class: "answer" },
      shown.length > 1 && h("b", {}, `${label}: `),
      shareSentence(figures.end_to_end_ms?.mean, meanParts(figures)),
    ),
  );
  const lost = chain.lost > 0 ? `, and ${count(chain.lost)} inputs that led to no output` : "";
  const guess =
    chain.guessed_at === undefined
      ? ""
      : ` It rests on a guess at ${chain.guessed_at.join(", ")}: state the link there in a links file.`;
  return [
    ...shares,
    h(
      "p",
      { class: "lead" },
      `The critical chain is ${chain.name}: ${Math.ceil(chain.path.length / 2)} nodes, ${count(chain.instances)} instances${lost}.${guess}`,
    ),
  ];
}

/** Parts by size: the largest with its meaning, and the others after it. */
function shareSentence(whole: number | undefined, parts: ReturnType<typeof meanParts>): string {
  if (whole === undefined || whole <= 0 || parts.length === 0) return "Its parts were not measured.";
  const [most, ...rest] = [...parts].sort((a, b) => b.ms - a.ms);
  if (most === undefined) return "";
  const others = rest.map(({ part, ms }) => `${nameOf(part)} ${percent(ms / whole)}`).join(", ");
  return `${percent(most.ms / whole)} is ${nameOf(most.part)}: ${MEANING[most.part]}. ${others === "" ? "" : `The rest: ${others}.`}`;
}

function fastest(runs: Compared[]): Compared | undefined {
  return runs.filter((entry) => entry.gain !== undefined).sort((a, b) => (b.gain ?? 0) - (a.gain ?? 0))[0];
}

function runTable({ runs }: Comparison): HTMLElement {
  const longest = Math.max(...runs.map(({ figures }) => figures?.end_to_end_ms?.mean ?? 0));
  const rows = runs.map((entry, i) => {
    const whole = entry.figures?.end_to_end_ms;
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, entry.run.label),
      h("td", {}, ms(whole?.mean), repeatRange(entry)),
      h("td", {}, ms(whole?.max)),
      runs.length > 1 && h("td", { class: "gain" }, i === 0 ? "" : factor(entry.gain), i > 0 && gainRange(entry)),
      h("td", { class: "strip" }, strip(entry, longest)),
    );
  });
  return h(
    "table",
    { class: "runs" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("td", {}),
        h("th", { scope: "col" }, "mean"),
        h("th", { scope: "col" }, "worst"),
        runs.length > 1 && h("th", { scope: "col" }, "gain"),
        h("th", { scope: "col", class: "strip" }, "mean, by part"),
      ),
    ),
    h("tbody", {}, ...rows),
  );
}

/** Least and greatest mean of the repeats. */
function repeatRange({ figures }: Compared): HTMLElement | false {
  const repeats = figures?.repeat_means_ms;
  return (
    repeats !== undefined &&
    repeats.count > 1 &&
    h("small", {}, `${significant(repeats.min)} to ${significant(repeats.max)} in ${repeats.count} repeats`)
  );
}

/** Least and greatest gain of a single pair of repeats, if the run was proved. */
function gainRange({ run, gain }: Compared): HTMLElement | false {
  const ratio = gain === undefined ? undefined : run.proof?.ratio;
  return ratio !== undefined && h("small", {}, `${factor(ratio.least)} to ${factor(ratio.greatest)}`);
}

function strip(entry: Compared, longest: number): HTMLElement {
  return drawing(`mean of ${entry.run.label} by part`, (width) => {
    const svg = canvas(width, 20);
    const x = scaleLinear([0, longest], [0, width]);
    for (const { part, ms: mean, from } of entry.figures === undefined ? [] : laidOut(meanParts(entry.figures))) {
      const rect = s("rect", { class: `part ${part}`, x: x(from), y: 2, width: x(mean), height: 16 });
      svg.append(
        withTip(rect, [
          `${entry.run.label}: ${part}`,
          `${ms(mean)}, ${percent(mean / (entry.figures?.end_to_end_ms?.mean ?? Number.NaN))}`,
          MEANING[part],
        ]),
      );
    }
    return svg;
  });
}

function remarks(page: Page, { chain, runs }: Comparison): string[] {
  const found: string[] = [];
  for (const entry of runs) {
    if (entry.figures === undefined) found.push(`${entry.run.label} has no chain with this path.`);
    if (entry.otherCritical !== undefined && entry.figures !== undefined) {
      const other = entry.otherCritical;
      found.push(
        `In ${entry.run.label} another chain is critical: ${other.name}, ${ms(other.end_to_end_ms?.max)} at worst. The figures here stay with ${chain.name}.`,
      );
    }
  }
  const hosts = new Set(
    page.runs.map(({ info: { machine } }) =>
      [machine?.host, machine?.cpu, machine?.cpus, machine?.kernel, machine?.preemption].join("\n"),
    ),
  );
  if (hosts.size > 1) found.push("These runs are of different machines or kernels: part of the difference is theirs.");
  return found;
}

/** Why figures are absent: messages of a run could not be linked to their publications. */
export function inDoubt(page: Page): string[] {
  const of = ({ label, in_doubt }: Page["runs"][number]): string[] => {
    const which = page.runs.length > 1 ? ` in ${label}` : "";
    return in_doubt.map((note) => `In doubt${which}: ${note.count} ${note.text}.`);
  };
  return page.runs.flatMap(of);
}

function communication(page: Page): string {
  const point = page.runs[0]?.summary.points[0];
  if (point === undefined)
    return "This run has no chain whose outputs could be followed back to their inputs. Topics and callbacks are below, as far as they were seen.";
  const loss = point.loss_percent === undefined ? "" : `, ${count(point.lost)} lost`;
  return `${count(point.sent)} messages sent, ${count(point.received)} received${loss}. No output could be followed back to its input.`;
}
