// A choice of one among few, as radio buttons.
import { h } from "./dom";

let groups = 0;

/** Radio buttons; `chosen` is called with each new choice. */
export function choice<T extends string>(
  title: string,
  options: readonly T[],
  start: T,
  chosen: (option: T) => void,
): HTMLElement {
  const name = `choice-${groups++}`;
  return h(
    "fieldset",
    { class: "choice" },
    h("legend", {}, title),
    ...options.map((option) => {
      const input = h("input", { type: "radio", name, value: option, checked: option === start });
      input.addEventListener("change", () => chosen(option));
      return h("label", {}, input, h("span", {}, option));
    }),
  );
}
