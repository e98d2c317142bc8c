import { expect, test } from "vitest";
import { ABSENT, bytes, count, factor, fixed, ms, percent, significant, wallClock } from "../src/format";

test.each([
  [400.07, "400"],
  [26.08, "26.1"],
  [1.349, "1.35"],
  [0.02843, "0.0284"],
  [9.996, "10.0"],
  [999.6, "1000"],
  [0, "0"],
  [-3.14159, "-3.14"],
  [12345, "12\u202f300"],
  [1e-7, "0.000000100"],
])("%d has three significant digits: %s", (value, text) => expect(significant(value)).toBe(text));

test.each([null, undefined, Number.NaN, Number.POSITIVE_INFINITY])("%s is not measured, not zero", (value) => {
  for (const text of [significant(value), fixed(value, 2), count(value), ms(value), factor(value), percent(value)])
    expect(text).toBe(ABSENT);
});

test("what was not measured has no unit either", () => {
  expect(ms(undefined)).toBe("–");
  expect(bytes(null)).toBe("–");
  expect(ms(0)).toBe("0\u202fms");
});

test("a small share is not rounded to nothing", () => {
  expect(percent(0.0004)).toBe("< 0.1 %");
  expect(percent(0)).toBe("0.0\u202f%");
  expect(percent(0.9353)).toBe("93.5\u202f%");
});

test("thousands are set apart from five digits on, decimals never", () => {
  expect(count(1234)).toBe("1234");
  expect(count(1234567)).toBe("1\u202f234\u202f567");
  expect(fixed(12345.67891, 5)).toBe("12\u202f345.67891");
});

test("memory in powers of 1024", () => {
  expect(bytes(8 * 2 ** 30)).toBe("8.00\u202fGiB");
  expect(bytes(0)).toBe("0\u202fB");
});

test("a time of the wall clock is in UTC, to the millisecond", () => {
  expect(wallClock(1_700_000_000_123_456_789)).toBe("2023-11-14T22:13:20.123Z");
});
