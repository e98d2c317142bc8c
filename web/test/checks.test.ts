import { describe, expect, it } from "vitest";
import { checksOverCallback, totalOfChecks } from "../src/checks";

describe("checks of study E", () => {
  it("are one at each wake of 750 instances of 100 ms", () => {
    // 75 s at 300 Hz are 22,500 wakes.
    expect(totalOfChecks(0.05, 300)).toBeCloseTo(1125);
    // 30 wakes of 0.05 ms for each instance, and a callback of 2.5 ms.
    expect(checksOverCallback({ name: "n", check_ms: 0.05, execution_ms: 2.5 }, 300)).toBeCloseTo(60);
  });
});
