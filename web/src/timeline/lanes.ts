// Which lane stands where: first the threads of the chain in the order of its path, then the others, then the CPUs.
import type { Data } from "./data";
import type { Instances } from "./chain";
import { rowOf, type Row } from "./rows";

export const SLICE = 18;
export const STRIP = 5;
const SPACE = 8;
/** Above a lane for its name, where there is no room beside it. */
export const NAME = 16;

export interface Lane {
  kind: "thread" | "calls" | "cpu";
  name: string;
  /** Smaller, behind the name. */
  detail: string;
  /** From the top of all lanes; slices begin below the name. */
  top: number;
  slices: number;
  height: number;
  rows: Row[];
  /** Index of its thread; -1 if it is of none. */
  thread: number;
}

export interface Lanes {
  all: Lane[];
  height: number;
  ofThread: Map<number, Lane>;
  /** Of publish calls outside of callbacks, by process. */
  ofProcess: Map<number, Lane>;
}

/** Lays out the lanes that `wanted` accepts. */
export function lanesOf(
  data: Data,
  chain: Instances | undefined,
  named: boolean,
  wanted: (name: string) => boolean,
): Lanes {
  const all: Lane[] = [];
  let top = 0;
  const add = (lane: Omit<Lane, "top" | "slices" | "height">, strip: boolean): Lane | undefined => {
    if (!wanted(lane.name)) return undefined;
    const slices = named ? NAME : 0;
    const height = slices + Math.max(lane.rows.length, 1) * SLICE + (strip ? STRIP + 2 : 0) + SPACE;
    const whole = { ...lane, top, slices, height };
    top += height;
    all.push(whole);
    return whole;
  };
  const ofThread = new Map<number, Lane>();
  for (const t of order(data, chain)) {
    const thread = data.threads[t];
    if (thread === undefined) continue;
    const lane = add(
      {
        kind: "thread",
        name: thread.name || thread.process.name,
        detail: `thread ${thread.tid}`,
        rows: thread.rows,
        thread: t,
      },
      data.offCpu !== undefined,
    );
    if (lane !== undefined) ofThread.set(t, lane);
  }
  const ofProcess = new Map<number, Lane>();
  const outside = new Map<number, number[]>();
  data.at.forEach((_, call) => {
    if (!Number.isNaN(data.publishedIn[call])) return;
    const process = data.process[call] ?? 0;
    const known = outside.get(process);
    if (known === undefined) outside.set(process, [call]);
    else known.push(call);
  });
  for (const [p, calls] of outside) {
    const name = data.shape.processes[p]?.name ?? "";
    const rows = [rowOf(calls, data.at, data.at)];
    const lane = add({ kind: "calls", name, detail: "published outside of callbacks", rows, thread: -1 }, false);
    if (lane !== undefined) ofProcess.set(p, lane);
  }
  for (const { number, row } of data.cpus)
    add({ kind: "cpu", name: `CPU ${number}`, detail: "while a thread waited for it", rows: [row], thread: -1 }, false);
  return { all, height: top, ofThread, ofProcess };
}

/** Threads by the first position at which the worst instance passes them, then as they come. */
function order(data: Data, chain: Instances | undefined): number[] {
  const first: number[] = [];
  const shown = chain === undefined || chain.count === 0 ? undefined : chain.instance(chain.worst ?? 0);
  for (const hop of shown?.hops ?? []) {
    const thread = data.thread[hop.execution];
    if (thread !== undefined && !first.includes(thread)) first.push(thread);
  }
  return [...first, ...data.threads.map((_, t) => t).filter((t) => !first.includes(t))];
}

/** The lane at a distance from the top of all. */
export function laneAt(lanes: Lanes, y: number): Lane | undefined {
  return lanes.all.find((lane) => y >= lane.top && y < lane.top + lane.height);
}

/** Where the slices of an execution stand: the lane and their distance from the top; absent if its lane is not shown. */
export function heightOf(lanes: Lanes, data: Data, execution: number): number | undefined {
  const lane = lanes.ofThread.get(data.thread[execution] ?? -1);
  return lane === undefined ? undefined : lane.top + lane.slices + (data.depth[execution] ?? 0) * SLICE;
}
