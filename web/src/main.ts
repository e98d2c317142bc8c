// The page: the answer, then the evidence for it.
import "./style/page.css";
import "./style/figures.css";
import "./style/timeline.css";
import "./style/top-view.css";
import "./style/live.css";
import "./style/narrow-and-print.css";
import { causes } from "./causes";
import { checks } from "./checks";
import { compare } from "./compare";
import { contents } from "./contents";
import { parse } from "./data";
import { distributions } from "./distributions";
import { h } from "./dom";
import { findings } from "./findings";
import { graph } from "./graph";
import { headline } from "./headline";
import { objective } from "./objective";
import { patterns } from "./parts";
import { proofs } from "./proof";
import { notes, provenance } from "./provenance";
import { layers } from "./layers";
import { follow } from "./live";
import { studyOfRuns } from "./study-of-runs";
import { asked, onSubjectChange } from "./subject/address";
import { finder, subjectSections } from "./subject/page";
import { laidOver } from "./sweep/laid-over";
import { sweepSections } from "./sweep/page";
import { tables } from "./tables";
import { timeline } from "./timeline/section";
import { topView } from "./top-view/section";
import { waterfall } from "./waterfall";
import type { Page } from "./shapes";

/** What is on the page, of the address that is open. */
function elements(page: Page): HTMLElement[] {
  const sweep = laidOver(page.runs);
  const subject = sweep === undefined ? asked(location.hash) : undefined;
  document.title = `Tachograph: ${subject?.name ?? page.runs.map(({ label }) => label).join(", ")}`;
  if (sweep !== undefined) return [...sweepSections(page, sweep)];
  if (subject !== undefined) return subjectSections(page, subject).filter((section) => section !== undefined);
  const comparison = compare(page);
  const overTime = [topView(page), timeline(page)];
  const sections = [
    headline(page),
    notes(page),
    // Of a run that goes on, what happens now comes first.
    ...(page.live !== undefined ? overTime : []),
    studyOfRuns(page),
    graph(page, comparison),
    comparison && waterfall(comparison),
    ...(page.live === undefined ? overTime : []),
    comparison && distributions(comparison),
    causes(page),
    findings(page),
    proofs(page.runs),
    objective(page.runs),
    checks(page.runs),
    layers(page),
    tables(page),
    provenance(page),
  ];
  const [head, ...others] = [...sections];
  return [head, finder(page), contents(sections), ...others].filter((section) => section !== undefined);
}

function show(report: HTMLElement, page: Page): void {
  report.replaceChildren(patterns(), ...elements(page));
  if (asked(location.hash) !== undefined) return scrollTo(0, 0);
  // The browser looked for the section of its address before it was drawn.
  const place = location.hash.startsWith("#timeline=") ? "timeline" : location.hash.slice(1);
  if (place !== "") document.getElementById(place)?.scrollIntoView();
}

const report = document.getElementById("report");
if (report !== null) {
  try {
    const page = parse(document.getElementById("tacho-data")?.textContent ?? "");
    if (page.live !== undefined) follow(report, page, (state) => [patterns(), ...elements(state)]);
    else {
      show(report, page);
      onSubjectChange(() => show(report, page));
    }
  } catch (error) {
    report.replaceChildren(
      h("h1", {}, "This report cannot be shown"),
      h("p", { class: "answer" }, error instanceof Error ? error.message : String(error)),
    );
    throw error;
  }
}
