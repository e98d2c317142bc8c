// Every message, seen from both ends (study A, figure 11).
import { scaleLinear } from "d3-scale";
import type { SweepPoint } from "../shapes";
import { canvas, drawing, h, s, section } from "../dom";
import { count, percent } from "../format";
import { withTip } from "../tip";
import { fit } from "../waterfall";
import { label } from "./model";
import { received, sent, type Share } from "./shares";

/** Rows that are drawn; the table has the rest. */
const MOST_ROWS = 120;

const KINDS: readonly (readonly [Share["kind"], string])[] = [
  ["good", "in time; sent in its period"],
  ["late", "late"],
  ["gone", "lost; never sent"],
  ["unjudged", "taken, in emulated time: against no deadline"],
];

/** The section; absent if nothing was sent. */
export function deliveries(points: readonly SweepPoint[]): HTMLElement | undefined {
  if (points.every(({ figures }) => figures === null)) return undefined;
  return section(
    "deliveries",
    "Every message",
    "A message is in time within its topic's deadline, by default its period; later it is late; one that was sent while the subscription was matched and never taken is lost. A publisher owes what was due: a message that it never sent cannot be lost, and flatters the figures of those that were.",
    ...deliveryBars(points),
  );
}

/** Bars of what was due and of what was sent, one row for each point. */
export function deliveryBars(points: readonly SweepPoint[]): HTMLElement[] {
  const measured = points.flatMap((point) =>
    point.figures === null ? [] : [{ name: label(point), figures: point.figures }],
  );
  const unjudged = measured.some(({ figures }) => figures.in_time === undefined);
  return [
    h(
      "ul",
      { class: "legend" },
      ...KINDS.filter(([kind]) => kind !== "unjudged" || unjudged).map(([kind, text]) =>
        h(
          "li",
          {},
          s(
            "svg",
            { "width": 20, "height": 12, "aria-hidden": "true" },
            s("rect", { class: `delivery ${kind}`, width: 20, height: 12 }),
          ),
          h("span", {}, text),
        ),
      ),
    ),
    drawing("messages by point: received, and sent of what was due", (width) => {
      const rows = measured.slice(0, MOST_ROWS);
      const left = width < 600 ? 120 : 300;
      const gap = 24;
      const half = (width - left - gap) / 2;
      const [top, step] = [24, 22];
      const svg = canvas(width, top + rows.length * step + 4);
      svg.append(
        s("text", { class: "column", x: left, y: 14 }, "publisher: of those due"),
        s("text", { class: "column", x: left + half + gap, y: 14 }, "subscriber: of those sent"),
      );
      rows.forEach(({ name, figures }, i) => {
        const y = top + i * step;
        svg.append(
          s("text", { "class": "row-label", "x": left - 10, "y": y + 13, "text-anchor": "end" }, fit(name, left - 14)),
        );
        const publisher = sent(figures);
        if (publisher !== undefined) svg.append(bar(name, publisher, left, half, y));
        svg.append(bar(name, received(figures), left + half + gap, half, y));
      });
      return svg;
    }),
    ...(measured.length > MOST_ROWS
      ? [
          h(
            "p",
            { class: "remark" },
            `${MOST_ROWS} of ${measured.length} points are drawn; the table below has every point.`,
          ),
        ]
      : []),
  ];
}

function bar(name: string, shares: Share[], left: number, width: number, y: number): SVGGElement {
  const whole = shares.reduce((sum, { messages }) => sum + messages, 0);
  const x = scaleLinear([0, Math.max(whole, 1)], [0, width]);
  const group = s("g", { transform: `translate(${left},${y})` });
  let from = 0;
  for (const { kind, messages } of shares) {
    if (messages === 0) continue;
    // One lost message among thousands must stay visible.
    const wide = Math.max(x(messages), 1.5);
    group.append(s("rect", { class: `delivery ${kind}`, x: Math.min(x(from), width - wide), width: wide, height: 16 }));
    from += messages;
  }
  group.append(s("rect", { class: "reach", width, height: 16 }));
  const lines = shares.map(
    ({ title, messages }) => `${title}: ${count(messages)} (${percent(whole === 0 ? undefined : messages / whole)})`,
  );
  return withTip(group, [name, ...lines], true);
}
