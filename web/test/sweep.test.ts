import { describe, expect, it } from "vitest";
import type { Measure, PageRun, Point, SweepPoint } from "../src/shapes";
import { received, sent } from "../src/sweep/shares";
import { columns } from "../src/sweep/columns";
import { laidOver } from "../src/sweep/laid-over";
import { marksOf, reach } from "../src/sweep/marks";
import { ours } from "../src/sweep/measures";
import { arranged } from "../src/sweep/study-figures";
import { dimensions, grouped, label, matching, numberOf, valueOf, valuesOf } from "../src/sweep/model";
import { distribution, run } from "./sample";

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
    layers: [],
    publishing: [],
    subscribing: [],
    dropped_events: 0,
    ...figures,
  };
  return {
    name: "000",
    parameters,
    figures: figures === null ? null : whole,
    missing: [],
    latency_us: null,
    course: [],
  };
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
    const layer = (name: string, us: number, includes?: string[]) => ({
      layer: name,
      duration_us: distribution(us),
      ...(includes && { includes }),
    });
    const told = {
      messages: 9,
      latency_us: distribution(100),
      layers: [layer("publish_rcl", 10), layer("publish_dds", 30), layer("executor", 60)],
    };
    const vague = {
      messages: 9,
      latency_us: distribution(100),
      layers: [layer("publish_dds", 30, ["publish_rcl"]), layer("executor", 60)],
    };
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
    const points = [10, 20].map((size_bytes) =>
      point({ size_bytes }, { size: `${size_bytes} B`, durability: "volatile" }),
    );
    expect(dimensions(points, ["size", "durability"])).toEqual(["size_bytes"]);
    const via = [
      point({ middleware: "ros1", transport: "tcpros" }, { via: "ROS 1" }),
      point({ middleware: "cyber" }, { via: "Cyber" }),
    ];
    expect(dimensions(via, ["via"])).toEqual(["middleware/transport"]);
    // One middleware twice: then the parameter says more, and the middleware follows from it.
    const pairs = [...via, point({ middleware: "cyber" }, { via: "Cyber across" })];
    expect(dimensions(pairs, ["via"])).toEqual(["via"]);
    const independent = via.flatMap((of) =>
      ["any", "one"].map((cpus) => ({ ...of, parameters: { ...of.parameters, cpus } })),
    );
    expect(dimensions(independent, ["via", "cpus"])).toEqual(["middleware/transport", "cpus"]);
    expect(grouped(points, ["middleware", "size_bytes"]).map(({ name }) => name)).toEqual(["10 B", "20 B"]);
  });
});

describe("columns", () => {
  const points = [7, 31].flatMap((subscribers) =>
    [16, 64].map((size_bytes) => point({ subscribers, size_bytes, rate_hz: size_bytes })),
  );
  const arrangement = { across: ["subscribers", "size_bytes"], panels: [] };

  it("stand in the order of their values, the outer ones together", () => {
    const { placed, labels, outer } = columns([...points].reverse(), arrangement, [undefined], [0, 400]);
    expect(labels.map(({ text }) => text)).toEqual(["16 B", "64 B", "16 B", "64 B"]);
    expect(outer.map(({ text }) => text)).toEqual(["7 subscribers", "31 subscribers"]);
    expect(placed.map(({ point: of }) => of)).toEqual(points);
    expect(placed.every(({ from, wide }, i) => i === 0 || from > (placed[i - 1]?.from ?? 0) + wide - 1e-9)).toBe(true);
  });

  it("have a place for each colour, and points that nothing tells apart share one", () => {
    const twice = [point({ middleware: "a" }), point({ middleware: "b" }), point({ middleware: "b" })];
    const { placed } = columns(twice, { across: [], colour: "middleware", panels: [] }, ["a", "b"], [0, 90]);
    expect(placed.map(({ colour }) => colour)).toEqual([0, 1, 1]);
    expect(placed[2]?.from).toBeCloseTo((placed[1]?.from ?? 0) + (placed[1]?.wide ?? 0));
  });
});

describe("what was published", () => {
  const at = (middleware: string, size_bytes: number, us: number): SweepPoint =>
    point({ middleware, size_bytes, latency_us: distribution(us) });
  const points = [at("socket", 1, 100), at("ros2", 1, 130), at("socket", 2, 400), at("ros2", 2, 900), at("ros2", 3, 1)];

  it("stands beside the points that are meant alone", () => {
    const marks = marksOf(
      [{ says: "s", where: { size_bytes: { least: 2 }, middleware: "ros2" }, values: [7] }],
      points,
      points,
      "latency_us.mean",
      1,
    );
    expect(marks.map(({ point: of, values: found }) => [of, found])).toEqual([
      [points[3], [7]],
      [points[4], [7]],
    ]);
    expect(reach(marks)).toEqual([7, 7]);
  });

  it("is a multiple of ours where the study says so, and absent without ours", () => {
    const times = { of: { middleware: "socket" }, by: ["size_bytes"] };
    const marks = marksOf(
      [{ says: "s", where: { middleware: "ros2" }, times, from: 1, to: 1.5 }],
      points,
      points,
      "latency_us.mean",
      0.001,
    );
    expect(marks.map(({ from, to }) => [from, to])).toEqual([
      [0.1, expect.closeTo(0.15)],
      [0.4, expect.closeTo(0.6)],
    ]);
  });
});

describe("several runs of a sweep", () => {
  const swept = (label: string, kernel: string): PageRun => ({
    ...run(label, []),
    sweep: { parameters: ["size"], points: [point({ size_bytes: 1 })], study: null },
    info: {
      ...run(label, []).info,
      machine: { host: "h", cpu: "c", cpus: 2, memory_bytes: 1, kernel, preemption: "voluntary", clocksource: "tsc" },
    },
  });

  it("are laid over each other, and told apart by run and kernel", () => {
    const sweep = laidOver([swept("a", "6.1"), swept("a", "6.1-rt")]);
    expect(sweep?.points.map(({ parameters }) => parameters["run"])).toEqual([
      "a (Linux 6.1 voluntary)",
      "a (Linux 6.1-rt voluntary)",
    ]);
    expect(dimensions(sweep?.points ?? [], sweep?.parameters ?? [])).toEqual(["run"]);
    expect(laidOver([swept("a", "6.1"), swept("a", "6.1")])?.points.map(({ name }) => name)).toEqual([
      "1: a/000",
      "2: a/000",
    ]);
  });

  it("have the free colour of a study's figure, else panels of their own, and their name at each point", () => {
    const figure = {
      source: "",
      title: "",
      draw: "boxes",
      unit: "",
      scale: 1,
      where: {},
      across: ["size_bytes"],
      panels: ["rate_hz"],
      published: [],
    } as const;
    const of = (colour: string | undefined, several: boolean) =>
      arranged(
        {
          ...figure,
          across: [...figure.across],
          panels: [...figure.panels],
          published: [],
          ...(colour === undefined ? {} : { colour }),
        },
        several,
      );
    expect([of(undefined, true).colour, of(undefined, false).colour]).toEqual(["run", undefined]);
    expect(of("many", true)).toEqual({ across: ["size_bytes"], colour: "many", panels: ["rate_hz", "run"] });
    expect(of("run", true).panels).toEqual(["rate_hz"]);
    expect(label(point({ size_bytes: 16 }, { run: "rt" }))).toBe("rt: ros2 16 B");
  });

  it("are one sweep as it is where there is one", () => {
    expect(laidOver([swept("a", "6.1")])?.parameters).toEqual(["size"]);
    expect(laidOver([run("a", [])])).toBeUndefined();
  });
});

describe("ours beside published", () => {
  it("counts points below a bound, of those that measured it", () => {
    const points = [point({ latency_us: distribution(5) }), point({ latency_us: distribution(50) }), point({})];
    const measure: Measure = { kind: "count", figure: "latency_us.median", title: "below 10", below: 10 };
    expect(ours(points, measure)).toEqual([{ title: "below 10", group: "", text: "1 of 2" }]);
  });

  it("gives the range of each group, scaled", () => {
    const points = [2000, 3000].map((us) => point({ middleware: "a", latency_us: distribution(us) }));
    points.push(point({ middleware: "b", latency_us: distribution(8000) }));
    const measure = { ...values("latency_us.mean", {}, ["middleware"]), unit: "ms", scale: 0.001 } as Measure;
    expect(ours(points, measure)).toEqual([
      { title: "t", group: "a", text: "2.00 to 3.00 ms" },
      { title: "t", group: "b", text: "8.00 ms" },
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
      { title: "t", group: "1 B", text: "0.500×" },
      { title: "t", group: "2 B", text: "3.00×" },
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
    const figures = point({ due: 100, sent: 80, sent_late: 5, received: 75, lost: 5, in_time: 70, late: 5 })
      .figures as Point;
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
