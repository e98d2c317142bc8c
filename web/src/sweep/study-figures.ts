// Draws the figures of a study in its own arrangement from our points, with the published values beside them.
import type { Figure, SweepPoint } from "../shapes";
import { h, s, section } from "../dom";
import { publishingLayers } from "../layers";
import { boxPanels } from "./boxes";
import type { Arrangement } from "./columns";
import { coursePanels } from "./course";
import { deliveryBars } from "./deliveries";
import { matching, shown, valueOf } from "./model";
import { subscriberPanels } from "./subscribers";
import { valuePanels } from "./values";

/** The section; absent if the study has no figure. */
export function studyFigures(figures: readonly Figure[], points: readonly SweepPoint[]): HTMLElement | undefined {
  if (figures.length === 0) return undefined;
  return section(
    "figures",
    "Figures of the study",
    "These are the study's figures in its own arrangement, drawn from this run's points. Violet shows the numbers that the study published: a band is a range, a hollow symbol or a line is a value.",
    ...figures.flatMap((figure) => [
      h("h3", {}, `${figure.source.charAt(0).toUpperCase()}${figure.source.slice(1)}: ${figure.title}`),
      h("div", { "class": "study-figure", "data-source": figure.source }, ...drawn(figure, points)),
    ]),
  );
}

function drawn(figure: Figure, points: readonly SweepPoint[]): HTMLElement[] {
  const meant = matching(points, figure.where).filter(({ figures }) => figures !== null);
  const several = new Set(meant.map((point) => valueOf(point, "run"))).size > 1;
  // Colours that only distinguish several runs have no meaning in one run.
  const alone = figure.colour === "run" && !several;
  const panels = meant.length === 0 || alone ? [] : panelsOf(figure, meant, points, arranged(figure, several));
  if (panels.length === 0)
    return [
      h("p", { class: "remark" }, `Not in this run: ${figure.lacks ?? `no point with ${described(figure)} has it`}.`),
    ];
  const said = [...new Set(figure.published.map(({ says }) => says))];
  return [...panels, ...(said.length === 0 ? [] : [legend(said)])];
}

/** The study's arrangement; several runs take the colour if it is free, and panels of their own if it is not. */
export function arranged({ across, colour, panels }: Figure, several: boolean): Arrangement {
  if (!several || colour === "run") return { across, colour, panels };
  return colour === undefined ? { across, colour: "run", panels } : { across, colour, panels: [...panels, "run"] };
}

function panelsOf(
  figure: Figure,
  points: readonly SweepPoint[],
  all: readonly SweepPoint[],
  arrangement: Arrangement,
): HTMLElement[] {
  switch (figure.draw) {
    case "boxes":
      return points.every(({ latency_us }) => latency_us === null)
        ? []
        : boxPanels(points, arrangement, figure.published);
    case "values": {
      const { figures = [], unit, scale, published } = figure;
      return valuePanels(points, { figures, unit, scale }, arrangement, published, all);
    }
    case "course":
      return coursePanels(points, arrangement, figure.published);
    case "deliveries":
      return deliveryBars(points);
    case "publishing_layers":
      return publishingLayers(points);
    case "subscribers":
      return subscriberPanels(points, figure.published);
  }
}

function described({ where }: Figure): string {
  const said = Object.entries(where).flatMap(([path, condition]) =>
    typeof condition === "object" ? [] : [shown(path, condition)],
  );
  return said.length === 0 ? `a place in it` : said.join(", ");
}

function legend(said: readonly string[]): HTMLElement {
  const swatch = (): SVGElement =>
    s(
      "svg",
      { "width": 20, "height": 12, "aria-hidden": "true" },
      s("rect", { class: "published", width: 20, height: 12 }),
      s("line", { class: "published", x1: 0, x2: 20, y1: 6, y2: 6 }),
    );
  return h(
    "ul",
    { class: "legend published" },
    ...said.map((text) => h("li", {}, swatch(), h("span", {}, `published: ${text}`))),
  );
}
