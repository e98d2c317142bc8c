// The meaning of the colours.
import { h, s } from "../dom";

/** A legend of runs' colours. */
export function swatches(names: readonly string[]): HTMLElement {
  return h(
    "ul",
    { class: "legend" },
    ...names.map((name, i) =>
      h(
        "li",
        {},
        s(
          "svg",
          { "width": 20, "height": 12, "aria-hidden": "true" },
          s("g", { class: `box run-${i % 6}` }, s("rect", { class: "quartiles", x: 1, y: 1, width: 18, height: 10 })),
        ),
        h("span", {}, name),
      ),
    ),
  );
}
