// What is missing or doubtful, and where everything ran.
import type { Page, PageRun } from "./shapes";
import { h, section } from "./dom";
import { ABSENT, bytes, count, fixed } from "./format";
import { ends } from "./processes";

/** Notes of all runs, each text once; absent when there is none. */
export function notes(page: Page): HTMLElement | undefined {
  const found = new Map<string, { text: string; name: string; count: number; runs: string[] }>();
  for (const run of page.runs) {
    for (const note of runNotes(run)) {
      const key = JSON.stringify([note.name, note.text, note.count]);
      const entry = found.get(key) ?? { ...note, runs: [] };
      entry.runs.push(run.label);
      found.set(key, entry);
    }
  }
  if (found.size === 0) return undefined;
  const items = [...found.values()].map((note) =>
    h(
      "li",
      {},
      h("b", {}, note.name),
      note.count > 0 && ` (${count(note.count)})`,
      `: ${note.text}`,
      page.runs.length > 1 &&
        h("small", {}, ` ${note.runs.length === page.runs.length ? "all runs" : note.runs.join(", ")}`),
    ),
  );
  return h(
    "section",
    { "id": "notes", "class": "notes", "aria-labelledby": "notes-title" },
    h("h2", { id: "notes-title" }, "Missing, doubtful or lost"),
    h("ul", {}, ...items),
  );
}

function runNotes(run: PageRun): { name: string; count: number; text: string }[] {
  const { info, notes, summary } = run;
  const dropped = summary.points.reduce((sum, point) => sum + point.dropped_events, 0);
  return [
    ...(info.cut_short
      ? [{ name: "cut short", count: 0, text: "the run ended early; figures are of what is there" }]
      : []),
    ...info.missing.map((text) => ({ name: "missing", count: 0, text })),
    ...(info.failed_starts ?? []).map((text) => ({
      name: "started again",
      count: 0,
      text: `nothing was measured yet: ${text}`,
    })),
    ...(dropped > 0
      ? [
          {
            name: "dropped events",
            count: dropped,
            text: "the recorder had no space for them: counts are too low and times near them doubtful",
          },
        ]
      : []),
    ...ends(info.processes),
    ...notes,
  ];
}

/** Machine and versions, a column a run. */
export function provenance(page: Page): HTMLElement {
  const rows: [string, (run: PageRun) => string][] = [
    ["run directory", ({ directory }) => directory],
    ["command", ({ info }) => info.command.join(" ")],
    ["started", ({ info }) => info.started_at || ABSENT],
    ["imported", ({ info }) => info.imported_at ?? ABSENT],
    ["tracer", ({ info }) => list(info.traces, ({ tracer, tracer_version }) => `${tracer} ${tracer_version}`)],
    ["duration", ({ info }) => `${fixed(info.duration_s, 1)} s`],
    ["host", ({ info }) => info.machine?.host ?? list(info.traces, ({ host }) => host)],
    ["CPU", ({ info: { machine } }) => (machine === undefined ? ABSENT : `${machine.cpu}, ${machine.cpus} usable`)],
    ["memory", ({ info }) => bytes(info.machine?.memory_bytes)],
    [
      "kernel",
      ({ info: { machine } }) => (machine === undefined ? ABSENT : `${machine.kernel}, ${machine.preemption}`),
    ],
    ["frequency governor", ({ info }) => info.machine?.governor ?? ABSENT],
    ["clock source", ({ info }) => info.machine?.clocksource ?? ABSENT],
    ["tacho", ({ info }) => info.tacho_version],
    ...[...new Set(page.runs.flatMap(({ info }) => Object.keys(info.versions)))]
      .sort()
      .map((name): [string, (run: PageRun) => string] => [
        name,
        ({ info }) => new Map(Object.entries(info.versions)).get(name) ?? ABSENT,
      ]),
  ];
  const same = (value: (run: PageRun) => string): boolean => new Set(page.runs.map(value)).size === 1;
  const body = rows.map(([name, value]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      ...(same(value)
        ? [fact(value(page.runs[0] as PageRun), page.runs.length)]
        : page.runs.map((run) => fact(value(run), 1))),
    ),
  );
  return section(
    "provenance",
    "Machine and versions",
    "",
    h(
      "div",
      { "class": "wide", "tabindex": 0, "role": "group", "aria-labelledby": "provenance-title" },
      h(
        "table",
        { class: "facts" },
        page.runs.length > 1 &&
          h("thead", {}, h("tr", {}, h("td", {}), ...page.runs.map(({ label }) => h("th", { scope: "col" }, label)))),
        h("tbody", {}, ...body),
      ),
    ),
    h(
      "p",
      { class: "provenance" },
      `Written by tacho ${page.tacho_version}. This file is complete in itself and fetches nothing.`,
    ),
  );
}

/** What the traces of an import contain about themselves, each text once. */
function list<Of>(of: Of[] | undefined, said: (one: Of) => string): string {
  return [...new Set((of ?? []).map(said).filter((text) => text.trim() !== ""))].join(", ") || ABSENT;
}

function fact(text: string, colspan: number): HTMLElement {
  return h("td", { colspan, ...(text === ABSENT ? { class: "absent", title: "not measured" } : {}) }, text);
}
