// Keys of the timeline, as in Perfetto, and what the help says of them.

export type Action =
  | "zoom in"
  | "zoom out"
  | "left"
  | "right"
  | "previous"
  | "next"
  | "up"
  | "down"
  | "sender"
  | "receiver"
  | "focus"
  | "whole"
  | "search"
  | "found"
  | "found before"
  | "worst"
  | "median"
  | "instance before"
  | "instance after"
  | "help"
  | "clear";

/** Key or keys, what they do, and the action of each. */
export const KEYS: readonly [keys: string, does: string][] = [
  ["W, S", "zoom in, zoom out, around the pointer or the middle"],
  ["A, D", "move to the left, to the right"],
  ["F", "zoom to what is selected, else to the instance of the chain"],
  ["0", "the whole span"],
  ["← →", "the callback before, after on the same thread"],
  ["↑ ↓", "the thread above, below"],
  ["[ ]", "follow a message to its sender, to its receiver"],
  ["/", "search; Enter goes to the next, Shift+Enter to the one before"],
  ["1, 2", "the chain's worst, median instance"],
  [", .", "the instance of the chain before, after"],
  ["Esc", "select nothing"],
  ["?", "this list"],
];

const ACTIONS: Record<string, Action> = {
  "w": "zoom in",
  "s": "zoom out",
  "a": "left",
  "d": "right",
  "f": "focus",
  "0": "whole",
  "ArrowLeft": "previous",
  "ArrowRight": "next",
  "ArrowUp": "up",
  "ArrowDown": "down",
  "[": "sender",
  "]": "receiver",
  "/": "search",
  "Enter": "found",
  "1": "worst",
  "2": "median",
  ",": "instance before",
  ".": "instance after",
  "Escape": "clear",
  "?": "help",
};

/** What a key does; nothing with a modifier, because such keys are the browser's. */
export function actionOf(event: {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}): Action | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (event.key === "Enter" && event.shiftKey) return "found before";
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return Object.hasOwn(ACTIONS, key) ? ACTIONS[key] : undefined;
}
