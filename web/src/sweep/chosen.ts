// A section that shows one point of a sweep at a time, the worst first.
import type { SweepPoint } from "../shapes";
import { h, section } from "../dom";
import { label } from "./model";

/** A section in which one of the points is chosen. */
export function chosen(
  id: string,
  title: string,
  lead: string,
  points: readonly SweepPoint[],
  worst: (point: SweepPoint) => number,
  draw: (point: SweepPoint) => (Node | string)[],
): HTMLElement | undefined {
  if (points.length === 0) return undefined;
  const start = points.reduce((one, other) => (worst(other) > worst(one) ? other : one));
  const holder = h("div", {}, ...draw(start));
  const select = h(
    "select",
    { "aria-label": `${title}: point` },
    ...points.map((point, i) => h("option", { value: i, selected: point === start }, label(point))),
  );
  select.addEventListener("change", () => {
    const point = points[Number(select.value)];
    if (point !== undefined) holder.replaceChildren(...draw(point));
  });
  return section(id, title, lead, points.length > 1 && h("p", { class: "chosen" }, select), holder);
}
