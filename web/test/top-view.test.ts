// The drive from above, decoded, against what is written out by hand.
import { describe, expect, it } from "vitest";
import type { TopView } from "../src/shapes";
import { classesOf, decodeDrive, inForce, lastBy, lateOnes, listAt, stateAt } from "../src/top-view/data";
import { instanceWords } from "../src/top-view/section";
import { column, differences, maybe } from "./columns";

const MS = 1e6;

/** A car that drives 10 m along x in a second, then turns left; one plan, one object, one late instance. */
const view: TopView = {
  car: {
    node: "/car",
    states: 3,
    at: differences(0, 1000 * MS, 2000 * MS),
    x_mm: differences(0, 10_000, 10_000),
    y_mm: differences(0, 0, 4_000),
    heading_mrad: maybe(3100, -3100, -3100),
    speed_mm_s: maybe(10_000, 4_000, undefined),
    steering_mrad: maybe(0, 0, 0),
    lateral_error_mm: maybe(-500, 500, 500),
  },
  ages: { at: differences(500 * MS, 1500 * MS), age_us: column(40_000, 90_000) },
  lane_x_mm: differences(0, 10_000, 10_000),
  lane_y_mm: differences(0, 0, 10_000),
  lane_width_m: 3.5,
  seen: [
    {
      node: "/detection",
      at: differences(100 * MS, 200 * MS, 300 * MS),
      counts: column(2, 0, 1),
      x_mm: differences(1000, 2000, 3000),
      y_mm: differences(0, -500, 0),
      radius_mm: differences(400, 400, 500),
    },
  ],
  plans: [],
  chains: [
    {
      name: "control",
      path: ["/odometry", "/pose", "/car"],
      end: differences(600 * MS, 1600 * MS),
      duration: column(50 * MS, 150 * MS),
      part: column(0, 4),
      took: column(30 * MS, 110 * MS),
      worst: [{ instance: 1, kind: "executor_busy", by: "the map", node: "/car", took_ns: 100 * MS, usual_ns: MS }],
    },
  ],
};
const drive = decodeDrive(view);

describe("the car", () => {
  it("is between two states, and turns the short way", () => {
    const half = stateAt(drive, 500 * MS);
    expect([half.x, half.y, half.speed, half.lateralError]).toEqual([5, 0, 7, 0]);
    expect(Math.abs(half.heading)).toBeCloseTo(Math.PI, 2);
    expect(stateAt(drive, 2000 * MS)).toMatchObject({ x: 10, y: 4, speed: NaN, lateralError: 0.5 });
  });
  it("stays before the first and behind the last state", () => {
    expect(stateAt(drive, -5).x).toBe(0);
    expect(stateAt(drive, 9e9)).toMatchObject({ x: 10, y: 4 });
  });
  it("has the age of the command that came last", () => {
    expect([...drive.age]).toEqual([NaN, 40, 90]);
    expect(lastBy(drive.arrival, 499 * MS)).toBe(-1);
  });
});

describe("objects", () => {
  const [seen] = drive.seen;
  it("are those of the latest list, also if that is empty", () => {
    if (seen === undefined) throw new Error("nothing was seen");
    expect(listAt(seen, 99 * MS, 1e9)).toEqual([]);
    expect(listAt(seen, 150 * MS, 1e9)).toEqual([
      { x: 1, y: 0, radius: 0.4 },
      { x: 2, y: -0.5, radius: 0.4 },
    ]);
    expect(listAt(seen, 250 * MS, 1e9)).toEqual([]);
    expect(listAt(seen, 310 * MS, 1e9)).toEqual([{ x: 3, y: 0, radius: 0.5 }]);
  });
  it("are forgotten when they are old", () => {
    if (seen === undefined) throw new Error("nothing was seen");
    expect(listAt(seen, 400 * MS, 50 * MS)).toEqual([]);
  });
});

describe("messages", () => {
  it("are in force from their end on", () => {
    const [chain] = drive.chains;
    if (chain === undefined) throw new Error("there is no chain");
    expect(inForce(chain, 599 * MS)).toBeUndefined();
    expect(inForce(chain, 1599 * MS)).toMatchObject({ number: 0, from: 550 * MS, to: 600 * MS });
    expect(inForce(chain, 1600 * MS)).toMatchObject({ number: 1, from: 1450 * MS });
  });
  it("say what they waited for", () => {
    const [late] = lateOnes(drive);
    if (late === undefined) throw new Error("nothing was late");
    const words = instanceWords(late).replace(/\s/g, " ");
    expect(words).toBe(
      "150 ms, of which 110 ms alignment; late: executor busy with the map at /car, 100 ms, usually 1 ms.",
    );
  });
});

describe("colours", () => {
  it("divide the range evenly, and leave out what is not known", () => {
    const { of, limits } = classesOf(Float64Array.of(0, 1.9, 2, 9.9, 10, NaN), 5);
    expect([...of]).toEqual([0, 0, 1, 4, 4, -1]);
    expect(limits).toEqual([0, 2, 4, 6, 8, 10]);
  });
  it("are one if nothing differs", () => {
    expect(classesOf(Float64Array.of(3, 3), 5)).toEqual({ of: Int8Array.of(0, 0), limits: [3, 3] });
    expect(classesOf(Float64Array.of(NaN), 5).limits).toEqual([]);
  });
});
