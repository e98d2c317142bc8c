import { expect, test } from "vitest";
import { graphModel, place, wrap } from "../src/graph-model";
import { run, topic } from "./sample";

const path = ["a", "/ab", "b", "/bc", "c"];

test("the chain runs from left to right and no two nodes stand on each other", () => {
  const placed = place(
    graphModel(
      [run("r", [], [topic("/ab", ["a"], ["b", "d"]), topic("/bc", ["b"], ["c"]), topic("/dc", ["d"], ["c"])])],
      path,
    ),
  );
  const at = (name: string) => placed.nodes.find((node) => node.name === name)!;
  expect(at("a").x).toBeLessThan(at("b").x);
  expect(at("b").x).toBeLessThan(at("c").x);
  for (const one of placed.nodes) {
    for (const other of placed.nodes) {
      if (one === other) continue;
      const apart =
        Math.abs(one.x - other.x) >= (one.width + other.width) / 2 ||
        Math.abs(one.y - other.y) >= (one.height + other.height) / 2;
      expect(apart, `${one.name} and ${other.name}`).toBe(true);
    }
  }
  expect(placed.edges.filter(({ critical }) => critical).map(({ from, to }) => from + to)).toEqual(["ab", "bc"]);
  expect(placed.nodes.find(({ name }) => name === "d")?.critical).toBe(false);
});

test("topics between the same two nodes are one line", () => {
  const placed = place(graphModel([run("r", [], [topic("/one", ["a"], ["b"]), topic("/two", ["a"], ["b"])])], []));
  expect(placed.edges).toHaveLength(1);
  expect(placed.edges[0]?.topics).toEqual(["/one", "/two"]);
});

test("a loop, a cycle and names of every object are drawn too", () => {
  const placed = place(
    graphModel(
      [
        run(
          "r",
          [],
          [topic("/t", ["__proto__"], ["constructor", "__proto__"]), topic("/u", ["constructor"], ["__proto__"])],
        ),
      ],
      [],
    ),
  );
  expect(placed.nodes.map(({ name }) => name)).toEqual(["__proto__", "constructor"]);
  expect(placed.edges).toHaveLength(2);
  expect(placed.nodes.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
});

test("topics that every node has do not tie every node to every other", () => {
  const model = graphModel(
    [run("r", [], [topic("/parameter_events", ["a", "b"], ["a", "b"]), topic("/ab", ["a"], ["b"])])],
    [],
  );
  expect(model.edges.map((edge) => edge.topic)).toEqual(["/ab"]);
});

test("the same edge in several runs is one edge", () => {
  const one = run("r", [], [topic("/ab", ["a"], ["b"])]);
  expect(graphModel([one, one], ["a", "/ab", "b"]).edges).toEqual([
    { from: "a", to: "b", topic: "/ab", critical: true },
  ]);
});

test.each([
  ["ndt_matching", ["ndt_matching"]],
  ["/localisation/ndt_matching_node", ["/localisation/", "ndt_matching_", "node"]],
  ["averyveryverylongname", ["averyveryveryl…"]],
  ["a_very_long_name_in_many_pieces_that_would_take_five_lines", ["a_very_long_", "…", "five_lines"]],
  ["", [""]],
])("%s is wrapped", (name, lines) => {
  expect(wrap(name, 15)).toEqual(lines);
});
