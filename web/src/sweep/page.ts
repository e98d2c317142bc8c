// The page of a sweep: a study's figures and what it found beside ours, then latency, deliveries, subscribers, course, and every point.
import type { Page, Sweep } from "../shapes";
import { h } from "../dom";
import { pointLayers } from "../layers";
import { machineOf } from "../machine";
import { provenance } from "../provenance";
import { statements } from "../study";
import { boxes } from "./boxes";
import { course } from "./course";
import { deliveries } from "./deliveries";
import { ours } from "./measures";
import { dimensions, words } from "./model";
import { lacking, table } from "./points";
import { studyFigures } from "./study-figures";
import { subscribers } from "./subscribers";

/** Sections of a sweep, or of several of one experiment. */
export function sweepSections(page: Page, sweep: Sweep): HTMLElement[] {
  const telling = dimensions(sweep.points, sweep.parameters);
  return [
    header(page, sweep, telling),
    lacking(sweep),
    sweep.study === null ? undefined : studyFigures(sweep.study.figures, sweep.points),
    sweep.study === null
      ? undefined
      : statements(
          sweep.study,
          page.runs.map(({ info }) => info),
          (measure) => ours(sweep.points, measure),
        ),
    boxes(sweep.points, telling),
    pointLayers(sweep.points),
    deliveries(sweep.points),
    subscribers(sweep.points),
    course(sweep.points),
    table(sweep, telling),
    provenance(page),
  ].filter((part) => part !== undefined);
}

function header({ runs }: Page, { points, study }: Sweep, telling: readonly string[]): HTMLElement {
  const measured = points.filter(({ figures }) => figures !== null).length;
  const started = runs.map(({ info }) => info.started_at.slice(0, 10));
  return h(
    "header",
    {},
    h(
      "p",
      { class: "overline" },
      `Tachograph report · ${[...new Set(started)].join(", ")}${study === null ? "" : ` · study ${study.id}`}`,
    ),
    h("h1", {}, study?.title ?? `${measured} points by ${telling.map(words).join(", ")}`),
    h(
      "p",
      { class: "answer" },
      `${measured} of ${points.length} points were measured, by ${telling.map(words).join(", ")}.`,
    ),
    runs.some(({ info }) => info.command.includes("--short")) &&
      h(
        "p",
        { class: "remark" },
        "This is the short form: fewer points, and less time for each, than the whole experiment has.",
      ),
    ...runs.map(({ info: { command, machine } }) =>
      h(
        "p",
        { class: "provenance" },
        h("code", {}, command.join(" ")),
        machine === undefined ? "" : ` on ${machine.host}: ${machineOf(machine)}`,
      ),
    ),
  );
}
