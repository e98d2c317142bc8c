import { expect, test } from "vitest";
import { compare } from "../src/compare";
import { chain, run } from "./sample";

const page = (...runs: ReturnType<typeof run>[]) => ({ format: 1, tacho_version: "", runs });

test("a chain is that of each run which the data names, with its gain", () => {
  const after = run("after", [chain("x /y z", true, 50), chain("a /t b", false, 10, 30)]);
  const compared = compare(
    page(
      { ...run("before", [chain("a /t b", true, 100, 300)]), compared: { chain: 0, gain: 1 } },
      { ...after, compared: { chain: 1, gain: 10, other_critical: 0 } },
    ),
  );
  expect(compared?.chain.name).toBe("a /t b");
  expect(compared?.runs.map(({ gain, figures }) => [gain, figures?.name])).toEqual([
    [1, "a /t b"],
    [10, "a /t b"],
  ]);
  expect(compared?.runs[1]?.otherCritical?.name).toBe("x /y z");
});

test("a run without the chain has no figures and no gain", () => {
  const [before, after] = [run("before", [chain("a /t b", true, 100)]), run("after", [])];
  const compared = compare(page({ ...before, compared: { chain: 0, gain: 1 } }, { ...after, compared: {} }));
  expect(compared?.runs[1]).toMatchObject({ figures: undefined, gain: undefined, drawn: undefined });
});

test("without a critical chain there is nothing to compare", () => {
  expect(compare(page(run("before", [chain("a /t b", false)])))).toBeUndefined();
});
