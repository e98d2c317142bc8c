// Made of the Rust types by `WRITE_SHAPES=1 cargo test -p tacho-report shapes`.
import type { CauseKind } from "./summary";

/** In the order in which a message passes them. */
export const LAYERS = [
  "publish_client_library",
  "publish_rcl",
  "publish_rmw",
  "publish_dds",
  "transport",
  "receive_dds",
  "executor",
  "take_rmw",
  "take_rcl",
  "take_client_library",
] as const;

/** Words before by whom. */
export const CAUSES: Record<CauseKind, string> = {
  computation: "computation of",
  off_cpu: "off the CPU inside",
  blocked: "blocked inside",
  preemption: "preempted by",
  interrupt: "interrupted by",
  transport: "transport on",
  wake_up: "waiting for the wake-up of",
  no_cpu: "kept from its CPU by",
  executor_busy: "executor busy with",
  group_busy: "callback group busy with",
  interpreter_busy: "Python's interpreter busy with",
  kept: "kept for the next",
  not_due: "kept until the due time of",
  tick_late: "late start of",
  used_again: "used again (stale) for want of a newer",
  no_newer: "used again (stale), the next one not published yet on",
  overwritten: "overwritten in the",
  lost: "lost on",
  unmatched: "sent before it was matched with",
  ended: "sent after the last event of",
  pending: "on its way at the end of the run to",
  untold: "never taken, it is not known why, by",
  superseded: "superseded by a newer one at",
  no_output: "no output of",
  not_active: "not active:",
};
