import { expect, test } from "vitest";
import type { PageHop, PageInstance } from "../src/shapes";
import { laidOut, timesOf } from "../src/parts";
import { stretches, waited, waterfallOf } from "../src/waterfall-model";

const hop: PageHop = {
  node: "b",
  topic: "/ab",
  published_ms: 10,
  start_ms: 30,
  output_ms: 35,
  parts: { transport_ms: 2, alignment_ms: 15, queueing_ms: 3, computation_ms: 5 },
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
  const found = stretches({ ...hop, parts: { transport_ms: 17, queueing_ms: 3, computation_ms: 5 } }, 1);
  expect(found.map(({ part, from, to }) => [part, from, to])).toEqual([
    ["undivided", 10, 27],
    ["queueing", 27, 30],
    ["computation", 30, 35],
  ]);
});

test("the first node only computes, and its wait is not measured", () => {
  const first = {
    ...hop,
    topic: null,
    published_ms: null,
    parts: { transport_ms: 0, queueing_ms: 0, computation_ms: 5 },
  };
  expect(stretches(first, 0).map(({ part }) => part)).toEqual(["computation"]);
  expect(waited(first)).toBeUndefined();
});

test("parts of no length are not drawn", () => {
  expect(
    stretches({ ...hop, parts: { transport_ms: 20, alignment_ms: 0, queueing_ms: 0, computation_ms: 5 } }, 1).map(
      ({ part }) => part,
    ),
  ).toEqual(["transport", "computation"]);
});

test("computation is interrupted where others had the CPU, and says who", () => {
  const found = stretches(
    {
      ...hop,
      preemptions: [
        { from_ms: 33, to_ms: 34, by: null },
        { from_ms: 30, to_ms: 32, by: "burner" },
      ],
    },
    1,
  );
  expect(found.slice(3)).toEqual([
    { part: "preemption", from: 30, to: 32, position: 1, by: "burner" },
    { part: "computation", from: 32, to: 33, position: 1 },
    { part: "preemption", from: 33, to: 34, position: 1, by: "what is not known" },
    { part: "computation", from: 34, to: 35, position: 1 },
  ]);
  expect(sum(found)).toBe(hop.output_ms - (hop.published_ms ?? 0));
});

test("the stretches of an instance with preemption and blocked threads are its parts, which add up to its end-to-end time", () => {
  // The second node is preempted for 1 ms and blocked for 2 of its 9 ms; blocked time counts as computation.
  const instance: PageInstance = {
    rank: "worst",
    end_to_end_ms: 30,
    parts: { computation_ms: 11, preemption_ms: 1, transport_ms: 2, alignment_ms: 9, queueing_ms: 3, kept_ms: 4 },
    hops: [
      {
        node: "a",
        topic: null,
        published_ms: null,
        start_ms: 0,
        output_ms: 3,
        parts: { computation_ms: 3, preemption_ms: 0, transport_ms: 0, queueing_ms: 0 },
      },
      {
        node: "b",
        topic: "/ab",
        published_ms: 3,
        start_ms: 21,
        output_ms: 30,
        parts: { computation_ms: 8, preemption_ms: 1, transport_ms: 2, alignment_ms: 9, queueing_ms: 3, kept_ms: 4 },
        preemptions: [{ from_ms: 22, to_ms: 23, by: "burner" }],
      },
    ],
  };
  const drawn = waterfallOf(instance);
  const times = timesOf(instance.parts);
  for (const { part, ms } of times) expect(sum(drawn.filter((stretch) => stretch.part === part)), part).toBe(ms);
  expect(sum(drawn)).toBe(instance.end_to_end_ms);
  expect(laidOut(times).at(-1)?.to).toBe(instance.end_to_end_ms);
  drawn.slice(1).forEach(({ from }, i) => expect(from).toBe(drawn[i]?.to));
});
