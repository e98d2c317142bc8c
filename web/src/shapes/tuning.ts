// The shapes of crates/tune: proof.json and objective.json.
// Made of the Rust types by `WRITE_SHAPES=1 cargo test -p tacho-report shapes`.

/** A figure before and after the change. */
export interface BeforeAfter {
  /** After the change. */
  after: number;
  /** Before the change. */
  before: number;
}

/** A node of the chain. */
export interface ChainNode {
  /** c_i: time of one callback check, ms. */
  check_ms: number;
  /** e_i: execution time of its callback, ms. */
  execution_ms: number;
  /** Its name. */
  name: string;
}

/** The input of the search. */
export interface CommonRate {
  /** Nodes of the chain, source first. */
  chain: ChainNode[];
  /** m: number of cores. */
  cores: number;
  /** Nodes outside the chain that compute. */
  others: OtherNode[];
}

/** `RUN/objective.json`: the curve, its minimum and the input of the search. */
export interface ObjectiveCurve {
  /** The rate with the least R; the lowest such rate if there are several. */
  best_hz: number;
  /** Rates at which R is infinite. */
  diverging_hz: number[];
  /** The system that was searched. */
  input: CommonRate;
  /** Rates at which R is finite, ascending. */
  points: ObjectivePoint[];
}

/** R and its parts at one rate. */
export interface ObjectivePoint {
  /** Sum of AD_i: the worst case, twice the mean. */
  alignment_ms: number;
  /** Sum of e_i. */
  computation_ms: number;
  /** SR: the spin rate. */
  hz: number;
  /** Sum of PD_i - e_i. */
  preemption_ms: number;
  /** computation + alignment + preemption. */
  response_ms: number;
}

/** A node outside the chain. */
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
  /** Figures after the change, with the same phases. */
  after: RepeatFigures;
  /** Figures before the change. */
  before: RepeatFigures;
  /** Number of the repeat, from 0. */
  repeat: number;
}

/** The mean end-to-end time that a simulation predicted, and the one that was measured. */
export interface Promised {
  /** The same and what the simulation may be off, ms. */
  at_most_ms: number;
  /** Difference of the promised from the measured time, percent of the measured. */
  error_percent?: number;
  /** As measured, ms; absent until it is. */
  measured_ms?: number;
  /** As simulated with the phases of the proof, ms. */
  promised_ms: number;
}

/** `RUN/proof.json`: a chain before and after, over the same random phases. */
export interface Proof {
  /** Figures after the change. */
  after: Side;
  /** Figures before the change. */
  before: Side;
  /** The chain's name. */
  chain: string;
  /** CPU time of all nodes, percent of one CPU; absent if it was not measured on both sides. */
  cpu_percent?: BeforeAfter;
  /** Which repeats do not count, and why. Empty if all count. */
  notes: string[];
  /** What was promised of the chain; absent if nothing was. */
  promise?: Promised;
  /** Mean end-to-end time before / after. Its least and greatest values are those of single repeats. */
  ratio: Spread;
  /** Every repeat, including those that do not count. */
  repeats: Pair[];
}

/** Means of one repeat of one side, ms; absent if no instance reached the end of the chain. */
export interface RepeatFigures {
  /** Message there, its node asleep. Absent where the events do not tell it from transport. */
  alignment_ms?: number;
  /** Inside the callback, from its start to its output, less the time off the CPU where that is known. */
  computation_ms?: number;
  /** Mean end-to-end time. */
  end_to_end_ms?: number;
  /** Instances that reached the end of the chain. */
  instances: number;
  /**
   * Message taken by a callback, and kept for a later one that used it. Absent in runs of a time before it was told:
   * then it is part of alignment.
   */
  kept_ms?: number;
  /** Inputs that led to no output. */
  lost: number;
  /**
   * Inside the callback: the thread slept or was blocked. If `preemption` is absent: it had no CPU, for whatever
   * reason, for at least this long. Absent unless CPU time is known of all hops of the instance: it is then part of
   * computation, in each of them.
   */
  off_cpu_ms?: number;
  /**
   * Inside the callback: the thread could have gone on and had no CPU. Absent unless it is known of all hops of the
   * instance: it is then part of `off_cpu` or, where that is absent, of computation, in each of them.
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
  /** Inside the callback, from its start to its output, less the time off the CPU where that is known. */
  computation_ms?: number;
  /** Mean end-to-end time, ms. */
  end_to_end_ms: Spread;
  /** Instances that reached the end of the chain. */
  instances: number;
  /**
   * Message taken by a callback, and kept for a later one that used it. Absent in runs of a time before it was told:
   * then it is part of alignment.
   */
  kept_ms?: number;
  /** Inputs that led to no output. */
  lost: number;
  /**
   * Inside the callback: the thread slept or was blocked. If `preemption` is absent: it had no CPU, for whatever
   * reason, for at least this long. Absent unless CPU time is known of all hops of the instance: it is then part of
   * computation, in each of them.
   */
  off_cpu_ms?: number;
  /**
   * Inside the callback: the thread could have gone on and had no CPU. Absent unless it is known of all hops of the
   * instance: it is then part of `off_cpu` or, where that is absent, of computation, in each of them.
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
 * A mean over repeats and its spread. One repeat is one draw of the phases: repeats are independent, the messages
 * within them are not.
 */
export interface Spread {
  /** Greatest value of a repeat. */
  greatest: number;
  /** 95 % confidence interval of `mean`, Student's t; absent for one repeat. */
  interval?: number[];
  /** Least value of a repeat. */
  least: number;
  /** Arithmetic mean over repeats; for a ratio, the ratio of the means. */
  mean: number;
}
