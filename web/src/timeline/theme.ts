// Colours of the drawing, from the page's style, light or dark; waits are hatched as elsewhere on the page.
import type { Part } from "../parts";

export type Fill = string | CanvasPattern;

export interface Theme {
  dark: boolean;
  ground: string;
  ink: string;
  soft: string;
  rule: string;
  accent: string;
  tint: string;
  part: Record<Part, Fill>;
  /** Of callbacks, by the colour of their node. */
  slice(hue: number, dim: boolean): string;
  onSlice: string;
}

const MARKS: Partial<Record<Part, string>> = {
  alignment: "M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2",
  queueing: "M1,1 h1.5 v1.5 h-1.5 z M4,4 h1.5 v1.5 h-1.5 z",
  preemption: "M0,0 l6,6 M5,-1 l2,2 M-1,5 l2,2",
  kept: "M1.5,0 v6 M4.5,0 v6",
  off_cpu: "M0,3 h6 M3,0 v6",
  undivided: "M0,3 h6",
};
const STROKE: Partial<Record<Part, string>> = { kept: "alignment", preemption: "queueing", off_cpu: "computation" };
const GROUND: Partial<Record<Part, string>> = { kept: "alignment", preemption: "queueing", off_cpu: "undivided" };

/** Reads the colours as they are now. */
export function themeOf(element: Element, context: CanvasRenderingContext2D): Theme {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const hatched = (part: Part): Fill => {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const on = tile.getContext("2d");
    const marks = MARKS[part];
    if (on === null || marks === undefined) return of(part);
    on.fillStyle = of(`${GROUND[part] ?? part}-ground`);
    on.fillRect(0, 0, 6, 6);
    on.strokeStyle = of(STROKE[part] ?? part);
    on.lineWidth = 1.2;
    on.stroke(new Path2D(marks));
    return context.createPattern(tile, "repeat") ?? of(part);
  };
  const known = new Map<number, string>();
  return {
    dark,
    ground: of("ground"),
    ink: of("ink"),
    soft: of("soft"),
    rule: of("rule"),
    accent: of("accent"),
    tint: of("tint"),
    part: {
      computation: of("computation"),
      transport: of("transport"),
      alignment: hatched("alignment"),
      queueing: hatched("queueing"),
      preemption: hatched("preemption"),
      kept: hatched("kept"),
      off_cpu: hatched("off_cpu"),
      undivided: hatched("undivided"),
    },
    slice(hue, dim) {
      const key = dim ? -1 - hue : hue;
      const colour = known.get(key);
      if (colour !== undefined) return colour;
      const [light, faded] = dark ? ["30% 36%", "16% 24%"] : ["46% 80%", "30% 88%"];
      const made = `hsl(${hue} ${dim ? faded : light})`;
      known.set(key, made);
      return made;
    },
    onSlice: of("ink"),
  };
}

/** A colour for a name: the same on every page. */
export function hueOf(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return (Math.abs(hash) % 24) * 15;
}

const themed = new Set<WeakRef<Element>>();

/** Calls back when the reader's theme changes, for as long as the element exists: a live page replaces it often. */
export function onThemeChange(element: Element, listener: () => void): void {
  if (themed.size === 0) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      for (const of of themed) of.deref()?.dispatchEvent(new Event("theme"));
    });
  }
  for (const of of themed) if (of.deref() === undefined) themed.delete(of);
  themed.add(new WeakRef(element));
  element.addEventListener("theme", listener);
}
