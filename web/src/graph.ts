// Nodes and topics, the critical chain lit.
import { curveBasis, line } from "d3-shape";
import type { Comparison } from "./compare";
import type { Page } from "./shapes";
import { drawing, h, s, section } from "./dom";
import { ABSENT, count, fixed, significant } from "./format";
import { graphModel, HOUSEKEEPING, place, type GraphModel, type Placed, type PlacedEdge } from "./graph-model";
import { addressOf } from "./subject/address";
import { hide, show, withTip } from "./tip";

/** Least scale at which the names can be read. */
const SMALLEST = 0.8;

/** The graph as a section; absent without nodes. `lead` stands for the sentence of what is lit. */
export function graph(page: Page, comparison: Comparison | undefined, lead?: string): HTMLElement | undefined {
  const model = graphModel(page.runs, comparison?.chain.path ?? []);
  if (model.nodes.length === 0) return undefined;
  const placed = place(model);
  const lit =
    comparison === undefined
      ? "No chain is critical: none has an end-to-end time."
      : `The critical chain, ${comparison.chain.name}, is lit: of all paths, the one with the highest worst case.`;
  const left = HOUSEKEEPING.filter((name) =>
    page.runs.some(({ summary }) => summary.topics.some(({ topic }) => topic === name)),
  );
  const omitted = left.length === 0 ? "" : ` ${left.join(" and ")} ${left.length === 1 ? "is" : "are"} not drawn.`;
  return section(
    "graph",
    "Nodes and topics",
    `${lead ?? lit} Point at a line, or step through with Tab, for its topic's rate, latency and loss.${omitted}`,
    h(
      "div",
      { class: "wide" },
      drawing("graph of nodes and topics", (width) => drawn(page, model, placed, width)),
    ),
  );
}

/** Shrunk to the width as long as names stay readable; a wider graph scrolls. */
function drawn(page: Page, model: GraphModel, placed: Placed, available: number): SVGSVGElement {
  const [width, height] = [Math.ceil(placed.width) + 4, Math.ceil(placed.height) + 4];
  const scale = Math.min(1, Math.max(available / width, SMALLEST));
  const svg = s("svg", { width: width * scale, height: height * scale, viewBox: `0 0 ${width} ${height}` });
  svg.append(s("defs", {}, arrow("arrow"), arrow("arrow-critical")));
  const curve = line<{ x: number; y: number }>(
    (p) => p.x,
    (p) => p.y,
  ).curve(curveBasis);
  const edges = [...placed.edges].sort((a, b) => Number(a.critical) - Number(b.critical));
  for (const edge of edges) {
    const path = curve(edge.points) ?? "";
    const drawn = s(
      "g",
      { class: edge.critical ? "edge critical" : "edge" },
      s("path", { "class": "line", "d": path, "marker-end": `url(#${edge.critical ? "arrow-critical" : "arrow"})` }),
      s("path", { class: "reach", d: path }),
    );
    svg.append(withTip(drawn, edgeTip(page, edge), true));
  }
  for (const node of placed.nodes) {
    const text = s(
      "text",
      { "text-anchor": "middle" },
      ...node.lines.map((part, i) => s("tspan", { x: 0, y: (i - (node.lines.length - 1) / 2) * 15 + 4 }, part)),
    );
    const box = s("rect", { x: -node.width / 2, y: -node.height / 2, width: node.width, height: node.height, rx: 4 });
    const drawn = s(
      "g",
      { class: node.critical ? "node critical" : "node", transform: `translate(${node.x},${node.y})` },
      box,
      text,
    );
    const tip = nodeTip(model, node.name);
    const link = s("a", { href: addressOf({ kind: "node", name: node.name }) }, withTip(drawn, tip));
    link.addEventListener("focus", () => show(tip, link.getBoundingClientRect()));
    link.addEventListener("blur", hide);
    svg.append(link);
  }
  return svg;
}

function arrow(id: string): SVGElement {
  return s(
    "marker",
    {
      id,
      viewBox: "0 0 8 8",
      refX: 7.5,
      refY: 4,
      markerWidth: 8,
      markerHeight: 8,
      markerUnits: "userSpaceOnUse",
      orient: "auto",
    },
    s("path", { d: "M0.5,1 L7.5,4 L0.5,7 z" }),
  );
}

/** Rate, latency and loss of each topic on a line, in each run. */
function edgeTip(page: Page, edge: PlacedEdge): string[] {
  const lines = [`${edge.from} → ${edge.to}`];
  for (const name of edge.topics) {
    lines.push(name);
    for (const { label, summary } of page.runs) {
      const topic = summary.topics.find((candidate) => candidate.topic === name);
      const latency = topic?.latency_us;
      const figures = `${fixed(topic?.rate_hz, 2)} Hz, latency median ${significant(latency?.median)} µs, p99 ${significant(latency?.p99)} µs, lost ${count(topic?.lost)} of ${topic === undefined ? ABSENT : count(topic.received + (topic.lost ?? 0))}`;
      lines.push(page.runs.length > 1 ? `${label}: ${figures}` : figures);
    }
  }
  return lines;
}

function nodeTip(model: GraphModel, name: string): string[] {
  const inputs = new Set(model.edges.filter((edge) => edge.to === name).map((edge) => edge.topic));
  const outputs = new Set(model.edges.filter((edge) => edge.from === name).map((edge) => edge.topic));
  return [
    name,
    ...(inputs.size > 0 ? [`takes ${[...inputs].join(", ")}`] : []),
    ...(outputs.size > 0 ? [`publishes ${[...outputs].join(", ")}`] : []),
  ];
}
