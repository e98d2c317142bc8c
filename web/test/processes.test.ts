import { expect, test } from "vitest";
import { ends } from "../src/processes";

test("processes that ended in the same way are told once, with the first of them", () => {
  const killed = Array.from({ length: 30 }, (_, n) => ({ name: `talker_${n}`, pid: 100 + n, signal: 9 }));
  const told = ends([...killed, { name: "lidar", pid: 7, code: 3 }, { name: "fine", pid: 8, code: 0 }]);
  expect(told).toEqual([
    {
      name: "process",
      count: 30,
      text: "talker_0 (100), talker_1 (101), talker_2 (102) and 27 more ended by signal 9",
    },
    { name: "process", count: 0, text: "lidar (7) ended by exit code 3" },
  ]);
});
