import { expect, test } from "vitest";
import { logTicks, tickText } from "../src/axis";
import { parse } from "../src/data";
import { repeatsOf } from "../src/repeats";
import { sorted } from "../src/sortable";
import { distribution } from "./sample";

test.each([[[3]], [[1, 7]], [[1, 2, 9]], [[1, 2, 5, 9]], [[5, 1, 9, 2, 3]]])(
  "the means of few repeats come back out of their distribution: %j",
  (values) => {
    const repeats = repeatsOf(distribution(...values));
    expect(repeats.count).toBe(values.length);
    const expected = [...values].sort((a, b) => a - b);
    expect(repeats.values).toHaveLength(expected.length);
    repeats.values.forEach((value, i) => expect(value).toBeCloseTo(expected[i] as number, 9));
  },
);

test("of many repeats there are five figures, and of none there is nothing", () => {
  expect(repeatsOf(distribution(1, 2, 3, 4, 5, 6, 7))).toEqual({ count: 7, values: [1, 2.5, 4, 5.5, 7] });
  expect(repeatsOf(undefined)).toEqual({ count: 0, values: [] });
});

test("what was not measured is sorted last, upwards and downwards", () => {
  const rows = [{ v: 2 }, { v: undefined }, { v: 10 }, { v: null }, { v: 1 }];
  expect(sorted(rows, (row) => row.v, false).map((row) => row.v ?? "–")).toEqual([1, 2, 10, "–", "–"]);
  expect(sorted(rows, (row) => row.v, true).map((row) => row.v ?? "–")).toEqual([10, 2, 1, "–", "–"]);
});

test("names with numbers are sorted as people count", () => {
  expect(sorted(["/lidar10", "/lidar9", "/lidar1"], (name) => name, false)).toEqual(["/lidar1", "/lidar9", "/lidar10"]);
});

test("ticks lie within the range and do not crowd", () => {
  expect(logTicks(10, 1000, 10)).toEqual([10, 20, 30, 50, 100, 200, 300, 500, 1000]);
  expect(logTicks(0.1, 1e6, 10)).toEqual([0.1, 1, 10, 100, 1000, 10000, 100000, 1000000]);
  expect(logTicks(23, 57, 10)).toEqual([30, 40, 50]);
});

test("a tick has no decimals that it does not need", () => {
  expect([0, 50, 2.5, 0.30000000000000004, 10000].map(tickText)).toEqual(["0", "50", "2.5", "0.3", "10\u202f000"]);
});

test("a page without data, and data of another version, are named", () => {
  expect(() => parse("")).toThrow("tacho report RUN");
  expect(() => parse('{"format": 2, "runs": []}')).toThrow("data of format 2, expected 1");
});

test("escaped text comes back as it was", () => {
  const page = parse('{"format":1,"runs":[{"label":"\\u003c/script\\u003e\\u2028\\u0026"}]}');
  expect(page.runs[0]?.label).toBe("</script>\u2028&");
});
