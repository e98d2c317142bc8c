import { expect, test } from "vitest";
import { parts } from "../src/findings";

const finding = (...nexts: string[]) => ({
  lint: "queue-too-short",
  finds: "",
  count: nexts.length,
  cases: nexts.map((next, place) => ({ subject: `/n${place}`, evidence: "", cost: "", next })),
});

test("of many cases the worst are shown, the others unfold, and what is the same for all is said once", () => {
  const { shown, folded, next } = parts(finding("sleep", "sleep", "sleep", "sleep"));
  expect([shown.map((of) => of.subject), folded.map((of) => of.subject), next]).toEqual([
    ["/n0", "/n1"],
    ["/n2", "/n3"],
    "sleep",
  ]);
});

test("three cases are shown, and what is another for each stands with each", () => {
  const { shown, folded, next } = parts(finding("sleep", "wake", "sleep"));
  expect([shown.length, folded.length, next]).toEqual([3, 0, undefined]);
});
