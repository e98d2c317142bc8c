// What is selected, in words: for the text below the drawing, which screen readers hear.
import type { Instance, Instances } from "./chain";
import { numbersOf, type Data } from "./data";
import { duration, moment } from "./view";

/** Times in texts have six decimals of a second. */
const PRECISE_NS = 1e5;
/** Messages that a text lists. */
const LISTED = 4;

/** An execution: its callback, time, thread, messages. */
export function described(data: Data, execution: number): string[] {
  const callback = data.callbacks[data.callback[execution] ?? -1];
  const thread = data.threads[data.thread[execution] ?? -1];
  const took = data.duration[execution] ?? NaN;
  const begin = moment(data.start[execution] ?? 0, PRECISE_NS);
  const cpu = data.cpu[execution] ?? NaN;
  const lines = [
    callback?.name ?? "",
    Number.isNaN(took) ? `began at ${begin} and did not end` : `${duration(took)}, began at ${begin}`,
    `thread ${thread?.tid ?? 0} of process ${thread?.process.pid ?? 0}`,
  ];
  if (!Number.isNaN(cpu)) lines.push(`CPU time ${duration(cpu)}`);
  const taken = [...numbersOf(data.messagesTo, execution)].map((message) => {
    const call = data.publication[message] ?? 0;
    const latency = (data.start[execution] ?? 0) - (data.at[call] ?? 0);
    return `took ${topicOf(data, call)}, published ${duration(latency)} before by ${senderOf(data, call)}`;
  });
  const made = [...numbersOf(data.callsOf, execution)].map((call) => {
    const receivers = (data.messagesOf[call + 1] ?? 0) - (data.messagesOf[call] ?? 0);
    return `published ${topicOf(data, call)}, taken by ${receivers} ${receivers === 1 ? "callback" : "callbacks"}`;
  });
  const listed = (all: string[]): string[] =>
    all.length > LISTED ? [...all.slice(0, LISTED), `and ${all.length - LISTED} more`] : all;
  return [...lines, ...listed(taken), ...listed(made)];
}

/** An instance of the chain. */
export function describedInstance(chain: Instances, instance: Instance): string[] {
  const rank =
    instance.number === chain.worst
      ? "worst instance"
      : instance.number === chain.median
        ? "median instance"
        : "instance";
  const longest = [...instance.stretches].sort((a, b) => b.to - b.from - (a.to - a.from))[0];
  return [
    `${chain.name}, ${rank}, ${instance.number + 1} of ${chain.count} here: ${duration(instance.end - instance.start)}`,
    `began at ${moment(instance.start, PRECISE_NS)}`,
    ...(longest === undefined ? [] : [`longest stretch: ${duration(longest.to - longest.from)} ${longest.words}`]),
  ];
}

/** Topic of a publish call. */
export function topicOf(data: Data, call: number): string {
  return data.names[data.topic[call] ?? -1] ?? "";
}

function senderOf(data: Data, call: number): string {
  const execution = data.publishedIn[call] ?? NaN;
  if (Number.isNaN(execution)) return data.shape.processes[data.process[call] ?? -1]?.name ?? "";
  return data.callbacks[data.callback[execution] ?? -1]?.name ?? "";
}
