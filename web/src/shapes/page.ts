// The shapes of crates/report: what is embedded into the page.
// Made of the Rust types by `WRITE_SHAPES=1 cargo test -p tacho-report shapes`.
import type { RunInfo } from "./run";
import type { CauseKind, Note, Point, Summary } from "./summary";
import type { BeforeAfter, ObjectiveCurve, Pair, Promised, Side, Spread } from "./tuning";

/** Columns of arrivals of commands. */
export interface Ages {
  /** Since the sensing on which it rests. */
  age_us: Column;
  /** Growing: when it arrived, ns since the begin of the timeline. */
  at: Column;
}

/** See `Condition::Of`. */
export interface Bounds {
  /** This or more. */
  least?: number;
  /** This or less. */
  most?: number;
  /** Anything else. */
  not?: Word;
  /** One of these. */
  one_of?: Word[];
}

/** Columns of the states of the car, by time. */
export interface Car {
  /** Growing: ns since the begin of the timeline. */
  at: Column;
  /** Counterclockwise from x; optional. */
  heading_mrad: Column;
  /** To the left of the centre line; optional. */
  lateral_error_mm: Column;
  /** The node that drives it. */
  node: string;
  /** Optional. */
  speed_mm_s: Column;
  /** States of the run; those below may be fewer. */
  states: number;
  /** To the left; optional. */
  steering_mrad: Column;
  /** Growing. */
  x_mm: Column;
  /** Growing. */
  y_mm: Column;
}

/** Integers of one column. */
export type Column = string;

/** What a figure or a parameter of a point must be. */
export type Condition = Word | Bounds;

/** The form of a figure. */
export type Draw = "boxes" | "values" | "course" | "deliveries" | "publishing_layers" | "subscribers";

/** A distribution of values in one unit, by default ms. */
export interface Drawn {
  /** Values that it is made of. */
  count: number;
  /** (part of the values not above, value), ascending; the least and the greatest are always among them. */
  points: [number, number][];
  /** True where not every value is among `points`. */
  thinned: boolean;
  /** Box as study A draws it. */
  whiskers: Whiskers;
}

/** Columns of executions, thread by thread, each by start. */
export interface Executions {
  /** Index into the callbacks. */
  callback: Column;
  /** CPU time; optional. */
  cpu: Column;
  /** To `callback_end`; optional: absent if its process ended inside. */
  duration: Column;
  /** Growing: `callback_start`. */
  start: Column;
}

/** What an instance waited for. */
export interface Explained {
  /** By whom. */
  by: string;
  /** Its number among those of its chain here. */
  instance: number;
  /** The cause by which it is longer than usual most; of several, the greatest. */
  kind: CauseKind;
  /** The node where it happened. */
  node: string;
  /** How long. */
  took_ns: number;
  /** How long it usually takes; absent if that is not known. */
  usual_ns?: number;
}

/** One of its figures. Values are drawn in `unit`; boxes, courses and subscribers are latencies in us. */
export interface Figure {
  /** Columns, the outermost first. */
  across: string[];
  /** What colours stand for. */
  colour?: string;
  /** How. */
  draw: Draw;
  /** Of `Draw::Values`: figures of a point, a shape each. */
  figures?: string[];
  /** Why there is nothing of it, where no point fits. */
  lacks?: string;
  /** A panel for each combination. */
  panels: string[];
  /** What was published, in the unit of the drawing. */
  published: Mark[];
  /** From the unit of the figures. */
  scale: number;
  /** Its number there. */
  source: string;
  /** What it shows. */
  title: string;
  /** Of `Draw::Values`: after scaling. */
  unit: string;
  /** See `Measure::Values`. */
  where: Record<string, Condition>;
}

/** Columns of messages, by publication. */
export interface Flows {
  /** The execution that took it. */
  execution: Column;
  /** Growing: index into the publications. */
  publication: Column;
  /** When it was taken, ns since its publication; optional. */
  taken: Column;
}

/** Means over all instances, of one node of the path. */
export interface HopMeans {
  /** Instances behind the means. */
  count: number;
  /** Node. */
  node: string;
  /** Their sums over the nodes are the means of the chain. */
  parts: Parts;
  /** Publish to start; absent for the first node. */
  waited_ms: number | null;
}

/** Where the car left its lane. */
export interface Left {
  /** When it was nearest to it, ns since the begin of the timeline. */
  at_ns: number;
  /** Place of the centre of gravity. */
  x_m: number;
  /** See `x_m`. */
  y_m: number;
}

/** A recording that a page follows. The page asks for its next state at `page.json`. */
export interface Live {
  /** After how long the page asks again. */
  ask_again_ms: number;
  /** Events that could not be recorded, all processes. */
  dropped_events: number;
  /** Events in the window, a second. */
  events_per_s: number;
  /** How much of it is filled. */
  filled_s: number;
  /** Whether nothing more will come. */
  has_ended: boolean;
  /** Processes that have written. */
  processes: number;
  /** Length of the window that the figures are made over. */
  window_s: number;
}

/** A published value or range, drawn where the points that are meant stand. */
export interface Mark {
  /** Which of the figures it is a value of; the first, if it says none. */
  figure?: string;
  /** Least of a range; absent where it has none. */
  from?: number;
  /** In words. */
  says: string;
  /** Bounds are multiples of our own figure of another point. */
  times?: Times;
  /** Greatest of a range; absent where it has none. */
  to?: number;
  /** Values. */
  values?: number[];
  /** See `Measure::Values`. */
  where: Record<string, Condition>;
}

/**
 * What is made of the points of a sweep. Names of figures and of the points that are meant are those of
 * `tacho_tables::summary::Point`, of the sweep's parameters, and `many` (the greater of publishers and subscribers),
 * `middleware/transport`, `not_sent_percent` (of due), `publish_dds_percent` (of the publishing side's layers),
 * `rom_bytes` and `ram_bytes` (of the boards, the greatest), and `run` (of several on one page), computed by the page.
 */
export type Measure = {
  /** In the unit of the figure. */
  below: number;
  /** Of a point. */
  figure: string;
  kind: "count";
  /** In words. */
  title: string;
} | {
  /** Groups: points that agree in these. */
  by: string[];
  /** Of a point. */
  figure: string;
  kind: "values";
  /** `greatest`: of a group the greatest; else least to greatest. */
  pick?: string;
  /** From the unit of the figure. */
  scale: number;
  /** In words. */
  title: string;
  /** After scaling. */
  unit: string;
  /** Points that are meant: a value, `{least, most}`, `{not}`, `{one_of}`, or "greatest". */
  where: Record<string, Condition>;
} | {
  /** See `Measure::Values`. */
  by: string[];
  /** A distribution of a point. */
  figure: string;
  kind: "summary";
  /** In words. */
  title: string;
  /** Of the distribution. */
  unit: string;
  /** See `Measure::Values`. */
  where: Record<string, Condition>;
} | {
  /** Of its figures, or `in_node_clock_ms`, or `duration_of_period_percent`, which the page computes. */
  figure: string;
  kind: "callback";
  /** With namespace. */
  node: string;
  /** What was published. */
  published: PublishedValue[];
  /** From the unit of the figure. */
  scale: number;
  /** In words. */
  title: string;
  /** After scaling. */
  unit: string;
} | {
  /** As the workload names it. */
  chain: string;
  /** Of its figures. */
  figure: string;
  kind: "chain";
  /** What was published. */
  published: PublishedValue[];
  /** In words. */
  title: string;
  /** Of the figure. */
  unit: string;
} | {
  kind: "objective";
  /** What was published, for the figure. */
  published_hz: PublishedRate[];
  /** In words. */
  title: string;
} | {
  /** What both must agree in. */
  by: string[];
  /** What groups the quotients besides. */
  each: string[];
  /** Of a point. */
  figure: string;
  kind: "ratio";
  /** The dividend; see `Measure::Values`. */
  of: Record<string, Condition>;
  /** In words. */
  title: string;
  /** The divisor. */
  to: Record<string, Condition>;
};

/** Columns of intervals in which a thread could not go on. */
export interface OffCpuRows {
  /** Index into the names: who had that CPU, if it was ready or interrupted; optional. */
  by: Column;
  /** The CPU. */
  cpu: Column;
  /** How long. */
  duration: Column;
  /** Growing. */
  from: Column;
  /** 0: ready, without a CPU; 1: blocked; 2: interrupted. */
  state: Column;
  /** Index into the threads. */
  thread: Column;
  /** Index into the names: why, in words. */
  words: Column;
}

/** Everything on the page. */
export interface Page {
  /** Version of this shape. */
  format: number;
  /** How the recording of its only run goes on; absent of a report. */
  live?: Live;
  /** The runs, the first being the one to compare with. */
  runs: PageRun[];
  /** Version of tacho that wrote the report. */
  tacho_version: string;
}

/** A callback was blocked. */
export interface PageBlocked {
  /** Since the start of the instance. */
  from_ms: number;
  /** See `from_ms`. */
  to_ms: number;
  /** Name of the thread that woke it; absent where an interrupt did (of a timer or a device), or it is not known. */
  woken_by: string | null;
}

/** A chain with what of its instances is drawn. */
export interface PageChain {
  /** End-to-end times; absent without an instance. */
  end_to_end: Drawn | null;
  /** Mean parts of each node on the path; none where only some instances have hops, as they are not of all. */
  hops: HopMeans[];
  /** Best, median and worst instance. */
  instances: PageInstance[];
  /** Name. */
  name: string;
  /** Node, topic, node ... node. */
  path: string[];
}

/** What became of the chain that the runs are compared by. */
export interface PageCompared {
  /**
   * The chain that was tuned, else the one that is critical in the first run, followed by its path; absent where
   * this run does not have it.
   */
  chain?: number;
  /** What is drawn of it: an index into `PageRun::chains`. */
  drawn?: number;
  /**
   * Mean end-to-end time of the first run over that of this one; absent where one of them has none, and where this
   * one took no time at all.
   */
  gain?: number;
  /** Another chain, which is critical here. */
  other_critical?: number;
}

/** One node of an instance. */
export interface PageHop {
  /** From start to output: when its thread was blocked; only with scheduler events. */
  blocked?: PageBlocked[];
  /** Node. */
  node: string;
  /** Its output. */
  output_ms: number;
  /** Where the time went from the publication of its input, of the first from its start, to its output. */
  parts: Parts;
  /** From start to output: who had the CPU that its thread could have gone on with; only with scheduler events. */
  preemptions?: PagePreemption[];
  /** When its input was published. */
  published_ms: number | null;
  /** Start of its callback; its publish call where there is no callback. */
  start_ms: number;
  /** Topic of its input; absent for the first. */
  topic: string | null;
}

/** One instance of a chain, on its own time axis. */
export interface PageInstance {
  /** First node's callback start to last node's output. */
  end_to_end_ms: number;
  /** In the order of the path. */
  hops: PageHop[];
  /** What that is made of. */
  parts: Parts;
  /** By end-to-end time. */
  rank: Rank;
}

/** A thread had the CPU of a callback. */
export interface PagePreemption {
  /** Name of the thread; absent where it is not known. */
  by: string | null;
  /** Since the start of the instance. */
  from_ms: number;
  /** See `from_ms`. */
  to_ms: number;
}

/** A proof with the gain of each pair. */
export interface PageProof {
  /** Figures after the change. */
  after: Side;
  /** Figures before the change. */
  before: Side;
  /** The chain's name. */
  chain: string;
  /** CPU time of all nodes, percent of one CPU; absent if it was not measured on both sides. */
  cpu_percent?: BeforeAfter;
  /** Mean before over mean after, of each of its repeats; null where a side has none. */
  gains: (number | null)[];
  /** Which repeats do not count, and why. Empty if all count. */
  notes: string[];
  /** What was promised of the chain; absent if nothing was. */
  promise?: Promised;
  /** Mean end-to-end time before / after. Its least and greatest values are those of single repeats. */
  ratio: Spread;
  /** Every repeat, including those that do not count. */
  repeats: Pair[];
}

/** One run. */
export interface PageRun {
  /** One entry a chain of the tables. */
  chains: PageChain[];
  /** The critical chain of the first run in this one; absent where the first has none. */
  compared: PageCompared | null;
  /** Path of the run directory. */
  directory: string;
  /** Those of the notes for whose sake figures are absent that a reader looks for first. */
  in_doubt: Note[];
  /** See `ReportRun::in_node_clock_ms`. */
  in_node_clock_ms: Record<string, number>;
  /** `run.json`; what is missing for the same reason once. */
  info: RunInfo;
  /** See `ReportRun::label`. */
  label: string;
  /** Notes of the tables and of the summary, each once. */
  notes: Note[];
  /** See `ReportRun::objective`. */
  objective: ObjectiveCurve | null;
  /** See `ReportRun::proof`. */
  proof: PageProof | null;
  /** The published experiment that it repeats, of a single workload. */
  study: Study | null;
  /** `summary.json`. */
  summary: Summary;
  /** See `ReportRun::sweep`. */
  sweep: Sweep | null;
  /** The run over time; absent if no execution of a callback was recorded. */
  timeline?: Timeline;
  /** The drive from above; absent if no task reported where a car was. */
  top_view?: TopView;
  /** What of it does not count, in a sentence. */
  window?: string;
}

/**
 * Parts of a time, end to end: they add up to it. Those of an instance are the sums of its hops'.
 *
 * `T` is a time of one hop or instance (`i64`, ns), the same or a mean for people (`f64`, ms), or the times of all
 * instances (a distribution, ms). As JSON they are ms.
 */
export interface Parts {
  /** Message there, its node asleep. Absent where the events do not tell it from transport. */
  alignment_ms?: number;
  /** Inside the callback, from its start to its output, less the time off the CPU where that is known. */
  computation_ms: number;
  /**
   * Message taken by a callback, and kept for a later one that used it. Absent in runs of a time before it was told:
   * then it is part of alignment.
   */
  kept_ms?: number;
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
  queueing_ms: number;
  /** Publish call to message there; alignment, too, where that is absent. */
  transport_ms: number;
}

/** Columns of publish calls, by time. */
export interface Publications {
  /** Growing: just before the publish call. */
  at: Column;
  /** The execution that published; optional. */
  execution: Column;
  /** Index into the processes. */
  process: Column;
  /** Index into the names: its topic. */
  topic: Column;
}

/** A best rate that study E published. */
export interface PublishedRate {
  /** The rate. */
  hz: number;
  /** Time of the callback check of one node, where it was made longer than the others'. */
  one_check_ms?: number;
}

/** A published value that stands beside ours of one kind. */
export interface PublishedValue {
  /** What of. */
  of: string;
  /** In the unit of the measure. */
  value: number;
}

/** Which of its chain's instances one is. */
export type Rank = "best" | "median" | "worst";

/** Columns of lists, by the instants that they describe. */
export interface Sets {
  /** Growing: ns since the begin of the timeline. */
  at: Column;
  /** Entries of each list. */
  counts: Column;
  /** The node that reported them. */
  node: string;
  /** Growing: of entries; absent if they have none. */
  radius_mm?: Column;
  /** Growing: of entries. */
  x_mm: Column;
  /** Growing: of entries. */
  y_mm: Column;
}

/** One finding, and what of our points stands beside it. */
export interface Statement {
  /** Ours. */
  measure: Measure;
  /** In words. */
  says: string;
  /** Figure, table or finding. */
  source: string;
}

/** Latencies of the messages published in one stretch of the window. */
export interface Stretch {
  /** Its middle, since the start of the window. */
  at_s: number;
  /** Greatest. */
  max_us: number;
  /** Median. */
  median_us: number;
  /** Least. */
  min_us: number;
}

/** One published experiment. */
export interface Study {
  /** Where it was published. */
  citation: string;
  /** Its figures, drawn from our points in its own arrangement. */
  figures: Figure[];
  /** As `study:` in a workload names it. */
  id: string;
  /** How it was measured there. */
  setting: string;
  /** What it found. */
  statements: Statement[];
  /** What it asks. */
  title: string;
}

/** A sweep. */
export interface Sweep {
  /** What was varied, in the order of the points' names. */
  parameters: string[];
  /** In the order of the file. */
  points: SweepPoint[];
  /** The published experiment that it repeats. */
  study: Study | null;
}

/** One point. */
export interface SweepPoint {
  /** The same over the first repeat. */
  course: Stretch[];
  /** Absent where nothing was measured. */
  figures: Point | null;
  /** Publish call to first line, all messages of all repeats, us. */
  latency_us: Whiskers | null;
  /** What it lacks, and why: in the words of the first point that lacks it for the same reason. */
  missing: string[];
  /** Its folder below `points/`. */
  name: string;
  /** What the sweep varied, as written. */
  parameters: Record<string, string>;
}

/** The timeline of a run. */
export interface Timeline {
  /** Begin of the run, ns of the tables, as text: a JSON number holds fewer digits. */
  begin_ns: string;
  /** Callbacks, by their `row_id`. */
  callbacks: TimelineCallback[];
  /** The chain that the page is about; absent without an instance. */
  chain?: TimelineChain;
  /** Executions of callbacks. */
  executions: Executions;
  /** Messages, from publish call to callback. */
  flows: Flows;
  /** From there to the last event of the run, or repeat. */
  length_ns: number;
  /** Names that rows refer to. */
  names: string[];
  /** When a thread could not go on; absent without scheduler events. */
  off_cpu?: OffCpuRows;
  /** Processes. */
  processes: TimelineProcess[];
  /** Publish calls whose message somebody took. */
  publications: Publications;
  /** Repeats of the run, of which the page shows one; 1 if it is none. */
  repeats: number;
  /** Rows of what counts of the run, or repeat: executions, messages, intervals off the CPU. */
  rows: number;
  /** Of these, on the page. */
  rows_here: number;
  /** What the page holds of it, from and to. */
  spans: [number, number][];
  /** Threads that executed callbacks inside the spans, in the order of their executions below. */
  threads: TimelineThread[];
}

/** A callback. */
export interface TimelineCallback {
  /** As all ways out name it. */
  name: string;
  /** Its node, if that is known. */
  node: string | null;
  /** The same without its node. */
  short: string;
}

/** A chain and those of its instances that lie inside the spans of the page. */
export interface TimelineChain {
  /** Instances of the run, of which those below are on the page. */
  all: number;
  /** Of causes: position of the node where it happened. */
  at: Column;
  /** Start of its callback, ns since the start of its instance. */
  begun: Column;
  /** Index into the names. */
  by: Column;
  /** How many of the causes are its; 0 if it is not explained. */
  causes: Column;
  /** End-to-end time, ns. */
  duration: Column;
  /** Number of its execution on this page; optional. */
  execution: Column;
  /** Where it, or its first interval, began, ns since the start of its instance; optional. */
  from: Column;
  /** How many of the hops are its. */
  hops: Column;
  /** Index into `kinds`. */
  kind: Column;
  /** Kinds of these causes. */
  kinds: CauseKind[];
  /**
   * Which of them has the median end-to-end time, of an even count the lower of the two in the middle; absent if it
   * is not on the page.
   */
  median: number | null;
  /** Name. */
  name: string;
  /** Its output, ns since the start of its instance. */
  output: Column;
  /** Parts, ns, optional: computation, off_cpu, preemption, transport, alignment, queueing, kept. */
  parts: Column[];
  /** Node, topic, node ... node. */
  path: string[];
  /** Of hops: position on the path. */
  position: Column;
  /** Publication of its input, ns since the start of its instance; optional. */
  published: Column;
  /** Growing: its `row_id` in table `instances`. */
  row: Column;
  /** Growing: start, ns since the begin. */
  start: Column;
  /** How long, ns. */
  took: Column;
  /** Which of them has the greatest end-to-end time of all; absent if it is not on the page. */
  worst: number | null;
}

/** A process. */
export interface TimelineProcess {
  /** Its host. */
  host: string;
  /** Its last event, ns since the begin. */
  last_ns: number;
  /** Its nodes, or its executable. */
  name: string;
  /** Its id. */
  pid: number;
}

/** A thread. */
export interface TimelineThread {
  /** How many of the executions are its. */
  executions: number;
  /** Nodes of its callbacks. */
  name: string;
  /** Index into the processes. */
  process: number;
  /** Its id. */
  tid: number;
}

/** The point whose figure a bound is a multiple of. */
export interface Times {
  /** What it must agree in with the point that is meant. */
  by: string[];
  /** Which points; see `Measure::Values`. */
  of: Record<string, Condition>;
}

/** A drive from above. */
export interface TopView {
  /** The commands that it got. */
  ages: Ages;
  /** The car over time. */
  car: Car;
  /** Chains that end at the car. */
  chains: ViewChain[];
  /** Between the borders of the lane; absent if no world reported it. */
  lane_width_m?: number;
  /** Growing: points of the centre line, a closed line; empty if no world reported one. */
  lane_x_mm: Column;
  /** See `lane_x_mm`. */
  lane_y_mm: Column;
  /** Where the car left its lane; absent if it did not, or it is not known. */
  left?: Left;
  /** The true obstacles, whenever they changed; absent without a world. */
  obstacles?: Sets;
  /** Points of the trajectories that nodes planned. */
  plans: Sets[];
  /** Objects that nodes found. */
  seen: Sets[];
}

/** Columns of the instances of a chain that ends at the car, by their ends. */
export interface ViewChain {
  /** End-to-end time, ns. */
  duration: Column;
  /** Growing: its end, ns since the begin of the timeline. From then on the car drives as it says. */
  end: Column;
  /** Name. */
  name: string;
  /** Index into the parts: computation, off_cpu, preemption, transport, alignment, queueing, kept; its greatest. */
  part: Column;
  /** Node, topic, node ... node. */
  path: string[];
  /** How long that part is, ns. */
  took: Column;
  /** The late ones that are explained, the longest first: longer than the median of the chain by more than a tenth. */
  worst: Explained[];
}

/**
 * Box plot: quartiles by linear interpolation between closest ranks, whiskers to the last value within 1.5 times the
 * distance of the quartiles (study A, figures 9 and 10).
 */
export interface Whiskers {
  /** Values beyond the whiskers. */
  beyond: number;
  /** End of the upper whisker. */
  high: number;
  /** End of the lower whisker. */
  low: number;
  /** Median. */
  median: number;
  /** First quartile. */
  q1: number;
  /** Third quartile. */
  q3: number;
}

/** A value of a figure or of a parameter. */
export type Word = number | string;
