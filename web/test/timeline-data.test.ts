// Columns, rows and the decoded run, against what is written out by hand.
import { describe, expect, it } from "vitest";
import type { Timeline } from "../src/shapes";
import { begins, growing, optional, values } from "../src/timeline/columns";
import { decode, numbersOf } from "../src/timeline/data";
import { column, differences, maybe, text } from "./columns";
import { nextFound, search } from "../src/timeline/search";

describe("columns", () => {
  it("hold small, negative and large integers", () => {
    expect([...values(text(0, 1, 2, 3, 4))]).toEqual([0, -1, 1, -2, 2]);
    const large = [123_456_789_012_345, -98_765_432_109, 0, 4_294_967_296];
    expect([...values(column(...large))]).toEqual(large);
    expect(values("").length).toBe(0);
  });
  it("hold differences and absent values", () => {
    expect([...growing(text(0xd0, 0x0f, 6, 3))]).toEqual([1000, 1003, 1001]);
    expect([...optional(text(0, 1, 3))]).toEqual([NaN, 0, 1]);
    expect([...begins([2, 0, 3])]).toEqual([0, 2, 2, 5]);
  });
  it("are refused if they end inside a number", () => {
    expect(() => values(text(0x80))).toThrow("torn");
  });
});

/** Two threads; the callback of the second runs one inside itself and takes a message of the first. */
const SHAPE: Timeline = {
  begin_ns: "1000",
  length_ns: 500,
  spans: [[0, 500]],
  rows: 5,
  rows_here: 5,
  repeats: 1,
  processes: [{ pid: 7, host: "h", name: "/a", last_ns: 500 }],
  threads: [
    { process: 0, tid: 71, name: "/a", executions: 1 },
    { process: 0, tid: 72, name: "/b", executions: 3 },
  ],
  callbacks: [
    { name: "/a timer 10 ms", short: "timer 10 ms", node: "/a" },
    { name: "/b /t", short: "/t", node: "/b" },
    { name: "/b /inner", short: "/inner", node: "/b" },
  ],
  names: ["/t"],
  executions: {
    start: differences(10, 40, 50, 90),
    duration: maybe(20, 40, 20, undefined),
    callback: column(0, 1, 2, 1),
    cpu: maybe(19, undefined, undefined, undefined),
  },
  publications: { at: differences(25), topic: column(0), process: column(0), execution: maybe(0) },
  flows: { publication: differences(0), execution: column(1), taken: maybe(9) },
  off_cpu: {
    thread: column(1, 1, 0),
    from: differences(12, 14, 45),
    duration: column(5, 6, 2),
    state: column(0, 0, 1),
    words: column(0, 0, 0),
    cpu: column(3, 3, 3),
    by: maybe(0, 0, undefined),
  },
};

describe("a decoded run", () => {
  const data = decode(SHAPE);
  it("has the executions of each thread, inner ones below the outer", () => {
    expect([...data.thread]).toEqual([0, 1, 1, 1]);
    expect([...data.depth]).toEqual([0, 0, 1, 0]);
    expect(data.threads[1]?.rows.map((row) => [...row.item])).toEqual([[1, 3], [2]]);
    expect([...data.end]).toEqual([30, 80, 70, 500]);
    expect([...data.duration]).toEqual([20, 40, 20, NaN]);
  });
  it("ties messages to both ends", () => {
    expect([...numbersOf(data.messagesTo, 1)]).toEqual([0]);
    expect([...numbersOf(data.messagesTo, 0)]).toEqual([]);
    expect([...numbersOf(data.callsOf, 0)]).toEqual([0]);
    expect([...data.messagesOf]).toEqual([0, 1]);
  });
  it("knows who had a CPU, and counts the same time once", () => {
    expect(data.cpus.map(({ number }) => number)).toEqual([3]);
    const row = data.cpus[0]?.row;
    expect([[...(row?.start ?? [])], [...(row?.end ?? [])]]).toEqual([
      [12, 17],
      [17, 20],
    ]);
  });
  it("is searched by callback and by published topic, in order of time, round and round", () => {
    expect(search(data, " ")).toBeUndefined();
    const found = search(data, "/T");
    expect(found?.executions).toEqual([0, 1, 3]);
    expect(search(data, "inner")?.executions).toEqual([2]);
    if (found === undefined) throw new Error("nothing found");
    expect([nextFound(found, undefined, 1), nextFound(found, 3, 1), nextFound(found, 0, -1)]).toEqual([0, 0, 2]);
  });
});
