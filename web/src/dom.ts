// Elements. All text goes in as text nodes, so that a name from a trace is never markup.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) throw new Error(`${name}: listeners are added, never written`);
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false)
      element.append(typeof child === "number" ? String(child) : child);
  }
  return element;
}

/** A section of the page with its heading. */
export function section(id: string, title: string, lead: string, ...children: Child[]): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    lead !== "" && h("p", { class: "lead" }, lead),
    ...children,
  );
}

/** A drawing that is drawn again when its width changes. */
export function drawing(describe: string, draw: (width: number) => SVGSVGElement): HTMLElement {
  const holder = h("div", { class: "drawing" });
  let drawn = 0;
  const redraw = (): void => {
    const width = Math.floor(holder.clientWidth);
    if (width === drawn || width === 0) return;
    drawn = width;
    const svg = draw(width);
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", describe);
    holder.replaceChildren(svg);
  };
  new ResizeObserver(redraw).observe(holder);
  return holder;
}

/** An empty SVG of a size, with a view box so that it can shrink when printed. */
export function canvas(width: number, height: number): SVGSVGElement {
  return s("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
}
