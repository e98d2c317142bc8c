// The graph of nodes and topics, and the places of its nodes and edges, left to right.
import { Graph, layout } from "@dagrejs/dagre";
import type { PageRun } from "./shapes";

export interface Edge {
  from: string;
  to: string;
  topic: string;
  critical: boolean;
}

export interface GraphModel {
  nodes: string[];
  edges: Edge[];
}

export interface PlacedNode {
  name: string;
  lines: string[];
  critical: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PlacedEdge {
  from: string;
  to: string;
  /** All topics from one node to the other, which are drawn as one line. */
  topics: string[];
  critical: boolean;
  points: { x: number; y: number }[];
}

export interface Placed {
  width: number;
  height: number;
  nodes: PlacedNode[];
  edges: PlacedEdge[];
}

/**
 * Topics that every ROS 2 node has. With them every node would be connected to every other, so they are not drawn.
 */
export const HOUSEKEEPING = ["/parameter_events", "/rosout"];

const LINE_CHARACTERS = 15;
const CHARACTER_WIDTH = 7.1;
const LINE_HEIGHT = 15;

/** Nodes and edges of all runs together, the critical chain's first. */
export function graphModel(runs: PageRun[], criticalPath: string[]): GraphModel {
  const nodes = new Set<string>(criticalPath.filter((_, i) => i % 2 === 0));
  const edges = new Map<string, Edge>();
  const add = (from: string, to: string, topic: string, critical: boolean): void => {
    const key = JSON.stringify([from, to, topic]);
    if (!edges.has(key)) edges.set(key, { from, to, topic, critical });
  };
  for (let i = 0; i + 2 < criticalPath.length; i += 2)
    add(criticalPath[i] ?? "", criticalPath[i + 2] ?? "", criticalPath[i + 1] ?? "", true);
  for (const { summary } of runs) {
    for (const { topic, publishers, subscribers } of summary.topics) {
      if (HOUSEKEEPING.includes(topic)) continue;
      for (const name of [...publishers, ...subscribers]) nodes.add(name);
      for (const from of publishers) for (const to of subscribers) add(from, to, topic, false);
    }
  }
  return { nodes: [...nodes], edges: [...edges.values()] };
}

/** Layered layout. A node that subscribes to itself has no loop in the drawing, but its tip mentions it. */
export function place(model: GraphModel): Placed {
  const graph = new Graph({ multigraph: false });
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 24, marginx: 2, marginy: 4, ranker: "network-simplex" });
  graph.setDefaultEdgeLabel(() => ({}));
  const critical = new Set(model.edges.filter((edge) => edge.critical).flatMap(({ from, to }) => [from, to]));
  // Names from a trace may be anything, even `__proto__`, so the layout gets numbers.
  const key = new Map(model.nodes.map((name, i) => [name, `n${i}`]));
  for (const name of model.nodes) {
    const lines = wrap(name, LINE_CHARACTERS);
    graph.setNode(key.get(name) ?? "", {
      width: Math.max(...lines.map((line) => line.length), 5) * CHARACTER_WIDTH + 16,
      height: lines.length * LINE_HEIGHT + 12,
    });
  }
  const between = new Map<string, PlacedEdge>();
  for (const { from, to, topic, critical: lit } of model.edges) {
    if (from === to) continue;
    const pair = JSON.stringify([from, to]);
    const edge = between.get(pair) ?? { from, to, topics: [], critical: false, points: [] };
    edge.topics.push(topic);
    edge.critical ||= lit;
    between.set(pair, edge);
  }
  for (const { from, to, critical: lit } of between.values())
    graph.setEdge(key.get(from) ?? "", key.get(to) ?? "", { weight: lit ? 8 : 1, minlen: 1 });
  layout(graph);
  const size = graph.graph() as { width?: number; height?: number };
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: model.nodes.map((name) => {
      const { x, y, width, height } = graph.node(key.get(name) ?? "") as PlacedNode;
      return { name, lines: wrap(name, LINE_CHARACTERS), critical: critical.has(name), x, y, width, height };
    }),
    edges: [...between.values()].map((edge) => ({
      ...edge,
      points: (graph.edge(key.get(edge.from) ?? "", key.get(edge.to) ?? "") as PlacedEdge).points,
    })),
  };
}

/**
 * A name in lines of at most `most` characters, broken after `/`, `_`, `.` or `-` if possible, at most three lines.
 */
export function wrap(name: string, most: number): string[] {
  const pieces = name.match(/[^/_.\-]*[/_.\-]?/g)?.filter((piece) => piece !== "") ?? [];
  const lines: string[] = [];
  for (const piece of pieces.length === 0 ? [name] : pieces) {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + piece.length <= most) lines[lines.length - 1] = last + piece;
    else lines.push(piece.length > most ? `${piece.slice(0, most - 1)}…` : piece);
  }
  if (lines.length > 3) lines.splice(1, lines.length - 2, "…");
  return lines;
}
