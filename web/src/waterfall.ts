// The critical chain, one instance at a time: all runs on one scale, then each on its own scale.
import { scaleLinear } from "d3-scale";
import { xAxis } from "./axis";
import type { Comparison } from "./compare";
import type { HopMeans, PageHop, PageInstance, Rank } from "./shapes";
import { canvas, drawing, h, s, section } from "./dom";
import { ABSENT, fixed, ms } from "./format";
import { legend, MEANING, partsOf, type Part } from "./parts";
import { choice } from "./choice";
import { sortable } from "./sortable";
import { withTip } from "./tip";
import { stretches, waited, waterfallOf, type Stretch } from "./waterfall-model";

interface Shown {
  label: string;
  instance: PageInstance;
}

/** The waterfall as a section; absent if no run has an instance with its hops. */
export function waterfall(comparison: Comparison): HTMLElement | undefined {
  const shown = (rank: Rank): Shown[] =>
    comparison.runs.flatMap(({ run, drawn }) => {
      const instance = drawn?.instances.find((candidate) => candidate.rank === rank && candidate.hops.length > 0);
      return instance === undefined ? [] : [{ label: run.label, instance }];
    });
  const all = (["median", "worst"] as const).flatMap((rank) => shown(rank));
  if (all.length === 0) return undefined;
  const parts = new Set<Part>([
    ...partsOf([]), // preemption only if an instance has it
    ...all.flatMap(({ instance }) => waterfallOf(instance)).map(({ part }) => part),
  ]);

  const staircases = h("div", { class: "staircases" });
  const fill = (rank: Rank): void => staircases.replaceChildren(...shown(rank).map((entry) => staircase(entry)));
  fill("median");
  return section(
    "waterfall",
    "The chain, step by step",
    "Each instance is one output followed back to the input it descends from. The median instance is the one whose end-to-end time is the median, or the lower of two.",
    legend([...parts]),
    h("h3", {}, "All on one scale"),
    oneScale(comparison, shown),
    h("h3", {}, "Each on its own scale"),
    choice("instance", ["best", "median", "worst"] as const, "median", fill),
    staircases,
    ...hopMeans(comparison),
  );
}

function oneScale(comparison: Comparison, shown: (rank: Rank) => Shown[]): HTMLElement {
  const rows = comparison.runs.flatMap(({ run }) =>
    (["median", "worst"] as const).flatMap((rank) =>
      shown(rank)
        .filter(({ label }) => label === run.label)
        .map((entry) => ({ ...entry, rank })),
    ),
  );
  const longest = Math.max(...rows.map(({ instance }) => instance.end_to_end_ms));
  return drawing("median and worst instance of each run on one time axis", (width) => {
    const [left, right, step] = [width < 600 ? 132 : 170, 60, 26];
    const svg = canvas(width, rows.length * step + 44);
    const x = scaleLinear([0, longest], [left, width - right]);
    svg.append(
      xAxis(
        x,
        x.ticks(width < 600 ? 4 : 8),
        rows.length * step + 2,
        0,
        "ms since the first node's callback began",
        width - right,
      ),
    );
    rows.forEach(({ label, instance, rank }, i) => {
      const y = i * step + (rank === "worst" ? 0 : 4);
      svg.append(
        s(
          "text",
          { "class": "row-label", "x": left - 10, "y": y + 13, "text-anchor": "end" },
          rank === "median" ? s("tspan", {}, fit(label, left - 62)) : null,
          s("tspan", { class: "faint", dx: rank === "median" ? 5 : 0 }, rank),
        ),
      );
      for (const stretch of waterfallOf(instance)) svg.append(bar(stretch, instance, x, y, 18));
      svg.append(
        s("text", { class: "value", x: x(instance.end_to_end_ms) + 6, y: y + 13 }, ms(instance.end_to_end_ms)),
      );
    });
    return svg;
  });
}

function staircase({ label, instance }: Shown): HTMLElement {
  const figure = drawing(`${label}, ${instance.rank} instance, by node`, (width) => {
    const narrow = width < 600;
    const [left, right, step, top] = [narrow ? 104 : 170, narrow ? 8 : 176, 22, 18];
    const bottom = top + instance.hops.length * step + 4;
    const svg = canvas(width, bottom + 40);
    const x = scaleLinear([0, instance.end_to_end_ms], [left, width - right]);
    svg.append(xAxis(x, x.ticks(narrow ? 4 : 8), bottom, top, "ms", width - right));
    if (!narrow) {
      svg.append(
        s("text", { "class": "column", "x": width - 100, "y": 10, "text-anchor": "end" }, "waits, ms"),
        s("text", { "class": "column", "x": width, "y": 10, "text-anchor": "end" }, "inside, ms"),
      );
    }
    instance.hops.forEach((hop, position) => {
      const y = top + position * step;
      const row = s(
        "g",
        { class: "hop" },
        s("rect", { class: "reach", x: 0, y, width, height: step }),
        s(
          "text",
          { "class": "row-label", "x": left - 10, "y": y + 15, "text-anchor": "end" },
          fit(hop.node, left - 14),
        ),
      );
      for (const stretch of stretches(hop, position)) row.append(bar(stretch, instance, x, y + 3, step - 6));
      if (position > 0 && hop.published_ms !== null)
        row.append(
          s("line", { class: "hand-over", x1: x(hop.published_ms), x2: x(hop.published_ms), y1: y - 3, y2: y + 3 }),
        );
      if (!narrow) {
        row.append(
          s("text", { "class": "figure", "x": width - 100, "y": y + 15, "text-anchor": "end" }, fixed(waited(hop), 2)),
          s(
            "text",
            { "class": "figure", "x": width, "y": y + 15, "text-anchor": "end" },
            fixed(hop.output_ms - hop.start_ms, 2),
          ),
        );
      }
      svg.append(withTip(row, hopTip(hop, position), true));
    });
    return svg;
  });
  return h(
    "figure",
    {},
    h("figcaption", {}, h("b", {}, label), `, ${instance.rank} instance: ${ms(instance.end_to_end_ms)}`),
    figure,
  );
}

function bar(
  stretch: Stretch,
  instance: PageInstance,
  x: (value: number) => number,
  y: number,
  height: number,
): SVGElement {
  const rect = s("rect", {
    class: `part ${stretch.part}`,
    x: x(stretch.from),
    y,
    width: Math.max(x(stretch.to) - x(stretch.from), 0.4),
    height,
  });
  const node = instance.hops[stretch.position]?.node ?? ABSENT;
  return withTip(rect, [
    `${node}: ${told(stretch)}`,
    `from ${fixed(stretch.from, 2)} to ${fixed(stretch.to, 2)} ms`,
    MEANING[stretch.part],
  ]);
}

/** A stretch in words: what, who had the CPU or woke it, how long. */
function told({ part, from, to, by, unplaced }: Stretch): string {
  const length = ms(to - from);
  if (part === "preemption" && by !== undefined) return `preempted by ${by} ${length}`;
  if (part !== "off_cpu") return `${part} ${length}`;
  if (unplaced) return `off CPU ${length}, when is not known`;
  return `blocked ${length}, woken by ${by ?? "an interrupt (a timer or a device)"}`;
}

function hopTip(hop: PageHop, position: number): string[] {
  return [
    hop.node,
    ...(hop.topic === null ? [] : [`input ${hop.topic}`]),
    ...stretches(hop, position).map(told),
    `output at ${fixed(hop.output_ms, 2)} ms`,
  ];
}

/** Mean parts of each node, a table for each run. */
function hopMeans(comparison: Comparison): HTMLElement[] {
  return comparison.runs
    .filter(({ drawn }) => (drawn?.hops.length ?? 0) > 0)
    .map(({ run, drawn }) =>
      h(
        "details",
        {},
        h("summary", {}, `Mean of each node: ${run.label}, ${drawn?.hops[0]?.count ?? 0} instances`),
        sortable(drawn?.hops ?? [], [
          { title: "node", value: (hop) => hop.node },
          { title: "waits", unit: "ms", decimals: 3, value: (hop) => hop.waited_ms },
          { title: "transport", unit: "ms", decimals: 3, value: (hop) => waitedFor(hop, "transport") },
          { title: "alignment", unit: "ms", decimals: 3, value: (hop) => waitedFor(hop, "alignment") },
          { title: "queueing", unit: "ms", decimals: 3, value: (hop) => waitedFor(hop, "queueing") },
          { title: "kept", unit: "ms", decimals: 3, value: (hop) => waitedFor(hop, "kept") },
          { title: "computation", unit: "ms", decimals: 3, value: (hop) => hop.parts.computation_ms },
          { title: "off CPU", unit: "ms", decimals: 3, value: (hop) => hop.parts.off_cpu_ms },
          { title: "preemption", unit: "ms", decimals: 3, value: (hop) => hop.parts.preemption_ms },
        ]),
      ),
    );
}

/** A part of the wait for a callback: the first node has none, and if alignment is absent, so is transport. */
function waitedFor(
  { waited_ms, parts }: HopMeans,
  part: "transport" | "alignment" | "queueing" | "kept",
): number | undefined {
  const untold = part === "transport" && parts.alignment_ms === undefined;
  return waited_ms === null || untold ? undefined : parts[`${part}_ms`];
}

/** A label shortened in the middle to about `width` pixels of 13 px type. */
export function fit(text: string, width: number): string {
  const most = Math.max(Math.floor(width / 6.7), 4);
  return text.length <= most
    ? text
    : `${text.slice(0, Math.ceil((most - 1) / 2))}…${text.slice(text.length - Math.floor((most - 1) / 2))}`;
}
