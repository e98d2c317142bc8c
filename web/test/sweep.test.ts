import { describe, expect, it } from "vitest";
import type { Measure, Point, SweepPoint } from "../src/data";
import { received, sent } from "../src/sweep/shares";
import { ours } from "../src/sweep/measures";
import { dimensions, grouped, matching, numberOf, valueOf, valuesOf } from "../src/sweep/model";
import { distribution } from "./sample";

function point(figures: Partial<Point> | null, parameters: Record<string, string> = {}): SweepPoint {
  const whole: Point = {
    middleware: "ros2",
    transport: "",
    parameters,
    repeats: 1,
    publishers: 1,
    subscribers: 1,
    sent: 10,
    received: 10,
    lost: 0,
    in_time: 10,
    late: 0,
    publishing: [],
    subscribing: [],
    dropped_events: 0,
    ...figures,
  };
  return { name: "000", parameters, figures: figures === null ? null : whole, missing: [], latency_us: null, course: [] };
}

const values = (figure: string, where: Record<string, number | string> = {}, by: string[] = []): Measure => ({
  kind: "values",
  figure,
  title: "t",
  unit: "us",
  scale: 1,
  where,
  by,
});

describe("values of points", () => {
  it("are figures by path, else parameters, and absent where not measured", () => {
    const one = point({ latency_us: distribution(1, 2, 9) }, { priority: "fifo 80", middleware: "not this one" });
    expect(valueOf(one, "latency_us.median")).toBe(2);
    expect(valueOf(one, "middleware")).toBe("ros2");
    expect(valueOf(one, "transport")).toBe("default");
    expect(valueOf(one, "priority")).toBe("fifo 80");
    expect(valueOf(one, "fairness.spread_us")).toBeUndefined();
    expect(valueOf(point(null, { size: "64 B" }), "size")).toBe("64 B");
  });

  it("of what was due and not sent are absent where nothing was due", () => {
    expect(numberOf(point({ due: 600, sent: 450 }), "not_sent_percent")).toBe(25);
    expect(numberOf(point({}), "not_sent_percent")).toBeUndefined();
    const layer = (name: string, us: number, includes?: string[]) => ({ layer: name, duration_us: distribution(us), ...(includes && { includes }) });
    const told = { messages: 9, latency_us: distribution(100), layers: [layer("publish_rcl", 10), layer("publish_dds", 30), layer("executor", 60)] };
    const vague = { messages: 9, latency_us: distribution(100), layers: [layer("publish_dds", 30, ["publish_rcl"]), layer("executor", 60)] };
    expect(numberOf(point({ layers: [vague, told] }), "publish_dds_percent")).toBe(75);
    expect(numberOf(point({ layers: [vague] }), "publish_dds_percent")).toBeUndefined();
  });

  it("sort as numbers", () => {
    const points = [100, 9, 20].map((size_bytes) => point({ size_bytes }));
    expect(valuesOf(points, "size_bytes")).toEqual([9, 20, 100]);
    expect(matching(points, { size_bytes: { least: 20 } })).toHaveLength(2);
    expect(matching(points, { size_bytes: "greatest" })).toEqual([points[0]]);
    expect(matching(points, { size_bytes: { not: 9 } })).toHaveLength(2);
  });

  it("tell points apart only where they differ, and a parameter that is an identity is not told twice", () => {
    const points = [10, 20].map((size_bytes) => point({ size_bytes }, { size: `${size_bytes} B`, durability: "volatile" }));
    expect(dimensions(points, ["size", "durability"])).toEqual(["size_bytes"]);
    expect(grouped(points, ["middleware", "size_bytes"]).map(({ name }) => name)).toEqual(["10 B", "20 B"]);
  });
});

describe("ours beside published", () => {
  it("counts points below a bound, of those that measured it", () => {
    const points = [point({ latency_us: distribution(5) }), point({ latency_us: distribution(50) }), point({})];
    const measure: Measure = { kind: "count", figure: "latency_us.median", title: "below 10", below: 10 };
    expect(ours(points, measure)).toEqual([{ group: "below 10", text: "1 of 2" }]);
  });

  it("gives the range of each group, scaled", () => {
    const points = [2000, 3000].map((us) => point({ middleware: "a", latency_us: distribution(us) }));
    points.push(point({ middleware: "b", latency_us: distribution(8000) }));
    const measure = { ...values("latency_us.mean", {}, ["middleware"]), unit: "ms", scale: 0.001 } as Measure;
    expect(ours(points, measure)).toEqual([
      { group: "t: a", text: "2.00 to 3.00 ms" },
      { group: "t: b", text: "8.00 ms" },
    ]);
  });

  it("divides points that agree in the rest, and leaves out those without a partner", () => {
    const at = (rate_hz: number, size_bytes: number, us: number): SweepPoint =>
      point({ rate_hz, size_bytes, latency_us: distribution(us) });
    const points = [at(10, 1, 100), at(100, 1, 50), at(10, 2, 100), at(100, 2, 300), at(100, 3, 7)];
    const measure: Measure = {
      kind: "ratio",
      figure: "latency_us.median",
      title: "t",
      of: { rate_hz: 100 },
      to: { rate_hz: 10 },
      by: ["size_bytes"],
      each: [],
    };
    expect(ours(points, measure)).toEqual([
      { group: "t: 1 B", text: "0.500×" },
      { group: "t: 2 B", text: "3.00×" },
    ]);
  });

  it("says what is missing instead of being empty", () => {
    expect(ours([point({})], values("latency_us.mean", { topology: "one-to-many" }))[0]?.text).toBe(
      "not in this run: no point with topology one-to-many",
    );
    expect(ours([point({})], values("latency_us.mean"))[0]?.text).toContain("has a latency mean");
  });
});

describe("deliveries", () => {
  it("hold every message once", () => {
    const figures = point({ due: 100, sent: 80, sent_late: 5, received: 75, lost: 5, in_time: 70, late: 5 }).figures as Point;
    expect(sent(figures)?.map(({ messages }) => messages)).toEqual([75, 5, 20]);
    expect(received(figures).map(({ messages }) => messages)).toEqual([70, 5, 5]);
  });

  it("judge nothing that emulated time lies in", () => {
    const { in_time, late, ...figures } = point({ received: 75, lost: 5 }).figures as Point;
    expect(received(figures)).toEqual([
      { kind: "unjudged", title: "taken, in emulated time", messages: 75 },
      { kind: "gone", title: "lost", messages: 5 },
    ]);
  });

  it("know no due messages where none were due by the clock", () => {
    expect(sent(point({}).figures as Point)).toBeUndefined();
  });
});
