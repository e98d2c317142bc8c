import { expect, test } from "vitest";
import { sentence } from "../src/live";
import type { Live } from "../src/shapes";

const LIVE: Live = {
  window_s: 10,
  filled_s: 4.25,
  processes: 2,
  events_per_s: 15012.4,
  dropped_events: 0,
  has_ended: false,
  ask_again_ms: 1000,
};

test("the line says how much is seen, of whom, and what is missing", () => {
  expect(sentence(LIVE, false, false)).toBe("last 4.3\u202fs, 15\u202f012 events/s of 2 processes");
  expect(sentence({ ...LIVE, filled_s: 12, processes: 1 }, false, false)).toMatch(/^last 10\.0.*of 1 process$/);
  expect(sentence({ ...LIVE, processes: 0 }, false, false)).toBe("nothing recorded yet");
  expect(sentence({ ...LIVE, dropped_events: 3 }, false, false)).toContain("3 events dropped");
});

test("the line says why nothing moves", () => {
  expect(sentence(LIVE, true, false)).toMatch(/paused, the recording goes on$/);
  expect(sentence({ ...LIVE, has_ended: true }, true, true)).toMatch(/the recording has ended$/);
  expect(sentence(LIVE, false, true)).toMatch(/does not answer any more$/);
});
