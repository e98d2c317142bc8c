// What the figures of a page say of one node or topic.
import type { ChainFigures, Finding, Page, Summary, TopicFigures } from "../shapes";
import type { Subject } from "./address";

/** All nodes and topics of a page, in the order of their names. */
export function subjects({ runs }: Page): Subject[] {
  const nodes = new Set<string>();
  const topics = new Set<string>();
  for (const { summary } of runs) {
    for (const { node } of summary.callbacks) if (node !== undefined) nodes.add(node);
    for (const { topic, publishers, subscribers } of summary.topics) {
      topics.add(topic);
      for (const node of [...publishers, ...subscribers]) nodes.add(node);
    }
  }
  const sorted = (names: Set<string>) => [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return [
    ...sorted(nodes).map((name) => ({ kind: "node" as const, name })),
    ...sorted(topics).map((name) => ({ kind: "topic" as const, name })),
  ];
}

/** The same page with what concerns a node or topic alone. */
export function about(page: Page, subject: Subject): Page {
  return { ...page, runs: page.runs.map((run) => ({ ...run, summary: ofSummary(run.summary, subject) })) };
}

function ofSummary(summary: Summary, subject: Subject): Summary {
  const { kind, name } = subject;
  const isTopic = ({ topic, publishers, subscribers }: TopicFigures): boolean =>
    kind === "topic" ? topic === name : publishers.includes(name) || subscribers.includes(name);
  const topics = summary.topics.filter(isTopic);
  const names = new Set(topics.map(({ topic }) => topic));
  const of = <T>(rows: readonly T[] | undefined, are: (row: T) => readonly string[]): T[] =>
    (rows ?? []).filter((row) => kind === "node" && are(row).includes(name));
  return {
    ...summary,
    topics,
    callbacks: summary.callbacks.filter(({ node, topic }) => (kind === "node" ? node : topic) === name),
    chains: summary.chains.filter((chain) => isOnPath(chain, subject)),
    layers: summary.layers.filter(({ topic }) => topic !== undefined && names.has(topic)),
    findings: (summary.findings ?? []).flatMap((finding) => ofFinding(finding, name)),
    services: of(summary.services, ({ clients, servers }) => [...clients, ...servers]),
    actions: of(summary.actions, ({ clients, servers }) => [...clients, ...servers]),
    lifecycle: of(summary.lifecycle, ({ node }) => [node]),
    executors: of(summary.executors, ({ nodes }) => nodes),
    preemptors: [],
    points: [],
  };
}

/** A path has nodes at its even places and topics between them. */
function isOnPath({ path }: ChainFigures, { kind, name }: Subject): boolean {
  return path.some((one, place) => one === name && (place % 2 === 0) === (kind === "node"));
}

/** The cases of a finding that name it; none if there are none. */
function ofFinding(finding: Finding, name: string): Finding[] {
  const cases = finding.cases.filter(({ subject, by }) => names(subject, name) || names(by ?? "", name));
  return cases.length === 0 ? [] : [{ ...finding, cases, count: cases.length }];
}

/** Whether a text has a name as a whole: /map is not in /map_server. */
export function names(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const isPart = (other: string | undefined): boolean => other !== undefined && /[\w/]/.test(other);
    if (!isPart(text[at - 1]) && !isPart(text[at + name.length])) return true;
  }
  return false;
}
