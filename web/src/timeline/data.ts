// What the page holds of a run over time, decoded once.
import type { Timeline, TimelineCallback, TimelineProcess } from "../shapes";
import { begins, growing, optional, values } from "./columns";
import { rowOf, type Row } from "./rows";

export interface Thread {
  process: TimelineProcess;
  tid: number;
  name: string;
  /** Its executions by depth: those inside others are further down. */
  rows: Row[];
  /** When it could not go on: items are intervals. */
  offCpu: Row;
}

/** Intervals in which a thread could not go on. */
export interface OffCpu {
  thread: Float64Array;
  from: Float64Array;
  to: Float64Array;
  /** 0: ready, without a CPU; 1: blocked; 2: interrupted. */
  state: Float64Array;
  words: Float64Array;
  cpu: Float64Array;
  by: Float64Array;
}

/** Who had a CPU while threads of the system waited for it. */
export interface Cpu {
  number: number;
  row: Row;
}

export interface Data {
  shape: Timeline;
  callbacks: TimelineCallback[];
  names: string[];
  threads: Thread[];
  /** Of executions: `end` is that of the process if it ended inside, `duration` then NaN. */
  start: Float64Array;
  end: Float64Array;
  duration: Float64Array;
  callback: Float64Array;
  cpu: Float64Array;
  /** Index of its thread, and its depth there. */
  thread: Int32Array;
  depth: Int32Array;
  /** Of publish calls. */
  at: Float64Array;
  topic: Float64Array;
  process: Float64Array;
  publishedIn: Float64Array;
  /** Of messages. */
  publication: Float64Array;
  takenBy: Float64Array;
  taken: Float64Array;
  /** Messages that each execution took, and publish calls that it made. */
  messagesTo: Groups;
  callsOf: Groups;
  /** Messages of each publish call begin here. */
  messagesOf: Int32Array;
  offCpu: OffCpu | undefined;
  cpus: Cpu[];
}

/** Numbers by group. */
export interface Groups {
  begins: Int32Array;
  values: Int32Array;
}

/** Decodes the columns of a run. */
export function decode(shape: Timeline): Data {
  const { executions, publications, flows } = shape;
  const start = growing(executions.start);
  const duration = optional(executions.duration);
  const callback = values(executions.callback);
  const thread = new Int32Array(start.length);
  const end = new Float64Array(start.length);
  const first = begins(shape.threads.map((one) => one.executions));
  shape.threads.forEach((one, t) => {
    const last = shape.processes[one.process]?.last_ns ?? 0;
    for (let i = first[t] ?? 0; i < (first[t + 1] ?? 0); i++) {
      const [from, took] = [start[i] ?? 0, duration[i] ?? NaN];
      thread[i] = t;
      end[i] = Number.isNaN(took) ? Math.max(last, from) : from + took;
    }
  });
  const depth = new Int32Array(start.length);
  const offCpu = offCpuOf(shape);
  const offCpuRows = numbersBy(offCpu?.thread ?? new Float64Array());
  const threads = shape.threads.map((one, t): Thread => {
    const process = shape.processes[one.process];
    if (process === undefined) throw new Error(`thread ${one.tid}: found process ${one.process}, which is none`);
    const rows = byDepth(start, end, depth, first[t] ?? 0, first[t + 1] ?? 0);
    const off = offCpuRows.get(t) ?? [];
    return { process, tid: one.tid, name: one.name, rows, offCpu: rowOf(off, offCpu?.from ?? [], offCpu?.to ?? []) };
  });
  const publication = growing(flows.publication);
  const takenBy = values(flows.execution);
  const at = growing(publications.at);
  const publishedIn = optional(publications.execution);
  const sizes = new Int32Array(at.length);
  publication.forEach((of) => (sizes[of] = (sizes[of] ?? 0) + 1));
  return {
    shape,
    callbacks: shape.callbacks,
    names: shape.names,
    threads,
    start,
    end,
    duration,
    callback,
    cpu: optional(executions.cpu),
    thread,
    depth,
    at,
    topic: values(publications.topic),
    process: values(publications.process),
    publishedIn,
    publication,
    takenBy,
    taken: optional(flows.taken),
    messagesTo: grouped(start.length, takenBy),
    callsOf: grouped(start.length, publishedIn),
    messagesOf: begins(sizes),
    offCpu,
    cpus: offCpu === undefined ? [] : cpusOf(offCpu),
  };
}

/** Executions of a thread by depth; they come by start, of two that start together the outer one first. */
function byDepth(start: Float64Array, end: Float64Array, depth: Int32Array, from: number, to: number): Row[] {
  const ends: number[] = [];
  const items: number[][] = [];
  for (let i = from; i < to; i++) {
    let at = ends.length;
    while (at > 0 && (ends[at - 1] ?? 0) <= (start[i] ?? 0)) at--;
    ends.length = at;
    ends.push(end[i] ?? 0);
    depth[i] = at;
    (items[at] ??= []).push(i);
  }
  return items.map((of) => rowOf(of, start, end));
}

function grouped(groups: number, of: Float64Array): Groups {
  const sizes = new Int32Array(groups);
  for (const group of of) if (!Number.isNaN(group)) sizes[group] = (sizes[group] ?? 0) + 1;
  const all = begins(sizes);
  const next = all.slice();
  const numbers = new Int32Array(all[groups] ?? 0);
  of.forEach((group, i) => {
    if (Number.isNaN(group)) return;
    numbers[next[group] ?? 0] = i;
    next[group] = (next[group] ?? 0) + 1;
  });
  return { begins: all, values: numbers };
}

/** Numbers of a group. */
export function numbersOf(groups: Groups, group: number): Int32Array {
  return groups.values.subarray(groups.begins[group] ?? 0, groups.begins[group + 1] ?? 0);
}

function offCpuOf(shape: Timeline): OffCpu | undefined {
  if (shape.off_cpu === undefined) return undefined;
  const { thread, from, duration, state, words, cpu, by } = shape.off_cpu;
  const begin = growing(from);
  return {
    thread: values(thread),
    from: begin,
    to: values(duration).map((ns, i) => ns + (begin[i] ?? 0)),
    state: values(state),
    words: values(words),
    cpu: values(cpu),
    by: optional(by),
  };
}

/** Positions of each value; NaN has none. */
function numbersBy(of: Float64Array): Map<number, number[]> {
  const all = new Map<number, number[]>();
  of.forEach((key, i) => {
    if (Number.isNaN(key)) return;
    const known = all.get(key);
    if (known === undefined) all.set(key, [i]);
    else known.push(i);
  });
  return all;
}

/** Of each CPU, who had it: where two threads waited for the same one, it is the same time. */
function cpusOf(off: OffCpu): Cpu[] {
  const from = off.from.slice();
  const known = off.cpu.map((cpu, i) => (Number.isNaN(off.by[i]) ? NaN : cpu));
  return [...numbersBy(known)]
    .sort(([a], [b]) => a - b)
    .map(([number, all]) => {
      let last = -Infinity;
      const kept = all.filter((i) => {
        from[i] = Math.max(off.from[i] ?? 0, last);
        const isNew = (off.to[i] ?? 0) > (from[i] ?? 0);
        if (isNew) last = off.to[i] ?? 0;
        return isNew;
      });
      return { number, row: rowOf(kept, from, off.to) };
    });
}
