// The fate of every message, seen from either end.
import type { Point } from "../shapes";

export interface Share {
  kind: "good" | "late" | "unjudged" | "gone";
  title: string;
  messages: number;
}

/** The view of the subscriber. */
export function received(point: Point): Share[] {
  const taken: Share[] =
    point.in_time === undefined || point.late === undefined
      ? [{ kind: "unjudged", title: "taken, in emulated time", messages: point.received }]
      : [
          { kind: "good", title: "in time", messages: point.in_time },
          { kind: "late", title: "late", messages: point.late },
        ];
  return [
    ...taken,
    ...(point.lost === undefined ? [] : [{ kind: "gone" as const, title: "lost", messages: point.lost }]),
  ];
}

/** The publisher's sends compared with what was due; absent if nothing was due by the clock. */
export function sent(point: Point): Share[] | undefined {
  if (point.due === undefined) return undefined;
  const late = point.sent_late ?? 0;
  return [
    { kind: "good", title: point.sent_late === undefined ? "sent" : "sent in its period", messages: point.sent - late },
    { kind: "late", title: "sent after its period", messages: late },
    { kind: "gone", title: "never sent", messages: Math.max(point.due - point.sent, 0) },
  ];
}
