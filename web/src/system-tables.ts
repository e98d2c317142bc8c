// Tables that only some runs have: services, actions, managed nodes, threads, and who had the CPU. A table without rows
// is left out.
import type {
  ActionFigures,
  ExecutorFigures,
  LifecycleFigures,
  PreemptorFigures,
  ServiceFigures,
  Summary,
} from "./shapes";
import { toMs } from "./format";
import { sortable, titled } from "./sortable";

/** The tables of one run, each with its title. */
export function systemTables(summary: Summary): HTMLElement[] {
  return [
    ...services(summary.services ?? []),
    ...actions(summary.actions ?? []),
    ...managedNodes(summary.lifecycle ?? []),
    ...executors(summary.executors ?? []),
    ...preemptors(summary.preemptors ?? []),
  ];
}

function services(rows: ServiceFigures[]): HTMLElement[] {
  if (rows.length === 0) return [];
  return titled(
    "Services",
    "Calls with all four steps recorded: request, handling and response make the round trip.",
    rows,
    sortable<ServiceFigures>(rows, [
      { title: "service", value: (service) => service.service },
      { title: "from", value: (service) => service.clients.join(", ") },
      { title: "to", value: (service) => service.servers.join(", ") },
      { title: "sent", value: (service) => service.sent },
      { title: "complete", value: (service) => service.complete },
      { title: "unanswered", value: (service) => service.unanswered },
      { title: "request, median", unit: "µs", decimals: 0, value: (service) => service.request_us?.median },
      { title: "handling, median", unit: "µs", decimals: 0, value: (service) => service.handling_us?.median },
      { title: "response, median", unit: "µs", decimals: 0, value: (service) => service.response_us?.median },
      { title: "round trip, median", unit: "µs", decimals: 0, value: (service) => service.round_trip_us?.median },
      { title: "round trip, max", unit: "µs", decimals: 0, value: (service) => service.round_trip_us?.max },
    ]),
  );
}

function actions(rows: ActionFigures[]): HTMLElement[] {
  if (rows.length === 0) return [];
  return [
    ...titled(
      "Actions",
      "How their goals ended. Feedback taken is the sum over all clients: each takes the feedback of all goals.",
      rows,
      sortable<ActionFigures>(rows, [
        { title: "action", value: (action) => action.action },
        { title: "from", value: (action) => action.clients.join(", ") },
        { title: "to", value: (action) => action.servers.join(", ") },
        { title: "sent", value: (action) => action.sent },
        { title: "accepted", value: (action) => action.accepted },
        { title: "rejected", value: (action) => action.rejected },
        { title: "cancel requested", value: (action) => action.cancel_requested },
        { title: "succeeded", value: (action) => action.succeeded },
        { title: "canceled", value: (action) => action.canceled },
        { title: "aborted", value: (action) => action.aborted },
        { title: "unfinished", value: (action) => action.unfinished },
        { title: "feedback", value: (action) => action.feedback },
        { title: "feedback taken", value: (action) => action.feedback_received },
      ]),
    ),
    ...titled(
      "Times of goals",
      "Acceptance and result from sending the goal on; execution from the acceptance to the end of the goal, at the server, and of it the CPU time of the callback that executes it.",
      rows,
      sortable<ActionFigures>(rows, [
        { title: "action", value: (action) => action.action },
        { title: "acceptance, median", unit: "ms", decimals: 3, value: (action) => toMs(action.acceptance_us?.median) },
        { title: "result, median", unit: "ms", decimals: 3, value: (action) => toMs(action.result_us?.median) },
        { title: "result, p99", unit: "ms", decimals: 3, value: (action) => toMs(action.result_us?.p99) },
        { title: "result, max", unit: "ms", decimals: 3, value: (action) => toMs(action.result_us?.max) },
        { title: "execution, median", unit: "ms", decimals: 3, value: (action) => toMs(action.execution_us?.median) },
        { title: "CPU, median", unit: "ms", decimals: 3, value: (action) => toMs(action.execution_cpu_us?.median) },
        { title: "cancellation, median", unit: "ms", decimals: 3, value: (action) => toMs(action.cancel_us?.median) },
        { title: "feedback", unit: "Hz", decimals: 2, value: (action) => action.feedback_rate_hz },
        {
          title: "feedback, median",
          unit: "ms",
          decimals: 3,
          value: (action) => toMs(action.feedback_latency_us?.median),
        },
      ]),
    ),
  ];
}

/** States in which a managed node stays; the others are transitions between them. */
const STAYING = ["unconfigured", "inactive", "active", "finalized"];

function managedNodes(rows: LifecycleFigures[]): HTMLElement[] {
  if (rows.length === 0) return [];
  const changing = ({ in_state_s }: LifecycleFigures): number =>
    Object.entries(in_state_s)
      .filter(([state]) => !STAYING.includes(state))
      .reduce((sum, [, seconds]) => sum + seconds, 0);
  return titled(
    "Managed nodes",
    "The last state of each, and the time in each state.",
    rows,
    sortable<LifecycleFigures>(rows, [
      { title: "node", value: (node) => node.node },
      { title: "last state", value: (node) => node.state },
      { title: "transitions", value: (node) => node.transitions },
      ...STAYING.map((state) => ({
        title: state,
        unit: "s",
        decimals: 3,
        value: (node: LifecycleFigures) => node.in_state_s[state],
      })),
      { title: "changing", unit: "s", decimals: 3, value: changing },
    ]),
  );
}

function executors(rows: ExecutorFigures[]): HTMLElement[] {
  if (rows.length === 0) return [];
  return titled(
    "Executor threads",
    "Of the time from its first to its last event: in the executor's wait, ready, inside callbacks; on a CPU, able to go on without one, blocked.",
    rows,
    sortable<ExecutorFigures>(rows, [
      { title: "process", value: (thread) => String(thread.process_id) },
      { title: "thread", value: (thread) => String(thread.thread_id) },
      { title: "nodes", value: (thread) => thread.nodes.join(", ") },
      { title: "waiting", unit: "%", decimals: 1, value: (thread) => thread.waiting_percent },
      { title: "ready", unit: "%", decimals: 1, value: (thread) => thread.ready_percent },
      { title: "executing", unit: "%", decimals: 1, value: (thread) => thread.executing_percent },
      { title: "running", unit: "%", decimals: 1, value: (thread) => thread.running_percent },
      { title: "runnable", unit: "%", decimals: 1, value: (thread) => thread.runnable_percent },
      { title: "blocked", unit: "%", decimals: 1, value: (thread) => thread.blocked_percent },
      { title: "CPU taken", value: (thread) => thread.involuntary_switches },
      { title: "wake-up, p99", unit: "µs", decimals: 0, value: (thread) => thread.wakeup_latency_us?.p99 },
    ]),
  );
}

function preemptors(rows: PreemptorFigures[]): HTMLElement[] {
  if (rows.length === 0) return [];
  return titled(
    "Who had the CPU",
    "While callbacks could have gone on and had none.",
    rows,
    sortable<PreemptorFigures>(rows, [
      { title: "thread or interrupt", value: (by) => by.by ?? "none, or not known" },
      { title: "times", value: (by) => by.count },
      { title: "in all", unit: "ms", decimals: 3, value: (by) => by.total_ms },
      { title: "longest", unit: "ms", decimals: 3, value: (by) => by.longest_ms },
    ]),
  );
}
