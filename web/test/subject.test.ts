// Pages of nodes and topics: their addresses, and what they hold.
import { expect, test } from "vitest";
import { about, names, subjects } from "../src/subject/about";
import { addressOf, asked } from "../src/subject/address";
import type { Page } from "../src/shapes";
import { chain, run, topic } from "./sample";

test("an address leads to what it was made of, and others to nothing", () => {
  for (const name of ["/planner", "/points/all & more", "/größe=1"]) {
    for (const kind of ["node", "topic"] as const) expect(asked(addressOf({ kind, name }))).toEqual({ kind, name });
  }
  for (const hash of ["", "#graph", "#node=", "#nodes=/a", "#node=%E0%A4%A", "#timeline=0,1,2"])
    expect(asked(hash)).toBeUndefined();
});

test("a name is found as a whole", () => {
  expect(names("execute on_map of /map at 3 Hz", "/map")).toBe(true);
  expect(names("/map", "/map")).toBe(true);
  expect(names("/map_server takes /big/map", "/map")).toBe(false);
  expect(names("/map_server, /map", "/map")).toBe(true);
});

function page(): Page {
  const chains = [chain("/lidar /points /planner /path /control", true, 4, 5), chain("/lidar /points /view", false, 1)];
  const topics = [
    topic("/points", ["/lidar"], ["/planner", "/view"]),
    topic("/path", ["/planner"], ["/control"]),
    topic("/planner", ["/odd"], ["/view"]), // named as a node
  ];
  return { format: 1, tacho_version: "", runs: [run("one", chains, topics)] };
}

test("the page of each node and topic has its figures and no others", () => {
  const whole = page();
  const all = subjects(whole);
  expect(all.length).toBeGreaterThan(2);
  for (const subject of all) {
    const [before, after] = [whole, about(whole, subject)].map(({ runs }) => runs.map(({ summary }) => summary));
    const own = (after ?? []).flatMap(({ callbacks }) => callbacks);
    const expected = (before ?? [])
      .flatMap(({ callbacks }) => callbacks)
      .filter(({ node, topic }) => (subject.kind === "node" ? node : topic) === subject.name);
    expect(own).toEqual(expected);
    for (const { topic, publishers, subscribers } of (after ?? []).flatMap(({ topics }) => topics))
      expect([topic, ...publishers, ...subscribers]).toContain(subject.name);
    for (const { path } of (after ?? []).flatMap(({ chains }) => chains)) expect(path).toContain(subject.name);
  }
});
