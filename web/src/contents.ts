// The list of the page's sections.
import { h } from "./dom";

/** Links to the sections that have a heading; absent if there are too few to look for one. */
export function contents(sections: readonly (HTMLElement | undefined)[]): HTMLElement | undefined {
  const links = sections.flatMap((one) => {
    const title = one?.tagName === "SECTION" ? one.querySelector("h2")?.textContent : undefined;
    return one === undefined || !title ? [] : [h("li", {}, h("a", { href: `#${one.id}` }, title))];
  });
  if (links.length < 3) return undefined;
  return h("nav", { "class": "contents", "aria-label": "Contents" }, h("ul", {}, ...links));
}
