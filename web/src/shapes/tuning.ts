// The shapes of crates/tune: proof.json and objective.json.
// Made of the Rust types by `WRITE_SHAPES=1 cargo test -p tacho-report shapes`.

/** A node of the chain. */
export interface ChainNode {
  /** c_i: time of one callback check, ms. */
  check_ms: number;
  /** e_i: execution time of its callback, ms. */
  execution_ms: number;
  /** Its name. */
  name: string;
}

/** What the search needs to know. */
export interface CommonRate {
  /** Nodes of the chain, source first. */
  chain: ChainNode[];
  /** m. */
  cores: number;
  /** Nodes outside of it that compute. */
  others: OtherNode[];
}

/** `RUN/objective.json`: the curve, its least point and what it was made of. */
export interface ObjectiveCurve {
  /** The rate with the least R; the lowest of several. */
  best_hz: number;
  /** Rates at which R is infinite. */
  diverging_hz: number[];
  /** What was searched over. */
  input: CommonRate;
  /** Rates at which R is finite, ascending. */
  points: ObjectivePoint[];
}

/** R at one rate. */
export interface ObjectivePoint {
  /** Sum of AD_i: the worst case, twice the mean. */
  alignment_ms: number;
  /** Sum of e_i. */
  computation_ms: number;
  /** SR. */
  hz: number;
  /** Sum of PD_i - e_i. */
  preemption_ms: number;
  /** computation + alignment + preemption. */
  response_ms: number;
}

/** A node outside of the chain. */
export interface OtherNode {
  /** c_j: time of one computation, ms. */
  computation_ms: number;
  /** Its name. */
  name: string;
  /** p_j: time from one computation to the next, ms. */
  period_ms: number;
}

/** One repeat of both sides. */
export interface Pair {
  /** After, with the same phases. */
  after: RepeatFigures;
  /** Before. */
  before: RepeatFigures;
  /** Which, from 0. */
  repeat: number;
}

/** `RUN/proof.json`: a chain before and after, over the same draws of phases. */
export interface Proof {
  /** After. */
  after: Side;
  /** Before. */
  before: Side;
  /** The chain. */
  chain: string;
  /** What does not count, and why. Empty where all repeats do. */
  notes: string[];
  /** Mean end-to-end time before / after; its least and greatest are those of single repeats. */
  ratio: Spread;
  /** Every repeat, also those that do not count. */
  repeats: Pair[];
}

/** Means of one repeat of one side, ms; absent where no instance came through. */
export interface RepeatFigures {
  /** Message there, its node asleep. Absent where the events do not tell it from transport. */
  alignment_ms?: number;
  /** Inside the callback, from its start to its output, less preemption where that is known. */
  computation_ms?: number;
  /** Mean end-to-end time. */
  end_to_end_ms?: number;
  /** Instances that came through. */
  instances: number;
  /**
   * Message taken by a callback, and kept for a later one that used it. Absent in runs of a time before it was told:
   * then it is part of alignment.
   */
  kept_ms?: number;
  /** Inputs that led to no output. */
  lost: number;
  /**
   * Inside the callback: the thread could have gone on and had no CPU. Absent unless it is known of all hops of the
   * instance: it is then part of computation, in each of them.
   */
  preemption_ms?: number;
  /** Message there, executor or callback group busy with other callbacks. */
  queueing_ms?: number;
  /** Publish call to message there; alignment, too, where that is absent. */
  transport_ms?: number;
  /** Worst instance. */
  worst_ms?: number;
}

/** One side over all repeats that count: means of the repeats' means. */
export interface Side {
  /** Message there, its node asleep. Absent where the events do not tell it from transport. */
  alignment_ms?: number;
  /** Inside the callback, from its start to its output, less preemption where that is known. */
  computation_ms?: number;
  /** Mean end-to-end time, ms. */
  end_to_end_ms: Spread;
  /** Instances that came through. */
  instances: number;
  /**
   * Message taken by a callback, and kept for a later one that used it. Absent in runs of a time before it was told:
   * then it is part of alignment.
   */
  kept_ms?: number;
  /** Inputs that led to no output. */
  lost: number;
  /**
   * Inside the callback: the thread could have gone on and had no CPU. Absent unless it is known of all hops of the
   * instance: it is then part of computation, in each of them.
   */
  preemption_ms?: number;
  /** Message there, executor or callback group busy with other callbacks. */
  queueing_ms?: number;
  /** Publish call to message there; alignment, too, where that is absent. */
  transport_ms?: number;
  /** Worst instance of all repeats, ms. */
  worst_ms: number;
}

/**
 * A mean over repeats and its spread. One repeat is one draw of the phases: repeats are what is independent, not the
 * messages within them.
 */
export interface Spread {
  /** Greatest of the repeats. */
  greatest: number;
  /** 95 % confidence interval of `mean`, Student's t; absent for one repeat. */
  interval?: number[];
  /** Least of the repeats. */
  least: number;
  /** Arithmetic mean over repeats; for a ratio, the ratio of the means. */
  mean: number;
}
