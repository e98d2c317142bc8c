// Arranges a sweep's points: a legend of the colours, and a panel for each combination of the other dimensions.
import type { SweepPoint } from "../shapes";
import { h } from "../dom";
import { tuples, type Arrangement } from "./columns";
import { grouped, shown, valuesOf, type Value } from "./model";
import { swatches } from "./swatches";

/** More panels than these would bury the rest of the page; the table has every point. */
const MOST_PANELS = 24;
/** Half the width of the page has room for this many distinct places. */
const FEW = 12;

/** The dimension of the colours; without one, all points have the same colour. */
export function coloursOf(points: readonly SweepPoint[], { colour }: Arrangement): (Value | undefined)[] {
  return colour === undefined ? [undefined] : valuesOf(points, colour);
}

/** The legend and the panels, each with its name: side by side if each has few places. */
export function panelsOf<P extends SweepPoint>(
  points: readonly P[],
  arrangement: Arrangement,
  draw: (of: P[]) => Node[],
): HTMLElement[] {
  const { across, colour, panels } = arrangement;
  const colours = coloursOf(points, arrangement);
  const groups = grouped(points, panels);
  const figures = groups
    .slice(0, MOST_PANELS)
    .map(({ name, points: of }) => h("figure", {}, name !== "" && h("figcaption", {}, h("b", {}, name)), ...draw(of)));
  const few = tuples(points, across).length * colours.length <= FEW;
  return [
    ...(colour === undefined ? [] : [swatches(colours.map((value) => shown(colour, value)))]),
    h("div", { class: few && figures.length > 1 ? "panels" : "" }, ...figures),
    ...(groups.length > MOST_PANELS
      ? [
          h(
            "p",
            { class: "remark" },
            `${MOST_PANELS} of ${groups.length} panels are drawn; the table below has every point.`,
          ),
        ]
      : []),
  ];
}
