import { expect, test } from "vitest";
import { compare } from "../src/compare";
import { chain, run } from "./sample";

const page = (...runs: ReturnType<typeof run>[]) => ({ format: 1, tacho_version: "", runs });

test("a chain is followed by its path, and the gain is that of the means", () => {
  const compared = compare(
    page(
      run("before", [chain("a /t b", true, 100, 300)]),
      run("after", [chain("x /y z", true, 50), chain("a /t b", false, 10, 30)]),
    ),
  );
  expect(compared?.runs.map(({ gain }) => gain)).toEqual([1, 10]);
  expect(compared?.runs[1]?.otherCritical?.name).toBe("x /y z");
});

test("a run without the chain has no gain", () => {
  const compared = compare(
    page(run("before", [chain("a /t b", true, 100)]), run("after", [chain("a /other b", true, 10)])),
  );
  expect(compared?.runs[1]).toMatchObject({ figures: undefined, gain: undefined });
});

test("an after of no time at all is no infinite gain", () => {
  const compared = compare(page(run("before", [chain("a /t b", true, 100)]), run("after", [chain("a /t b", true, 0)])));
  expect(compared?.runs[1]?.gain).toBeUndefined();
});

test("without a critical chain there is nothing to compare", () => {
  expect(compare(page(run("before", [chain("a /t b", false)])))).toBeUndefined();
});
