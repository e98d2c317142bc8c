// The page: the answer, then the evidence for it.
import "./style/page.css";
import "./style/figures.css";
import "./style/timeline.css";
import "./style/top-view.css";
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
import { studyOfRuns } from "./study-of-runs";
import { asked } from "./subject/address";
import { finder, subjectSections } from "./subject/page";
import { laidOver } from "./sweep/laid-over";
import { sweepSections } from "./sweep/page";
import { tables } from "./tables";
import { timeline } from "./timeline/section";
import { topView } from "./top-view/section";
import { waterfall } from "./waterfall";

function show(report: HTMLElement): void {
  const page = parse(document.getElementById("tacho-data")?.textContent ?? "");
  document.title = `Tachograph: ${page.runs.map(({ label }) => label).join(", ")}`;
  const sweep = laidOver(page.runs);
  if (sweep !== undefined) {
    report.replaceChildren(patterns(), ...sweepSections(page, sweep));
    return;
  }
  const subject = asked(location.hash);
  if (subject !== undefined) {
    document.title = `Tachograph: ${subject.name}`;
    const shown = subjectSections(page, subject).filter((section) => section !== undefined);
    report.replaceChildren(patterns(), ...shown);
    scrollTo(0, 0);
    return;
  }
  const comparison = compare(page);
  const sections = [
    headline(page),
    notes(page),
    studyOfRuns(page),
    graph(page, comparison),
    comparison && waterfall(comparison),
    topView(page),
    timeline(page),
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
  const shown = [head, finder(page), contents(sections), ...others].filter((section) => section !== undefined);
  report.replaceChildren(patterns(), ...shown);
  // The browser looked for the section of its address before it was drawn.
  const place = location.hash.startsWith("#timeline=") ? "timeline" : location.hash.slice(1);
  if (place !== "") document.getElementById(place)?.scrollIntoView();
}

const report = document.getElementById("report");
if (report !== null) {
  try {
    show(report);
    let subject = asked(location.hash);
    addEventListener("hashchange", () => {
      const [before, now] = [subject, asked(location.hash)];
      subject = now;
      // Between places of one page, the browser scrolls by itself.
      if (before !== undefined || now !== undefined) show(report);
    });
  } catch (error) {
    report.replaceChildren(
      h("h1", {}, "This report cannot be shown"),
      h("p", { class: "answer" }, error instanceof Error ? error.message : String(error)),
    );
    throw error;
  }
}
