// Tables that sort by any column.
import { h } from "./dom";
import { ABSENT, fixed } from "./format";
import { addressOf, type Subject } from "./subject/address";

export interface SortColumn<T> {
  title: string;
  unit?: string;
  /** Decimals of a number; 0 by default. */
  decimals?: number;
  /** The value to sort by and to show: a number, a text, or nothing if it was not measured. */
  value: (row: T) => number | string | null | undefined;
  /** The page of what the value names, if it has one. */
  about?: (row: T) => Subject | undefined;
}

/** More rows than these are shown only when asked for. */
const ROWS_AT_FIRST = 100;

/** The table, in the order of the data until a header is pressed. */
export function sortable<T>(rows: readonly T[], columns: readonly SortColumn<T>[]): HTMLElement {
  const numeric = columns.map(
    (column) => column.unit !== undefined || rows.some((row) => typeof column.value(row) === "number"),
  );
  const body = h("tbody", {});
  const more = h("button", { type: "button", class: "more" }, `show all ${rows.length} rows`);
  let order = [...rows];
  let all = rows.length <= ROWS_AT_FIRST;
  const fill = (): void => {
    const shown = all ? order : order.slice(0, ROWS_AT_FIRST);
    body.replaceChildren(
      ...shown.map((row) =>
        h(
          "tr",
          {},
          ...columns.map((column, i) =>
            cell(column.value(row), column.decimals ?? 0, numeric[i] === true, column.about?.(row)),
          ),
        ),
      ),
    );
    more.hidden = all;
  };
  more.addEventListener("click", () => {
    all = true;
    fill();
  });
  const headers = columns.map((column, i) => {
    const button = h(
      "button",
      { type: "button" },
      column.title,
      column.unit !== undefined && h("small", {}, ` ${column.unit}`),
    );
    const header = h("th", { scope: "col", class: numeric[i] === true ? "number" : null }, button);
    button.addEventListener("click", () => {
      const down =
        header.getAttribute("aria-sort") === "none" || header.getAttribute("aria-sort") === null
          ? numeric[i] === true
          : header.getAttribute("aria-sort") === "ascending";
      for (const other of headers) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      order = sorted(rows, column.value, down);
      fill();
    });
    return header;
  });
  fill();
  return h(
    "div",
    { class: "wide" },
    h("table", { class: "figures" }, h("thead", {}, h("tr", {}, ...headers)), body),
    more,
  );
}

/** Puts a title before a table, or before a sentence if there are no rows. */
export function titled(title: string, lead: string, rows: readonly unknown[], table: HTMLElement): HTMLElement[] {
  if (rows.length === 0) return [h("h3", {}, title), h("p", { class: "remark" }, "None was seen in this run.")];
  return [h("h3", {}, title), ...(lead === "" ? [] : [h("p", { class: "lead" }, lead)]), table];
}

/** Sorts rows by a value; rows without a value come last in both directions. */
export function sorted<T>(rows: readonly T[], value: SortColumn<T>["value"], descending: boolean): T[] {
  const collator = new Intl.Collator("en", { numeric: true });
  return [...rows].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
    if (b === null || b === undefined) return -1;
    const difference = typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
    return descending ? -difference : difference;
  });
}

function cell(
  value: number | string | null | undefined,
  decimals: number,
  numeric: boolean,
  about: Subject | undefined,
): HTMLElement {
  if (value === null || value === undefined) return h("td", { class: "absent", title: "not measured" }, ABSENT);
  return typeof value === "number"
    ? h("td", { class: "number" }, fixed(value, decimals))
    : h(
        "td",
        { class: numeric ? "number" : null },
        about === undefined ? value : h("a", { href: addressOf(about) }, value),
      );
}
