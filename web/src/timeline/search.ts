// Executions whose callback matches a text, in order of time.
import { numbersOf, type Data } from "./data";

export interface Found {
  text: string;
  /** By callback: whether it matches. */
  callbacks: boolean[];
  /** Executions by start. */
  executions: number[];
  start: Float64Array;
}

/** Executions of callbacks whose name holds the text, or that publish a topic that does; absent without a text. */
export function search(data: Data, text: string): Found | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return undefined;
  const matches = (name: string): boolean => name.toLowerCase().includes(wanted);
  const callbacks = data.callbacks.map(({ name }) => matches(name));
  const topics = data.names.map((name) => name.startsWith("/") && matches(name));
  const executions: number[] = [];
  for (let i = 0; i < data.start.length; i++) {
    const own = callbacks[data.callback[i] ?? -1] === true;
    if (own || numbersOf(data.callsOf, i).some((call) => topics[data.topic[call] ?? -1] === true)) executions.push(i);
  }
  executions.sort((a, b) => (data.start[a] ?? 0) - (data.start[b] ?? 0) || a - b);
  return { text, callbacks, executions, start: Float64Array.from(executions, (i) => data.start[i] ?? 0) };
}

/** Place in what was found of the next one (step 1) or the one before (-1) a selection; it goes round. */
export function nextFound(found: Found, selected: number | undefined, step: 1 | -1): number | undefined {
  const { executions } = found;
  if (executions.length === 0) return undefined;
  const at = selected === undefined ? -1 : executions.indexOf(selected);
  if (at < 0) return step === 1 ? 0 : executions.length - 1;
  return (at + step + executions.length) % executions.length;
}
