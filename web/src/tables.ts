// All figures, as tables.
import type { BagTopicFigures, CallbackFigures, ChainFigures, Page, PageRun, TopicFigures } from "./shapes";
import { h, section } from "./dom";
import { toMs } from "./format";
import { choice } from "./choice";
import { sortable, titled, type SortColumn } from "./sortable";
import { systemTables } from "./system-tables";

/** Messages that were neither received nor lost; few systems have any of these. */
const ENDS: { title: string; value: (topic: TopicFigures) => number | undefined }[] = [
  { title: "before match", value: (topic) => topic.before },
  { title: "after end", value: (topic) => topic.after },
  { title: "pending", value: (topic) => topic.pending },
  { title: "unknown", value: (topic) => topic.unknown },
];

/** What is known of the messages of some systems only. */
const MESSAGES: SortColumn<TopicFigures>[] = [
  { title: "type", value: (topic) => topic.message_type },
  { title: "mean size", unit: "B", decimals: 0, value: (topic) => topic.mean_size_bytes },
];

/** The tables of one run at a time. `whole`: of all of it, so that a table without rows says that nothing was seen. */
export function tables(page: Page, whole = true): HTMLElement {
  const holder = h("div", { class: "tables" });
  const labels = page.runs.map(({ label }, i) =>
    page.runs.findIndex((run) => run.label === label) === i ? label : `${label} (${i + 1})`,
  );
  const fill = (label: string): void => {
    const run = page.runs[labels.indexOf(label)];
    if (run !== undefined) holder.replaceChildren(...runTables(run, whole));
  };
  fill(labels[0] ?? "");
  return section(
    "tables",
    "All figures",
    "A press on a header sorts. An en dash is a figure that was not measured.",
    labels.length > 1 && choice("run", labels, labels[0] ?? "", fill),
    holder,
  );
}

function runTables({ summary }: PageRun, whole: boolean): HTMLElement[] {
  const named: typeof titled = (title, lead, rows, table) =>
    whole || rows.length > 0 ? titled(title, lead, rows, table) : [];
  const severalEvidences = new Set(summary.chains.map(({ evidence }) => evidence)).size > 1;
  return [
    ...named(
      "Chains",
      "",
      summary.chains,
      sortable<ChainFigures>(summary.chains, [
        {
          title: "chain",
          value: (chain) =>
            `${chain.name}${chain.critical ? " (critical)" : ""}${chain.guessed_at === undefined ? "" : " (a guess)"}`,
        },
        { title: "nodes", value: (chain) => Math.ceil(chain.path.length / 2) },
        { title: "instances", value: (chain) => chain.instances },
        { title: "lost", value: (chain) => chain.lost },
        { title: "mean", unit: "ms", decimals: 2, value: (chain) => chain.end_to_end_ms?.mean },
        { title: "median", unit: "ms", decimals: 2, value: (chain) => chain.end_to_end_ms?.median },
        { title: "p99", unit: "ms", decimals: 2, value: (chain) => chain.end_to_end_ms?.p99 },
        { title: "worst", unit: "ms", decimals: 2, value: (chain) => chain.end_to_end_ms?.max },
        { title: "reaction, longest", unit: "ms", decimals: 2, value: (chain) => chain.reaction_time_ms?.max },
        { title: "data age, greatest", unit: "ms", decimals: 2, value: (chain) => chain.data_age_ms?.max },
        { title: "computation", unit: "ms", decimals: 2, value: (chain) => chain.computation_ms?.mean },
        { title: "off CPU", unit: "ms", decimals: 2, value: (chain) => chain.off_cpu_ms?.mean },
        { title: "preemption", unit: "ms", decimals: 2, value: (chain) => chain.preemption_ms?.mean },
        { title: "transport", unit: "ms", decimals: 2, value: (chain) => chain.transport_ms?.mean },
        { title: "alignment", unit: "ms", decimals: 2, value: (chain) => chain.alignment_ms?.mean },
        { title: "queueing", unit: "ms", decimals: 2, value: (chain) => chain.queueing_ms?.mean },
        { title: "kept", unit: "ms", decimals: 2, value: (chain) => chain.kept_ms?.mean },
      ]),
    ),
    ...[...new Set(summary.chains.map(({ evidence }) => evidence))]
      .filter((evidence) => evidence !== "")
      .map((evidence) =>
        h(
          "p",
          { class: "provenance" },
          `How outputs were tied to inputs${
            severalEvidences
              ? `, ${summary.chains
                  .filter((chain) => chain.evidence === evidence)
                  .map(({ name }) => name)
                  .join(", ")}`
              : ""
          }: ${evidence}.`,
        ),
      ),
    ...named(
      "Callbacks",
      "Their own execution time, from start to end, without waiting and transport; of a coroutine the sum of its parts, without what it awaits. Beside it the period of the output, which is what a rate measurement of the topic shows: it is not the time the callback takes.",
      summary.callbacks,
      sortable<CallbackFigures>(summary.callbacks, [
        {
          title: "node",
          value: (callback) => callback.node ?? `process ${callback.process_id}`,
          about: ({ node }) => (node === undefined ? undefined : { kind: "node", name: node }),
        },
        {
          title: "callback",
          value: (callback) =>
            callback.topic ??
            (callback.period_ms === undefined
              ? `${callback.kind} ${callback.function === undefined ? (callback.symbol ?? callback.callback) : ""}`.trim()
              : `${callback.kind} of ${callback.period_ms} ms`),
        },
        { title: "function", value: (callback) => callback.function },
        { title: "defined at", value: (callback) => callback.location },
        { title: "count", value: (callback) => callback.count },
        { title: "min", unit: "ms", decimals: 3, value: (callback) => toMs(callback.duration_us?.min) },
        { title: "mean", unit: "ms", decimals: 3, value: (callback) => toMs(callback.duration_us?.mean) },
        { title: "p99", unit: "ms", decimals: 3, value: (callback) => toMs(callback.duration_us?.p99) },
        { title: "max", unit: "ms", decimals: 3, value: (callback) => toMs(callback.duration_us?.max) },
        { title: "CPU, mean", unit: "ms", decimals: 3, value: (callback) => toMs(callback.cpu_us?.mean) },
        { title: "off CPU, mean", unit: "ms", decimals: 3, value: (callback) => toMs(callback.off_cpu_us?.mean) },
        { title: "mean wait", unit: "ms", decimals: 3, value: (callback) => toMs(callback.queue_wait_us?.mean) },
        { title: "output period", unit: "ms", decimals: 2, value: (callback) => periods(callback) },
      ]),
    ),
    ...named(
      "Topics",
      "Latency from the publish call to the first line of the callback, unless a note says otherwise.",
      summary.topics,
      sortable<TopicFigures>(summary.topics, [
        { title: "topic", value: (topic) => topic.topic, about: ({ topic }) => ({ kind: "topic", name: topic }) },
        { title: "from", value: (topic) => topic.publishers.join(", ") },
        { title: "to", value: (topic) => topic.subscribers.join(", ") },
        { title: "sent", value: (topic) => topic.sent },
        { title: "received", value: (topic) => topic.received },
        { title: "lost", value: (topic) => topic.lost },
        ...ENDS.filter(({ value }) => summary.topics.some((topic) => (value(topic) ?? 0) > 0)),
        ...MESSAGES.filter(({ value }) => summary.topics.some((topic) => value(topic) !== undefined)),
        { title: "rate", unit: "Hz", decimals: 2, value: (topic) => topic.rate_hz },
        { title: "median", unit: "µs", decimals: 0, value: (topic) => topic.latency_us?.median },
        { title: "p99", unit: "µs", decimals: 0, value: (topic) => topic.latency_us?.p99 },
        { title: "max", unit: "µs", decimals: 0, value: (topic) => topic.latency_us?.max },
      ]),
    ),
    ...systemTables(summary),
    ...(summary.bag_topics === undefined ? [] : bagTopics(summary.bag_topics)),
    ...named(
      "Communication as a whole",
      "",
      summary.points,
      sortable(summary.points, [
        {
          title: "middleware",
          value: (point) => (point.transport === "" ? point.middleware : `${point.middleware}, ${point.transport}`),
        },
        { title: "publishers", value: (point) => point.publishers },
        { title: "subscribers", value: (point) => point.subscribers },
        { title: "due", value: (point) => point.due },
        { title: "sent", value: (point) => point.sent },
        { title: "refused", value: (point) => point.refused },
        { title: "skipped", value: (point) => point.skipped },
        { title: "received", value: (point) => point.received },
        { title: "lost", value: (point) => point.lost },
        { title: "loss", unit: "%", decimals: 3, value: (point) => point.loss_percent },
        { title: "late", value: (point) => point.late },
        { title: "median", unit: "µs", decimals: 0, value: (point) => point.latency_us?.median },
        { title: "p99", unit: "µs", decimals: 0, value: (point) => point.latency_us?.p99 },
        { title: "events dropped", value: (point) => point.dropped_events },
      ]),
    ),
  ];
}

function bagTopics(topics: BagTopicFigures[]): HTMLElement[] {
  return titled(
    "Topics of the bag",
    "Gaps from one log time to the next; ages from the stamp in the header to the log time, by the clocks of two hosts.",
    topics,
    sortable<BagTopicFigures>(topics, [
      { title: "topic", value: (topic) => topic.topic },
      { title: "type", value: (topic) => topic.datatype },
      { title: "messages", value: (topic) => topic.messages },
      { title: "rate", unit: "Hz", decimals: 2, value: (topic) => topic.rate_hz },
      { title: "median gap", unit: "ms", decimals: 2, value: (topic) => topic.gap_ms?.median },
      { title: "longest gap", unit: "ms", decimals: 2, value: (topic) => topic.gap_ms?.max },
      { title: "jitter, p99", unit: "ms", decimals: 2, value: (topic) => topic.jitter_ms?.p99 },
      { title: "median age", unit: "ms", decimals: 2, value: (topic) => topic.age_ms?.median },
      { title: "p99 age", unit: "ms", decimals: 2, value: (topic) => topic.age_ms?.p99 },
      { title: "greatest age", unit: "ms", decimals: 2, value: (topic) => topic.age_ms?.max },
      { title: "publish to log", unit: "ms", decimals: 2, value: (topic) => topic.publish_to_log_ms?.median },
    ]),
  );
}

/** If there is one output, its period; if there are several, each with its topic. */
function periods({ output_period_ms }: CallbackFigures): number | string | undefined {
  if (output_period_ms.length <= 1) return output_period_ms[0]?.[1];
  return output_period_ms.map(([topic, period]) => `${topic} ${period.toFixed(2)}`).join(", ");
}
