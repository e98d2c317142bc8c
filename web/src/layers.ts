// Where the latency of messages goes, layer by layer (study A, figure 12): one bar for each topic, or for each point of
// a sweep.
import { scaleLinear } from "d3-scale";
import type { LayerFigures, Page, SweepPoint } from "./shapes";
import { canvas, drawing, h, s, section } from "./dom";
import { count, percent, significant } from "./format";
import { LAYERS } from "./shapes/words";
import { sortable, type SortColumn } from "./sortable";
import { label } from "./sweep/model";
import { withTip } from "./tip";

/** The meaning of each layer. */
const MEANING: Record<(typeof LAYERS)[number], string> = {
  publish_client_library: "publish call of the application to rcl_publish",
  publish_rcl: "to the call of rmw_publish",
  publish_rmw: "to the middleware's write call",
  publish_dds: "serialisation and history, until handed to the transport",
  transport: "until the subscriber's process has the whole message",
  receive_dds: "until the reader has it",
  executor: "waking, and waiting for other callbacks",
  take_rmw: "reading from the DDS, deserialisation",
  take_rcl: "to rcl_take",
  take_client_library: "to the first line of the callback",
};
/** Name and meaning of a layer. */
type Layer = readonly [string, string];
const MEANT: readonly Layer[] = LAYERS.map((name) => [name, MEANING[name]]);
/** More bars than these would bury the rest of the page; the table has all of them. */
const MOST_BARS = 16;

interface Row {
  name: string;
  figures: LayerFigures;
}

/** The layers of all topics of all runs; absent if none is known. */
export function layers({ runs }: Page): HTMLElement | undefined {
  return panel(
    runs.flatMap(({ label, summary }) =>
      summary.layers.map((figures) => ({
        name: [runs.length > 1 ? label : "", figures.topic ?? ""].filter((word) => word !== "").join(" "),
        figures,
      })),
    ),
    "topic",
  );
}

/** The layers of each point of a sweep. */
export function pointLayers(points: readonly SweepPoint[]): HTMLElement | undefined {
  return panel(
    points.flatMap((point) => mostKnown(point, point.name)),
    "point",
  );
}

/** Bars of the publishing side alone, up to the transport, one for each point; none if its layers are not known. */
export function publishingLayers(points: readonly SweepPoint[]): HTMLElement[] {
  const rows = points
    .flatMap((point) => mostKnown(point, label(point)))
    .flatMap(({ name, figures }) => {
      const layers = figures.layers.filter(({ layer }) => layer.startsWith("publish_"));
      return layers.length < 2 ? [] : [{ name, figures: { ...figures, layers } }];
    });
  if (rows.length === 0) return [];
  const there = MEANT.filter(([name]) =>
    rows.some(({ figures }) => figures.layers.some(({ layer }) => layer === name)),
  );
  return [legend(there), h("table", { class: "runs" }, h("tbody", {}, ...rows.map((row) => bar(row))))];
}

/** The messages of a point of which most layers are known. */
function mostKnown({ figures }: SweepPoint, name: string): Row[] {
  const [most] = [...(figures?.layers ?? [])].sort(
    (a, b) => b.layers.length - a.layers.length || b.messages - a.messages,
  );
  return most === undefined ? [] : [{ name, figures: most }];
}

function panel(rows: readonly Row[], what: string): HTMLElement | undefined {
  if (rows.length === 0) return undefined;
  const there = MEANT.filter(([name]) =>
    rows.some(({ figures }) => figures.layers.some(({ layer }) => layer === name)),
  );
  const slowest = [...rows].sort((a, b) => b.figures.latency_us.mean - a.figures.latency_us.mean).slice(0, MOST_BARS);
  return section(
    "layers",
    "Layers",
    `Mean latency by layer, each bar the whole of its ${what}, from the publish call on the left to the callback on the right. A layer that was not recorded separately is part of the next one.`,
    legend(there),
    h("table", { class: "runs" }, h("tbody", {}, ...slowest.map((row) => bar(row)))),
    rows.length > slowest.length &&
      h("p", { class: "provenance" }, `The ${slowest.length} slowest of ${rows.length}; the table has all.`),
    ...included(rows).map((line) => h("p", { class: "provenance" }, line)),
    h("details", {}, h("summary", {}, "all layers as a table"), sortable(rows, columns(there, what))),
  );
}

function legend(there: readonly Layer[]): HTMLElement {
  const items = there.map(([name, meaning]) =>
    h(
      "li",
      { title: meaning },
      s(
        "svg",
        { "width": 22, "height": 11, "aria-hidden": "true" },
        s("rect", { class: `layer ${name}`, width: 22, height: 11 }),
      ),
      h("span", {}, words(name)),
    ),
  );
  return h("ul", { class: "legend" }, ...items);
}

function bar({ name, figures }: Row): HTMLElement {
  const whole = figures.layers.reduce((sum, { duration_us }) => sum + duration_us.mean, 0);
  const strip = drawing(`latency of ${name} by layer`, (width) => {
    const svg = canvas(width, 20);
    const x = scaleLinear([0, whole], [0, width]);
    let from = 0;
    for (const { layer, duration_us, includes } of figures.layers) {
      const rect = s("rect", { class: `layer ${layer}`, x: x(from), y: 2, width: x(duration_us.mean), height: 16 });
      rect.dataset["mean"] = String(duration_us.mean);
      svg.append(
        withTip(rect, [
          `${name}: ${words(layer)}`,
          `mean ${us(duration_us.mean)}, ${percent(duration_us.mean / whole)}; median ${us(duration_us.median)}, p99 ${us(duration_us.p99)}`,
          MEANT.find(([known]) => known === layer)?.[1] ?? "",
          ...(includes === undefined ? [] : [`with ${includes.map(words).join(", ")}`]),
        ]),
      );
      from += duration_us.mean;
    }
    return svg;
  });
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, name),
    h("td", {}, us(whole), h("small", {}, `${count(figures.messages)} messages`)),
    h("td", { class: "strip" }, strip),
  );
}

/** Which layers include others, each once. */
function included(rows: readonly Row[]): string[] {
  const lines = rows.flatMap(({ figures }) =>
    figures.layers.flatMap(({ layer, includes }) =>
      includes === undefined ? [] : [`${words(layer)} includes ${includes.map(words).join(", ")}`],
    ),
  );
  const once = [...new Set(lines)].sort();
  return once.length === 0 ? [] : [`If not recorded separately: ${once.join("; ")}.`];
}

function columns(there: readonly Layer[], what: string): SortColumn<Row>[] {
  const mean = ({ figures }: Row, name: string): number | undefined =>
    figures.layers.find(({ layer }) => layer === name)?.duration_us.mean;
  return [
    { title: what, value: ({ name }) => name },
    { title: "messages", value: ({ figures }) => figures.messages },
    { title: "latency", unit: "us", decimals: 1, value: ({ figures }) => figures.latency_us.mean },
    ...there.map(([name]): SortColumn<Row> => ({
      title: words(name),
      unit: "us",
      decimals: 1,
      value: (row) => mean(row, name),
    })),
  ];
}

function words(layer: string): string {
  return layer.replaceAll("_", " ");
}

function us(value: number): string {
  return `${significant(value)} µs`;
}
