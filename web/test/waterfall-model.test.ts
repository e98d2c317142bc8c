import { expect, test } from "vitest";
import type { Hop } from "../src/data";
import { stretches, waited } from "../src/waterfall-model";

const hop: Hop = {
  node: "b",
  topic: "/ab",
  published_ms: 10,
  arrival_ms: 12,
  start_ms: 30,
  output_ms: 35,
  queueing_ms: 3,
};
const sum = (of: ReturnType<typeof stretches>) => of.reduce((total, { from, to }) => total + to - from, 0);

test("a hop is transport, alignment, queueing, computation, without a gap", () => {
  const found = stretches(hop, 1);
  expect(found.map(({ part, from, to }) => [part, from, to])).toEqual([
    ["transport", 10, 12],
    ["alignment", 12, 27],
    ["queueing", 27, 30],
    ["computation", 30, 35],
  ]);
  expect(sum(found)).toBe(hop.output_ms - (hop.published_ms ?? 0));
  expect(waited(hop)).toBe(20);
});

test("without an arrival, transport and alignment are one undivided stretch", () => {
  const found = stretches({ ...hop, arrival_ms: null }, 1);
  expect(found.map(({ part, from, to }) => [part, from, to])).toEqual([
    ["undivided", 10, 27],
    ["queueing", 27, 30],
    ["computation", 30, 35],
  ]);
});

test("the first node only computes, and its wait is not measured", () => {
  const first = { ...hop, topic: null, published_ms: null, arrival_ms: null, queueing_ms: 0 };
  expect(stretches(first, 0).map(({ part }) => part)).toEqual(["computation"]);
  expect(waited(first)).toBeUndefined();
});

test("parts of no length are not drawn", () => {
  expect(stretches({ ...hop, arrival_ms: 30, queueing_ms: 0 }, 1).map(({ part }) => part)).toEqual([
    "transport",
    "computation",
  ]);
});

test("computation is interrupted where others had the CPU, and says who", () => {
  const found = stretches({ ...hop, preemptions: [{ from_ms: 33, to_ms: 34, by: null }, { from_ms: 30, to_ms: 32, by: "burner" }] }, 1);
  expect(found.slice(3)).toEqual([
    { part: "preemption", from: 30, to: 32, position: 1, by: "burner" },
    { part: "computation", from: 32, to: 33, position: 1 },
    { part: "preemption", from: 33, to: 34, position: 1, by: "what is not known" },
    { part: "computation", from: 34, to: 35, position: 1 },
  ]);
  expect(sum(found)).toBe(hop.output_ms - (hop.published_ms ?? 0));
});
