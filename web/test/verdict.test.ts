import { expect, test } from "vitest";
import { explained } from "../src/causes";
import type { ChainFigures, Culprit, LateInstance, Page, PageRun, Verdict } from "../src/shapes";
import { estimate, only } from "../src/verdict";
import { chain, run } from "./sample";

const worst = (ms: number): LateInstance[] => [{ start_ns: 0, end_to_end_ms: ms, parts: [] }];
const late = (path: string, critical: boolean, ms: number): ChainFigures => ({
  ...chain(path, critical, ms),
  name: "a to c",
  worst: worst(ms),
});
const page = (...runs: PageRun[]): Page => ({ ...({ format: 1 } as Page), runs });
const verdict: Verdict = {
  text: "a to c: usually 1 ms, at worst 2000 ms.",
  path: ["a", "/t", "b", "/u", "c"],
  instances: 9,
  late_instances: 4,
  late_cases: 3,
  culprits: [],
  worst_ms: 2000,
};

test("of chains that share a name the critical one comes first, and each has a name of its own", () => {
  const chains = [late("a /s c", false, 1320), late("a /t b /u c", true, 2000), late("a /v d /u c", false, 7)];
  const found = explained(page(run("car", chains)));
  expect(found[0]?.chain.worst[0]?.end_to_end_ms).toBe(2000);
  expect(found.map(({ label }) => label)).toEqual([
    "a to c through b",
    "a to c through no other node",
    "a to c through d",
  ]);
  const twice = explained(page(run("car", [late("a /s c", false, 1), late("a /w c", false, 2)])));
  expect(new Set(twice.map(({ label }) => label)).size).toBe(2);
});

test("the chain that the verdict is about comes before the critical one", () => {
  const of = run("car", [late("a /s c", true, 1320), late("a /t b /u c", false, 2000)]);
  of.summary.verdict = verdict;
  expect(explained(page(of))[0]?.chain.path).toEqual(verdict.path);
});

test("of several runs the chain that is compared comes first, by its row and not by its name", () => {
  const of = run("before", [late("a /s c", false, 1320), late("a /t b /u c", false, 2000)]);
  of.compared = { chain: 1 };
  const found = explained(page(of, run("after", [late("a /s c", true, 3)])));
  expect(found[0]?.chain.worst[0]?.end_to_end_ms).toBe(2000);
  expect(found[0]?.label).toBe("a to c through b, before");
});

test("the headline is the verdict of the only run, and an estimate is given where it is known and less", () => {
  const of = run("car", []);
  of.summary.verdict = verdict;
  expect(only(page(of))?.text).toBe(verdict.text);
  expect(only(page(of, run("other", [])))).toBeUndefined();
  const culprit: Culprit = { text: "b", next: "Sleep.", instances: 3, worst_without_ms: 57.2, late_without: 1 };
  expect(estimate(verdict, culprit)).toBe(" Then about 57.2 ms at worst, 1 of 3 late (estimate).");
  expect(estimate(verdict, { ...culprit, worst_without_ms: 2000 })).toBe("");
  expect(estimate(verdict, { ...culprit, worst_without_ms: undefined as unknown as number })).toBe("");
});
