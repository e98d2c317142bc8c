import { expect, test } from "vitest";
import type { Measure, PageRun } from "../src/shapes";
import { oursOf, publishedRate } from "../src/study-of-runs";
import { run } from "./sample";

const callback = (figure: string, scale = 1, unit = "s"): Measure => ({
  kind: "callback",
  node: "/b",
  figure,
  title: "time",
  unit,
  scale,
  published: [],
});

function ofD(): PageRun {
  const one = run("study d", []);
  const mean = { count: 9, min: 1, q1: 1, median: 1, q3: 1, mean: 9300, p99: 1, max: 1 };
  const of = { kind: "subscription", count: 9, duration_us: mean, output_period_ms: [["/out", 100]] };
  one.summary.callbacks = [{ ...of, node: "/b" }] as unknown as PageRun["summary"]["callbacks"];
  one.in_node_clock_ms = { "/b": 9.25 };
  return one;
}

function ofE(checks: number[]): PageRun {
  const one = run("common rate", []);
  const chain = checks.map((check_ms, i) => ({ name: `n${i}`, check_ms, execution_ms: 1 }));
  one.objective = { points: [], best_hz: 270, diverging_hz: [], input: { chain, others: [], cores: 2 } };
  const published_hz = [{ hz: 300 }, { hz: 220, one_check_ms: 0.5 }];
  const measure: Measure = { kind: "objective", title: "best rate", published_hz };
  one.study = {
    id: "e",
    title: "",
    citation: "",
    setting: "",
    figures: [],
    statements: [{ source: "", says: "", measure }],
  };
  return one;
}

test("figures of a callback stand beside those of study D", () => {
  const text = (measure: Measure) => oursOf([ofD()], measure)[0]?.text;
  expect(text(callback("duration_us.mean", 1e-6))).toBe("0.00930 s");
  expect(text(callback("output_period_ms", 0.001))).toBe("0.100 s");
  expect(text(callback("in_node_clock_ms", 0.001))).toBe("0.00925 s");
  expect(text(callback("duration_of_period_percent", 1, "%"))).toBe("9.30 %");
  expect(oursOf([run("other", [])], callback("duration_us.mean"))).toEqual([
    { group: "", text: "no callback of /b was measured so" },
  ]);
});

test("the best rate names its checks, and the published one is that of the same search", () => {
  const asked = (of: PageRun) => oursOf([of], { kind: "objective", title: "best rate", published_hz: [] })[0]?.text;
  expect(asked(ofE([0.05, 0.05, 0.05]))).toBe("270 Hz, with checks of 0.0500\u202fms on 2 cores");
  expect(asked(ofE([0.05, 0.5, 0.05]))).toBe("270 Hz, with checks of 0.0500\u202fms, of n1 0.500\u202fms on 2 cores");
  expect(publishedRate(ofE([0.05, 0.05, 0.05]))).toBe(300);
  expect(publishedRate(ofE([0.05, 0.5, 0.05]))).toBe(220);
  expect(publishedRate(ofE([0.05, 0.7, 0.05]))).toBeUndefined();
});
