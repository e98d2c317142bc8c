// What crates/report put into the page; an absent field was not measured.
import type { Page } from "./shapes";

/** The data inside the page; an error says what is wrong with it. */
export function parse(text: string): Page {
  if (text.trim() === "") throw new Error("this page holds no run: `tacho report RUN` fills it");
  const page = JSON.parse(text) as Page;
  if (page.format !== 1)
    throw new Error(`data of format ${String(page.format)}, expected 1: page and data are of different versions`);
  return page;
}
