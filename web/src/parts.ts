// The parts of an end-to-end time: order, meaning, and how each is drawn. Work is solid and waiting is hatched, so that
// they differ even without colour.
import { h, s } from "./dom";
import type { ChainFigures, Parts } from "./shapes";

export type Part =
  "computation" | "off_cpu" | "transport" | "alignment" | "queueing" | "undivided" | "preemption" | "kept";

/** A part's name for people. */
export function nameOf(part: Part): string {
  return part === "off_cpu" ? "off CPU" : part;
}

/** The meaning of each part. */
export const MEANING: Record<Part, string> = {
  computation: "inside callbacks of the chain",
  off_cpu: "inside callbacks of the chain, blocked or asleep; without scheduler events also without a CPU",
  transport: "from the publish call until the message is there",
  alignment: "the message is there, its node is asleep",
  queueing: "the message is there, its executor is busy with other callbacks",
  undivided: "published and not yet taken; the events do not separate transport from waiting",
  preemption: "it could go on and has no CPU",
  kept: "a callback took the message and kept it for a later one that used it",
};

/** The parts that add up to an end-to-end time; off_cpu only with CPU time, preemption only with scheduler events. */
export const CHAIN_PARTS = [
  "computation",
  "off_cpu",
  "preemption",
  "transport",
  "alignment",
  "queueing",
  "kept",
] as const;

/**
 * The parts that some of these chains have: off_cpu only with CPU time, preemption only with scheduler events, kept only
 * if a message was kept.
 */
export function partsOf(chains: readonly (ChainFigures | undefined)[]): Part[] {
  const has = {
    off_cpu: chains.some((chain) => chain?.off_cpu_ms !== undefined),
    preemption: chains.some((chain) => chain?.preemption_ms !== undefined),
    kept: chains.some((chain) => (chain?.kept_ms?.max ?? 0) > 0),
  };
  return CHAIN_PARTS.filter((part) => (part !== "off_cpu" && part !== "preemption" && part !== "kept") || has[part]);
}

/** A part and how long it took, or its mean. */
export interface Time {
  part: Part;
  ms: number;
}

/** The parts that have a value. */
export function timesOf(parts: Parts): Time[] {
  return CHAIN_PARTS.flatMap((part) => {
    const ms = parts[`${part}_ms`];
    return ms === undefined ? [] : [{ part, ms }];
  });
}

/** Mean of each part that was measured. */
export function meanParts(chain: ChainFigures): Time[] {
  return CHAIN_PARTS.flatMap((part) => {
    const ms = chain[`${part}_ms`]?.mean;
    return ms === undefined ? [] : [{ part, ms }];
  });
}

/** Parts one after another: the last ends at their sum after `from`. */
export function laidOut(times: readonly Time[], from = 0): (Time & { from: number; to: number })[] {
  let to = from;
  return times.map((time) => {
    const begin = to;
    to += time.ms;
    return { ...time, from: begin, to };
  });
}

/** The legend for some parts. */
export function legend(parts: readonly Part[]): HTMLElement {
  const items = parts.map((part) =>
    h(
      "li",
      { title: MEANING[part] },
      s(
        "svg",
        { "width": 22, "height": 11, "aria-hidden": "true" },
        s("rect", { class: `part ${part}`, width: 22, height: 11 }),
      ),
      h("span", {}, nameOf(part)),
    ),
  );
  return h("ul", { class: "legend" }, ...items);
}

/** The patterns that styles refer to; once a page. */
export function patterns(): SVGSVGElement {
  const pattern = (part: Part, size: number, ...marks: SVGElement[]): SVGElement =>
    s(
      "pattern",
      { id: `pattern-${part}`, width: size, height: size, patternUnits: "userSpaceOnUse", class: `pattern ${part}` },
      s("rect", { class: "ground", width: size, height: size }),
      ...marks,
    );
  return s(
    "svg",
    { "width": 0, "height": 0, "aria-hidden": "true", "class": "patterns" },
    s(
      "defs",
      {},
      pattern("alignment", 6, s("path", { d: "M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2" })),
      pattern("queueing", 5, s("circle", { cx: 1.5, cy: 1.5, r: 1 }), s("circle", { cx: 4, cy: 4, r: 1 })),
      pattern("undivided", 5, s("path", { d: "M0,2.5 h5" })),
      pattern("kept", 5, s("path", { d: "M2.5,0 v5" })),
      pattern("off_cpu", 4, s("path", { d: "M0,2 h4 M2,0 v4" })),
      pattern("preemption", 6, s("path", { d: "M0,0 l6,6 M5,-1 l2,2 M-1,5 l2,2" })),
    ),
  );
}
