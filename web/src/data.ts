// What crates/report puts into the page. The shapes are those of crates/report/src/page.rs, crates/analysis/src/summary.rs
// and crates/events/src/run.rs; an absent field was not measured.

export interface Page {
  format: number;
  tacho_version: string;
  runs: Run[];
}

export interface Run {
  label: string;
  directory: string;
  info: RunInfo;
  summary: Summary;
  notes: Note[];
  chains: DrawnChain[];
  objective: Objective | null;
  proof: unknown;
  sweep: Sweep | null;
  study: Study | null;
  in_node_clock_ms: Record<string, number>;
}

export interface RunInfo {
  verb: string;
  command: string[];
  tacho_version: string;
  started_at: string;
  imported_at?: string;
  traces?: { host: string; tracer: string; tracer_version: string }[];
  duration_s: number;
  machine?: Machine;
  versions: Record<string, string>;
  processes: { name: string; pid: number; code?: number; signal?: number }[];
  phases: Record<string, number>;
  missing: string[];
  failed_starts?: string[];
  cut_short: boolean;
}

export interface Machine {
  host: string;
  cpu: string;
  cpus: number;
  memory_bytes: number;
  kernel: string;
  preemption: string;
  governor?: string;
  clocksource: string;
}

export interface Note {
  name: string;
  count: number;
  text: string;
}

export interface Distribution {
  count: number;
  min: number;
  q1: number;
  median: number;
  q3: number;
  mean: number;
  p99: number;
  max: number;
  std?: number;
}

export interface Summary {
  points: Point[];
  callbacks: CallbackFigures[];
  topics: TopicFigures[];
  /** Of an imported bag. */
  bag_topics?: BagTopicFigures[];
  /** Absent in runs of before there were any. */
  layers?: LayerFigures[];
  services?: ServiceFigures[];
  /** Absent in runs of before there were any. */
  actions?: ActionFigures[];
  /** Of managed nodes. */
  lifecycle?: LifecycleFigures[];
  chains: ChainFigures[];
  findings?: Finding[];
  executors?: ExecutorFigures[];
  preemptors?: PreemptorFigures[];
}

export interface ServiceFigures {
  service: string;
  clients: string[];
  servers: string[];
  sent?: number;
  complete: number;
  unanswered?: number;
  request_us?: Distribution;
  handling_us?: Distribution;
  response_us?: Distribution;
  round_trip_us?: Distribution;
}

/** The goals of one action, crates/analysis/src/summary/action.rs. */
export interface ActionFigures {
  action: string;
  clients: string[];
  servers: string[];
  sent?: number;
  accepted: number;
  rejected: number;
  cancel_requested?: number;
  succeeded: number;
  canceled: number;
  aborted: number;
  unfinished: number;
  acceptance_us?: Distribution;
  result_us?: Distribution;
  execution_us?: Distribution;
  execution_cpu_us?: Distribution;
  cancel_us?: Distribution;
  feedback?: number;
  feedback_received?: number;
  feedback_rate_hz?: number;
  feedback_latency_us?: Distribution;
}

export interface LifecycleFigures {
  node: string;
  state: string;
  transitions: number;
  in_state_s: Record<string, number>;
}

export interface ExecutorFigures {
  process_id: number;
  thread_id: number;
  nodes: string[];
  over_s: number;
  waiting_percent?: number;
  ready_percent?: number;
  executing_percent: number;
  running_percent?: number;
  runnable_percent?: number;
  blocked_percent?: number;
  voluntary_switches?: number;
  involuntary_switches?: number;
  wakeup_latency_us?: Distribution;
}

/** A thread that had the CPU while callbacks could have gone on. */
export interface PreemptorFigures {
  by?: string;
  count: number;
  total_ms: number;
  longest_ms: number;
}

/** Messages of which the same layers are known, crates/analysis/src/summary.rs. Their means add up to that of the latency. */
export interface LayerFigures {
  topic?: string;
  messages: number;
  latency_us: Distribution;
  layers: { layer: string; duration_us: Distribution; includes?: string[] }[];
}

/** Communication of one run as a whole, crates/analysis/src/summary.rs. */
export interface Point {
  middleware: string;
  transport: string;
  parameters: Record<string, string>;
  topology?: string;
  size_bytes?: number;
  rate_hz?: number;
  repeats: number;
  publishers: number;
  subscribers: number;
  due?: number;
  sent: number;
  /** Publish calls that failed; absent where nobody counts them. */
  refused?: number;
  skipped?: number;
  sent_late?: number;
  received: number;
  /** Absent where events were dropped, or nobody knows what was sent while matched. */
  lost?: number;
  loss_percent?: number;
  /** Both absent where emulated time lies between, against which no deadline counts. */
  in_time?: number;
  late?: number;
  latency_us?: Distribution;
  send_lateness_us?: Distribution;
  fairness?: { subscriptions: number; spread_us: number; staircase?: number; staircase_p?: number };
  drift?: { slope_us_per_s: number; slope_low_us_per_s: number; slope_high_us_per_s: number; changes_at_s: number[] };
  startup_ms?: Distribution;
  cpu_percent?: number;
  pss_bytes?: number;
  rss_bytes?: number;
  shared_bytes?: number;
  wakeups_per_s?: number;
  preemptions_per_s?: number;
  layers?: LayerFigures[];
  /** Messages from and to an emulated microcontroller: no latency of hardware. */
  emulated_us?: Distribution;
  publishing: { node: string; topic: string; due?: number; sent: number }[];
  subscribing: { node: string; topic: string; received: number; lost?: number; latency_us?: Distribution }[];
  dropped_events: number;
}

/** Points of a sweep, crates/report/src/sweep.rs. */
export interface Sweep {
  parameters: string[];
  points: SweepPoint[];
  study: Study | null;
}

export interface SweepPoint {
  name: string;
  parameters: Record<string, string>;
  figures: Point | null;
  missing: string[];
  latency_us: DrawnDistribution["whiskers"] | null;
  course: { at_s: number; min_us: number; median_us: number; max_us: number }[];
}

/** A published experiment, crates/report/src/published.rs. */
export interface Study {
  id: string;
  title: string;
  citation: string;
  setting: string;
  statements: { source: string; says: string; measure: Measure }[];
}

/** A value, a range, all but one, or "greatest": the greatest there is. */
export type Condition = number | string | { least?: number; most?: number; not?: number | string };
export type Which = Record<string, Condition>;

export type Measure =
  | { kind: "count"; figure: string; title: string; below: number }
  | {
      kind: "values";
      figure: string;
      title: string;
      unit: string;
      scale: number;
      pick?: string;
      where: Which;
      by: string[];
    }
  | { kind: "summary"; figure: string; title: string; unit: string; where: Which; by: string[] }
  | { kind: "callback"; node: string; figure: string; title: string; unit: string; scale: number }
  | { kind: "chain"; chain: string; figure: string; title: string; unit: string }
  | { kind: "objective"; title: string; published_hz: { hz: number; one_check_ms?: number }[] }
  | { kind: "ratio"; figure: string; title: string; of: Which; to: Which; by: string[]; each: string[] };

export interface CallbackFigures {
  process_id: number;
  callback: string;
  kind: string;
  node?: string;
  topic?: string;
  period_ms?: number;
  symbol?: string;
  count: number;
  duration_us?: Distribution;
  cpu_us?: Distribution;
  off_cpu_us?: Distribution;
  queue_wait_us?: Distribution;
  output_period_ms: [topic: string, period: number][];
}

export interface BagTopicFigures {
  topic: string;
  datatype: string;
  messages: number;
  rate_hz?: number;
  gap_ms?: Distribution;
  jitter_ms?: Distribution;
  age_ms?: Distribution;
  publish_to_log_ms?: Distribution;
}

export interface TopicFigures {
  topic: string;
  publishers: string[];
  subscribers: string[];
  sent: number;
  received: number;
  lost?: number;
  rate_hz?: number;
  latency_us?: Distribution;
}

export interface ChainFigures {
  name: string;
  path: string[];
  critical: boolean;
  evidence: string;
  instances: number;
  lost: number;
  end_to_end_ms?: Distribution;
  repeat_means_ms?: Distribution;
  computation_ms?: Distribution;
  preemption_ms?: Distribution;
  alignment_ms?: Distribution;
  queueing_ms?: Distribution;
  kept_ms?: Distribution;
  transport_ms?: Distribution;
  reaction_time_ms?: Distribution;
  data_age_ms?: Distribution;
  deadline_ms?: number;
  late_instances?: number;
  links: LinkFigures[];
  worst: LateInstance[];
  lost_inputs: { node: string; kind: string; by: string; inputs: number }[];
}

/** How an output of a node was tied to its input. */
export interface LinkFigures {
  node: string;
  input: string;
  output?: string;
  rule: string;
  evidence: string;
  confidence: number;
}

/** An instance with everything that took its time. */
export interface LateInstance {
  repeat?: number;
  start_ns: number;
  start_realtime_ns?: number;
  end_to_end_ms: number;
  parts: LatePart[];
}

export interface LatePart {
  nodes: string[];
  kind: string;
  by: string;
  ms: number;
  usual_ms?: number;
}

/** What a lint found (docs/lints.md). */
export interface Finding {
  lint: string;
  finds: string;
  count: number;
  cases: FindingCase[];
}

export interface FindingCase {
  subject: string;
  evidence: string;
  cost: string;
  next: string;
  repeats?: number;
}

/** A chain with what of its instances is drawn. */
export interface DrawnChain {
  name: string;
  path: string[];
  end_to_end: DrawnDistribution | null;
  instances: Instance[];
  hops: HopMeans[];
}

export interface DrawnDistribution {
  count: number;
  thinned: boolean;
  points: [part: number, ms: number][];
  whiskers: { low: number; q1: number; median: number; q3: number; high: number; beyond: number };
}

export type Rank = "best" | "median" | "worst";

export interface Instance {
  rank: Rank;
  end_to_end_ms: number;
  computation_ms: number;
  /** Absent where the events tell nothing of it. */
  alignment_ms?: number;
  queueing_ms: number;
  kept_ms?: number;
  transport_ms: number;
  hops: Hop[];
}

export interface Hop {
  node: string;
  topic: string | null;
  published_ms: number | null;
  arrival_ms: number | null;
  start_ms: number;
  output_ms: number;
  queueing_ms: number;
  /** The last of the time before the start: kept for this callback by one that took it. */
  kept_ms?: number;
  /** From start to output: who had the CPU; only with scheduler events. */
  preemptions?: Preemption[];
}

export interface Preemption {
  from_ms: number;
  to_ms: number;
  by: string | null;
}

export interface HopMeans {
  node: string;
  count: number;
  computation_ms: number;
  preemption_ms?: number;
  kept_ms?: number;
  waited_ms: number | null;
  alignment_ms: number | null;
  queueing_ms: number | null;
  transport_ms: number | null;
}

/** Study E's objective over the spin rate. */
export interface Objective {
  points: ObjectivePoint[];
  best_hz: number;
  input?: { chain: { name: string; check_ms: number }[]; cores: number };
  /** Rates without a finite response. */
  diverging_hz?: number[];
}

export interface ObjectivePoint {
  hz: number;
  response_ms: number;
  computation_ms: number;
  alignment_ms: number;
  preemption_ms: number;
}

/** Before and after over the same draws of phases, crates/tune/src/prove.rs. */
export interface Proof {
  chain: string;
  ratio: { mean: number; least: number; greatest: number };
  repeats: { repeat: number; before: RepeatFigures; after: RepeatFigures }[];
  notes?: string[];
}

export interface RepeatFigures {
  end_to_end_ms?: number;
  worst_ms?: number;
}

/** The data inside the page; an error says what is wrong with it. */
export function parse(text: string): Page {
  if (text.trim() === "") throw new Error("this page holds no run: `tacho report RUN` fills it");
  const page = JSON.parse(text) as Page;
  if (page.format !== 1)
    throw new Error(`data of format ${String(page.format)}, expected 1: page and data are of different versions`);
  return page;
}
