// Zoom, pan, what of a row is seen, and where stretches stand.
import { describe, expect, it } from "vitest";
import { placed } from "../src/timeline/chain";
import { linked, linkTo } from "../src/timeline/link";
import { actionOf } from "../src/timeline/keys";
import { firstFrom, rowOf, sliceAt, visible } from "../src/timeline/rows";
import { duration, fitted, panned, reaching, ticks, within, zoomed } from "../src/timeline/view";

const LIMITS = { from: 0, to: 1_000_000 };

describe("a view", () => {
  it("keeps the time under the pointer in its place", () => {
    const view = zoomed({ from: 200_000, to: 600_000 }, 0.5, 300_000, LIMITS);
    expect(view).toEqual({ from: 250_000, to: 450_000 });
    expect(zoomed(view, 2, 300_000, LIMITS)).toEqual({ from: 200_000, to: 600_000 });
  });
  it("stays inside the limits and above its shortest length", () => {
    expect(zoomed({ from: 0, to: 900_000 }, 10, 0, LIMITS)).toEqual(LIMITS);
    expect(panned({ from: 700_000, to: 900_000 }, 5, LIMITS)).toEqual({ from: 800_000, to: 1_000_000 });
    const short = within({ from: 10, to: 11 }, LIMITS);
    expect(short.to - short.from).toBe(500);
  });
  it("moves as little as it must to show something", () => {
    const view = { from: 0, to: 1000 };
    expect(reaching(view, 100, 900, LIMITS)).toBe(view);
    expect(reaching(view, 5000, 5100, LIMITS)).toEqual({ from: 4550, to: 5550 });
    const whole = fitted(100_000, 300_000, LIMITS);
    expect(whole).toEqual({ from: 84_000, to: 316_000 });
  });
  it("has round ticks", () => {
    expect(ticks({ from: 0, to: 1000 }, 500, 100)).toEqual([0, 200, 400, 600, 800, 1000]);
    expect(duration(12_345_678)).toBe("12.35\u202fms");
  });
});

describe("a row", () => {
  const row = rowOf([0, 1, 2, 3], [0, 10, 12, 500], [5, 11, 100, 900]);
  const seen = (from: number, to: number, width: number): number[][] => {
    const all: number[][] = [];
    visible(row, from, to, width, (x, w, i, count, busy) => all.push([x, w, i, count, busy]));
    return all;
  };
  it("shows wide slices as they are", () => {
    expect(seen(0, 1000, 1000)).toEqual([
      [0, 5, 0, 1, 1],
      [10, 1, 1, 1, 1],
      [12, 88, 2, 1, 1],
      [500, 400, 3, 1, 1],
    ]);
  });
  it("merges those that begin in one pixel and says how busy it is", () => {
    expect(seen(0, 1000, 20)).toEqual([
      [0, 1, 0, 2, 0.12],
      [0.24, 1.76, 2, 1, 1],
      [10, 8, 3, 1, 1],
    ]);
  });
  it("begins with the slice that is cut by the edge, and ends at the other", () => {
    expect(seen(50, 400, 350).map(([, , i]) => i)).toEqual([2]);
    expect(seen(901, 1000, 10)).toEqual([]);
  });
  it("finds the slice at a time, or the nearest within reach", () => {
    expect([sliceAt(row, 50, 0), sliceAt(row, 300, 0), sliceAt(row, 495, 10), sliceAt(row, 905, 10)]).toEqual([
      2, -1, 3, 3,
    ]);
  });
  it("draws a million slices with no more than two rectangles a pixel, wherever and however far it is zoomed", () => {
    const count = 1_000_000;
    const start = Float64Array.from({ length: count }, (_, i) => i * 60_000 + ((i * 7919) % 30_000));
    const end = start.map((from, i) => from + 100 + ((i * 104_729) % 29_000));
    const million = rowOf(
      Int32Array.from({ length: count }, (_, i) => i),
      start,
      end,
    );
    for (const length of [60e9, 6e9, 1e8, 1e6, 1e4]) {
      for (let from = 0; from < 60e9; from += 6e9) {
        let [rectangles, slices] = [0, 0];
        visible(million, from, from + length, 1000, (_x, _w, _i, many) => {
          rectangles++;
          slices += many;
        });
        expect(rectangles).toBeLessThanOrEqual(2002);
        // Every slice that touches the view is in one of them.
        const touching = firstFrom(million.start, from + length) - firstFrom(million.end, from);
        expect(slices).toBeGreaterThanOrEqual(touching);
      }
    }
  });
});

describe("stretches of a wait", () => {
  const piece = (part: "transport" | "alignment" | "queueing", took: number, from = NaN) => ({
    part,
    words: part,
    position: 1,
    inside: false,
    from,
    took,
  });
  it("stand where they began, and the others where there is room", () => {
    const pieces = [piece("alignment", 30), piece("transport", 20), piece("queueing", 50, 150)];
    const found = placed(pieces, [[100, 200]]).stretches.sort((a, b) => a.from - b.from);
    expect(found.map(({ part, from, to }) => [part, from, to])).toEqual([
      ["transport", 100, 120],
      ["alignment", 120, 150],
      ["queueing", 150, 200],
    ]);
  });
  it("fill the whole time, whatever does not fit at its place, and what has none is left", () => {
    const { stretches, free, left } = placed([piece("queueing", 65, 180), piece("transport", 40)], [[100, 200]]);
    const found = stretches.sort((a, b) => a.from - b.from);
    expect(free).toEqual([]);
    expect(left.map(({ part, took }) => [part, took])).toEqual([["queueing", 5]]);
    expect(found.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(100);
    expect(found.every(({ from }, i) => i === 0 || from >= (found[i - 1]?.to ?? 0))).toBe(true);
  });
});

describe("keys", () => {
  const press = (key: string, more = {}) =>
    actionOf({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });
  it("are those of Perfetto, and leave the browser its own", () => {
    expect(["w", "S", "a", "D", "f", "/", "?", "Enter"].map((key) => press(key))).toEqual([
      "zoom in",
      "zoom out",
      "left",
      "right",
      "focus",
      "search",
      "help",
      "found",
    ]);
    expect(press("w", { ctrlKey: true })).toBeUndefined();
    expect(press("Tab")).toBeUndefined();
    expect(press("toString")).toBeUndefined();
  });
});

describe("a link", () => {
  it("holds run and view, and is refused if it is none", () => {
    const view = { from: 1_000_000_007, to: 2_500_000_000 };
    expect(linked(linkTo(1, view))).toEqual({ run: 1, view });
    expect(linked("#timeline")).toBeUndefined();
    expect(linked("#timeline=0,5,5")).toBeUndefined();
    expect(linked("#timeline=0,1e9,5")).toBeUndefined();
  });
});
