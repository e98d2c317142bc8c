// The page of a sweep: what a study found beside ours, then latency, deliveries, subscribers, course, and every point.
import type { Page, Run, Sweep } from "../data";
import { h } from "../dom";
import { pointLayers } from "../layers";
import { provenance } from "../provenance";
import { statements } from "../study";
import { boxes } from "./boxes";
import { course, subscribers } from "./chosen";
import { deliveries } from "./deliveries";
import { ours } from "./measures";
import { dimensions, words } from "./model";
import { lacking, table } from "./points";

/** Sections of a sweep. */
export function sweepSections(page: Page, run: Run, sweep: Sweep): HTMLElement[] {
  const telling = dimensions(sweep.points, sweep.parameters);
  return [
    header(run, sweep, telling),
    lacking(sweep),
    sweep.study === null ? undefined : statements(sweep.study, run.info, (measure) => ours(sweep.points, measure)),
    boxes(sweep.points, telling),
    pointLayers(sweep.points),
    deliveries(sweep.points),
    subscribers(sweep.points),
    course(sweep.points),
    table(sweep, telling),
    provenance(page),
  ].filter((part) => part !== undefined);
}

function header({ info }: Run, { points, study }: Sweep, telling: readonly string[]): HTMLElement {
  const measured = points.filter(({ figures }) => figures !== null).length;
  const machine = info.machine;
  return h(
    "header",
    {},
    h("p", { class: "overline" }, `Tachograph report · ${info.started_at.slice(0, 10)}${study === null ? "" : ` · study ${study.id}`}`),
    h("h1", {}, study?.title ?? `${measured} points by ${telling.map(words).join(", ")}`),
    h("p", { class: "answer" }, `${measured} of ${points.length} points were measured, by ${telling.map(words).join(", ")}.`),
    info.command.includes("--short") &&
      h("p", { class: "remark" }, "This is the short form: fewer points, and less time for each, than the whole experiment has."),
    h(
      "p",
      { class: "provenance" },
      h("code", {}, info.command.join(" ")),
      machine === undefined ? "" : ` on ${machine.host}: ${machine.cpu}, ${machine.cpus} CPUs, Linux ${machine.kernel} ${machine.preemption}`,
    ),
  );
}
