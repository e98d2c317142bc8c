// The data that crates/report puts into the page; an absent field was not measured.
import type { Page } from "./shapes";

/** Reads the data inside the page; an error names what is wrong with it. */
export function parse(text: string): Page {
  if (text.trim() === "") throw new Error("this page holds no run: `tacho report RUN` fills it");
  const page = JSON.parse(text) as Page;
  if (page.format !== 1)
    throw new Error(`data of format ${String(page.format)}, expected 1: page and data are of different versions`);
  return page;
}
