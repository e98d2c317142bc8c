// One tip for all drawings: shown for the pointer and for keyboard focus, and read out as the label of its element.
import { h } from "./dom";

let made: HTMLElement | undefined;

/** The tip, which the first call makes. */
function tipOfPage(): HTMLElement {
  if (made === undefined) {
    made = h("div", { class: "tip", role: "tooltip", hidden: true });
    document.body.append(made);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
    });
  }
  return made;
}

/** Gives an element of a drawing a tip of some lines, the first being its title. */
export function withTip<E extends SVGElement>(element: E, lines: string[], focusable = false): E {
  // Only an element with a role may have a label (ARIA 1.2, 5.2.8.6).
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", lines.join("; "));
  if (focusable) {
    element.setAttribute("tabindex", "0");
    element.addEventListener("focus", () => show(lines, element.getBoundingClientRect()));
    element.addEventListener("blur", hide);
  }
  element.addEventListener("pointermove", (event) => {
    // Only the innermost element shows its tip, not the elements under it.
    event.stopPropagation();
    show(lines, new DOMRect(event.clientX, event.clientY, 0, 0));
  });
  element.addEventListener("pointerleave", hide);
  return element;
}

/** Shows the tip at a place of the window. */
export function show(lines: string[], at: DOMRect): void {
  const tip = tipOfPage();
  tip.replaceChildren(...lines.map((line, i) => h("div", { class: i === 0 ? "tip-title" : "tip-line" }, line)));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(Math.max(at.left + at.width / 2 + 12, 8), window.innerWidth - width - 8);
  const below = at.bottom + 14;
  const top = below + height > window.innerHeight ? at.top - height - 10 : below;
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${top + window.scrollY}px`;
}

/** Hides it. */
export function hide(): void {
  if (made !== undefined) made.hidden = true;
}
