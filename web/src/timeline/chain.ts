// Instances of the chain that the page is about, and what the time of each went to, as stretches one after another.
import type { CauseKind, TimelineChain } from "../shapes";
import { CAUSES } from "../shapes/words";
import { CHAIN_PARTS, MEANING, nameOf, type Part } from "../parts";
import { begins, growing, optional, values } from "./columns";

/** A node of an instance; times are ns since the begin of the run. */
export interface Hop {
  position: number;
  node: string;
  /** Its execution on the page; NaN if it is none. */
  execution: number;
  /** NaN for the first. */
  published: number;
  begun: number;
  output: number;
}

/** A part of the time of an instance, where it is drawn. */
export interface Stretch {
  from: number;
  to: number;
  part: Part;
  words: string;
  position: number;
}

export interface Instance {
  number: number;
  row: number;
  start: number;
  end: number;
  hops: Hop[];
  stretches: Stretch[];
}

export interface Instances {
  name: string;
  all: number;
  count: number;
  worst: number | undefined;
  median: number | undefined;
  start: Float64Array;
  duration: Float64Array;
  instance(number: number): Instance;
}

/** How each kind of cause is drawn: as the part that it is a part of. */
const PART_OF: Partial<Record<CauseKind, Part>> = {
  computation: "computation",
  off_cpu: "off_cpu",
  blocked: "off_cpu",
  preemption: "preemption",
  interrupt: "preemption",
  transport: "transport",
  wake_up: "alignment",
  no_cpu: "preemption",
  executor_busy: "queueing",
  group_busy: "queueing",
  interpreter_busy: "queueing",
  kept: "kept",
  not_due: "kept",
  tick_late: "kept",
  used_again: "kept",
  no_newer: "kept",
};
const INSIDE: readonly Part[] = ["computation", "off_cpu"];
const INSIDE_KINDS: readonly CauseKind[] = ["computation", "off_cpu", "blocked", "preemption", "interrupt"];

export interface Piece {
  part: Part;
  words: string;
  position: number;
  inside: boolean;
  /** NaN if only its length is known. */
  from: number;
  took: number;
}

/** Decodes the instances of a chain. */
export function decodeChain(shape: TimelineChain, names: readonly string[]): Instances {
  const start = growing(shape.start);
  const duration = values(shape.duration);
  const row = growing(shape.row);
  const [hopsOf, causesOf] = [begins(values(shape.hops)), begins(values(shape.causes))];
  const [position, execution, published] = [
    values(shape.position),
    optional(shape.execution),
    optional(shape.published),
  ];
  const [begun, output] = [values(shape.begun), values(shape.output)];
  const parts = shape.parts.map(optional);
  const [at, kind, by] = [values(shape.at), values(shape.kind), values(shape.by)];
  const [from, took] = [optional(shape.from), values(shape.took)];
  const range = (of: Int32Array, number: number): number[] => {
    const first = of[number] ?? 0;
    return Array.from({ length: (of[number + 1] ?? first) - first }, (_, i) => first + i);
  };
  const hopPieces = (hop: number): Piece[] =>
    CHAIN_PARTS.flatMap((part, i) => {
      const ns = parts[i]?.[hop] ?? NaN;
      const isTold = part !== "transport" || !Number.isNaN(parts[CHAIN_PARTS.indexOf("alignment")]?.[hop] ?? NaN);
      const drawn = isTold ? part : "undivided";
      const inside = INSIDE.includes(part) || part === "preemption";
      return Number.isNaN(ns)
        ? []
        : [
            {
              part: drawn,
              position: position[hop] ?? 0,
              words: `${nameOf(drawn)}: ${MEANING[drawn]}`,
              inside,
              from: NaN,
              took: ns,
            },
          ];
    });
  const instance = (number: number): Instance => {
    const begin = start[number] ?? 0;
    const causes = range(causesOf, number);
    const hops: Hop[] = [];
    const pieces: Piece[] = [];
    for (const i of range(hopsOf, number)) {
      const place = position[i] ?? 0;
      const hop: Hop = {
        position: place,
        node: shape.path[2 * place] ?? "",
        execution: execution[i] ?? NaN,
        published: begin + (published[i] ?? NaN),
        begun: begin + (begun[i] ?? 0),
        output: begin + (output[i] ?? 0),
      };
      hops.push(hop);
      const explained = causes
        .filter((cause) => at[cause] === place)
        .map((cause): Piece => {
          const of = shape.kinds[kind[cause] ?? 0] ?? "computation";
          return {
            part: PART_OF[of] ?? "undivided",
            position: place,
            words: `${CAUSES[of]} ${names[by[cause] ?? 0] ?? ""}`,
            inside: INSIDE_KINDS.includes(of),
            from: begin + (from[cause] ?? NaN),
            took: took[cause] ?? 0,
          };
        });
      pieces.push(...(explained.length > 0 ? explained : hopPieces(i)));
    }
    const end = begin + (duration[number] ?? 0);
    return { number, row: row[number] ?? 0, start: begin, end, hops, stretches: stretchesOf(hops, pieces) };
  };
  return {
    name: shape.name,
    all: shape.all,
    count: start.length,
    worst: shape.worst ?? undefined,
    median: shape.median ?? undefined,
    start,
    duration,
    instance,
  };
}

/** The order of waits of which only the length is known: a message travels, its node sleeps, then others are served. */
const ORDER: readonly Part[] = [
  "transport",
  "undivided",
  "alignment",
  "preemption",
  "queueing",
  "kept",
  "computation",
  "off_cpu",
];

/** Where pieces stand, what of the time is free, and what of the pieces has no place. */
export interface Placed {
  stretches: Stretch[];
  free: Free;
  left: Piece[];
}

export type Free = (readonly [from: number, to: number])[];

/**
 * Puts pieces into free times: those whose begin is known from there on, the others where there is room, in the order
 * in which a message waits.
 */
export function placed(pieces: readonly Piece[], times: Free): Placed {
  let free = times.filter(([from, to]) => to > from);
  const stretches: Stretch[] = [];
  /** Takes free time from `from` on, and returns what of the piece is left. */
  const take = (piece: Piece, from: number): Piece => {
    let left = piece.took;
    const rest: Free = [];
    for (const [begin, end] of free) {
      const first = Math.max(begin, from);
      const until = Math.min(end, first + left);
      if (until <= first) {
        rest.push([begin, end]);
        continue;
      }
      const { part, words, position } = piece;
      stretches.push({ part, words, from: first, to: until, position });
      left -= until - first;
      if (first > begin) rest.push([begin, first]);
      if (until < end) rest.push([until, end]);
    }
    free = rest;
    return { ...piece, took: left };
  };
  const isKnown = ({ from }: Piece): boolean => !Number.isNaN(from);
  const known = pieces.filter(isKnown).sort((a, b) => a.from - b.from);
  const others = pieces.filter((piece) => !isKnown(piece));
  others.sort((a, b) => ORDER.indexOf(a.part) - ORDER.indexOf(b.part));
  const later = known.map((piece) => take(piece, piece.from));
  const left = [...others, ...later].map((piece) => take(piece, -Infinity)).filter(({ took }) => took > 0);
  return { stretches, free, left };
}

/**
 * Stretches of an instance: those of a hop in its wait and its callback. What does not fit there is of another time, as
 * is the part of an older message that was used again, and stands where the hops leave room.
 */
function stretchesOf(hops: readonly Hop[], pieces: readonly Piece[]): Stretch[] {
  const all = hops.flatMap((hop) => {
    const own = pieces.filter(({ position }) => position === hop.position);
    const waits = placed(
      own.filter(({ inside }) => !inside),
      Number.isNaN(hop.published) ? [] : [[hop.published, hop.begun]],
    );
    return [
      waits,
      placed(
        own.filter(({ inside }) => inside),
        [[hop.begun, hop.output]],
      ),
    ];
  });
  const others = placed(
    all.flatMap(({ left }) => left),
    all.flatMap(({ free }) => free),
  );
  return [...all.flatMap(({ stretches }) => stretches), ...others.stretches].sort((a, b) => a.from - b.from);
}
