// The shapes of crates/tables: summary.json.
// Made of the Rust types by `WRITE_SHAPES=1 cargo test -p tacho-report shapes`.

/** The goals of one action. Counts are absent where no end that tells them was recorded. */
export interface ActionFigures {
  /** Goals that ended aborted. */
  aborted: number;
  /** Goal sent (just before the call) to its acceptance or rejection taken by the client. */
  acceptance_us?: Distribution;
  /** Goals that the server accepted. */
  accepted: number;
  /** Action. */
  action: string;
  /** Goals whose cancellation a client asked for; absent like `sent`. */
  cancel_requested?: number;
  /** Cancellation asked for to goal canceled, at the server; over canceled goals, on one host. */
  cancel_us?: Distribution;
  /** Goals that ended canceled. */
  canceled: number;
  /** Nodes that send goals. */
  clients: string[];
  /** CPU time of the callback that executes a goal, all parts of a coroutine. */
  execution_cpu_us?: Distribution;
  /** Goal accepted to goal ended, at the server. */
  execution_us?: Distribution;
  /** Feedback published; absent where no server was recorded. */
  feedback?: number;
  /**
   * Publish call to first line of the callback; to the take where there are no callback events, and for what another
   * client's goal is about.
   */
  feedback_latency_us?: Distribution;
  /** Feedback of one goal: (publish calls - 1) / (last - first), over all goals with two or more. */
  feedback_rate_hz?: number;
  /** Feedback taken, by all clients: each gets that of all goals. Absent where no subscription to it was recorded. */
  feedback_received?: number;
  /** Goals that it rejected. */
  rejected: number;
  /** Goal sent to its result taken by the client. */
  result_us?: Distribution;
  /** Goals sent; absent where no client was recorded. */
  sent?: number;
  /** Nodes that work on them. */
  servers: string[];
  /** Goals that ended succeeded. */
  succeeded: number;
  /**
   * Goals that were accepted and whose end was not recorded: still under way when the run ended, or their server was
   * killed.
   */
  unfinished: number;
}

/** One topic of a bag: what the recorder's log times, the senders' publish times and the stamps in headers tell. */
export interface BagTopicFigures {
  /** Stamp to log time, by two clocks. */
  age_ms?: Distribution;
  /** Their bytes, serialised. */
  bytes: number;
  /** Type of its messages; empty where the bag does not say. */
  datatype: string;
  /** Log time to the next log time. */
  gap_ms?: Distribution;
  /** How far a gap is from the median gap. */
  jitter_ms?: Distribution;
  /** Messages in the bag. */
  messages: number;
  /**
   * Numbers that no message has, between the least and the greatest that one has; absent where none is missing, as
   * many writers of bags number messages themselves, and where the numbers cannot be those of one publisher.
   */
  numbers_missing?: number;
  /** Publish time to log time, by two clocks; absent where the writer had one time only. */
  publish_to_log_ms?: Distribution;
  /** Gaps over their sum. */
  rate_hz?: number;
  /** Stamp to the stamp of the message that was logged next. */
  stamp_gap_ms?: Distribution;
  /** Those with a stamp; absent where its messages do not begin with a header, or it is not known whether they do. */
  stamped?: number;
  /** Name. */
  topic: string;
}

/** A microcontroller of a point (study C). */
export interface BoardFigures {
  /** How far times of its clock may be off on this machine's; absent where no message went each way. */
  clock_error_us?: number;
  /** What its middleware refused or lost, by name; those of 0 are left out. */
  counters: Record<string, number>;
  /** Whether its time is an emulator's. */
  emulated: boolean;
  /** What it is. */
  machine: string;
  /** How it was joined to the others. */
  network: string;
  /** Its node. */
  node: string;
  /** The same to its first message. */
  own_clock_first_message_ms?: Distribution;
  /**
   * Start of its middleware to every endpoint matched, by its own clock: emulated time where it is emulated. A value
   * a repeat.
   */
  own_clock_matched_ms?: Distribution;
  /** Variables, stack, and the storage of its messages. */
  ram_bytes: number;
  /** What its flash holds. */
  rom_bytes: number;
  /** Of that, the stack that is set aside. */
  stack_bytes: number;
}

/** Study D: one callback's own execution time. */
export interface CallbackFigures {
  /** Address in hexadecimal. */
  callback: string;
  /** Complete executions; of a coroutine that awaited something, all of its parts are one. */
  count: number;
  /**
   * CPU time from start to end; absent where neither scheduler events nor the CPU-time clock of the thread were
   * recorded.
   */
  cpu_us?: Distribution;
  /** Start to end, wall; of a coroutine the sum of its parts. */
  duration_us?: Distribution;
  /** Its function: qualified, without arguments; of some bound methods in C++ only the class is known. */
  function?: string;
  /** subscription, timer, service, unknown. */
  kind: string;
  /** Where that is defined, `file:line`; absent where it is not recorded (C++). */
  location?: string;
  /** Node. */
  node?: string;
  /**
   * Wall time without CPU time: duration less CPU time, of the executions whose CPU time is known; absent where it
   * is of none.
   */
  off_cpu_us?: Distribution;
  /** What `ros2 topic hz` on the callback's output would have said: mean period of its publications, by output topic. */
  output_period_ms: [string, number][];
  /** Period of its timer. */
  period_ms?: number;
  /** Process. */
  process_id: number;
  /** Message there to callback start, where the arrival is known. */
  queue_wait_us?: Distribution;
  /** What it was registered as, word for word. */
  symbol?: string;
  /** Topic of its subscription. */
  topic?: string;
}

/** What took a part of the time of a late instance, or kept an input from becoming an output. */
export type CauseKind = "computation" | "off_cpu" | "blocked" | "preemption" | "interrupt" | "transport" | "wake_up" | "no_cpu" | "executor_busy" | "group_busy" | "interpreter_busy" | "kept" | "not_due" | "tick_late" | "used_again" | "no_newer" | "overwritten" | "lost" | "unmatched" | "ended" | "pending" | "untold" | "superseded" | "no_output" | "not_active";

/** One chain. */
export interface ChainFigures {
  /** Message there, its node asleep. Absent where the events do not tell it from transport. */
  alignment_ms?: Distribution;
  /** The callbacks that most of its instances pass, in order. */
  callbacks?: string[];
  /** Where it runs over several hosts: a time between two of them is right to this, either way. */
  clock_uncertainty_ms?: number;
  /** Inside the callback, from its start to its output, less the time off the CPU where that is known. */
  computation_ms?: Distribution;
  /** Highest worst case of all paths that rest on no guess; of all, where each rests on one. */
  critical: boolean;
  /** From an input to the moment when an output of another one replaces the last that uses it. */
  data_age_held_ms?: Distribution;
  /** From an input to the last output that still uses it. */
  data_age_ms?: Distribution;
  /** By when an instance must be through; absent where nobody says. */
  deadline_ms?: number;
  /** First node's callback start to last node's output. */
  end_to_end_ms?: Distribution;
  /** How outputs were tied to inputs. */
  evidence: string;
  /** Nodes on its path whose tie of output to input is a guess, in order: its times are only as good as these. */
  guessed_at?: string[];
  /** Instances that came through. */
  instances: number;
  /**
   * Message taken by a callback, and kept for a later one that used it. Absent in runs of a time before it was told:
   * then it is part of alignment.
   */
  kept_ms?: Distribution;
  /** Instances that took longer than that. */
  late_instances?: number;
  /** How outputs were tied to inputs at each node, in the order of the path. */
  links: LinkFigures[];
  /** Inputs that led to no output. */
  lost: number;
  /** What became of the inputs that led to no output, most first. */
  lost_inputs: LostInputs[];
  /** Name. */
  name: string;
  /**
   * Inside the callback: the thread slept or was blocked. If `preemption` is absent: it had no CPU, for whatever
   * reason, for at least this long. Absent unless CPU time is known of all hops of the instance: it is then part of
   * computation, in each of them.
   */
  off_cpu_ms?: Distribution;
  /** Node, topic, node ... node; then the topic of its output, where one was stated as its end. */
  path: string[];
  /**
   * Inside the callback: the thread could have gone on and had no CPU. Absent unless it is known of all hops of the
   * instance: it is then part of `off_cpu` or, where that is absent, of computation, in each of them.
   */
  preemption_ms?: Distribution;
  /** Message there, executor or callback group busy with other callbacks. */
  queueing_ms?: Distribution;
  /**
   * At the end, so long had a change waited that no output reflects: the reaction to it takes longer. Absent where
   * none waited.
   */
  reaction_pending_ms?: number;
  /** An input change that was just missed to the first output that reflects it. */
  reaction_time_ms?: Distribution;
  /**
   * Mean end-to-end time of each repeat that had instances: nodes that spin at one rate keep the phases they started
   * with, so that one repeat is one draw. Absent for a single run.
   */
  repeat_means_ms?: Distribution;
  /** Publish call to message there; alignment, too, where that is absent. */
  transport_ms?: Distribution;
  /**
   * The worst instances (those past the deadline, where there is one) with what took their time, worst first: ten of
   * the critical chain and of those with a deadline, two of any other.
   */
  worst: LateInstance[];
}

/** What is to blame for something: a callback, a queue, a topic, a thread. */
export interface Culprit {
  /** Callback, as elsewhere; of several that occupied all threads all of them. */
  callback?: string;
  /** Executions of the callback that did so; absent where it is no callback. */
  executions?: number;
  /** Its function. */
  function?: string;
  /** Late cases that it delayed, or inputs that it lost. */
  instances: number;
  /** What it did to instances or inputs of chains; absent for one that a lint alone found. */
  kind?: CauseKind;
  /** Late cases that would be left without it: an estimate. */
  late_without?: number;
  /** The lint that found it. */
  lint?: string;
  /** Where that is defined, `file:line`, where it is recorded. */
  location?: string;
  /** The longest of those executions; else the longest that it delayed one instance. */
  longest_ms?: number;
  /** One sentence: what to try. */
  next: string;
  /** Node. */
  node?: string;
  /** Of the time by which all late cases together exceed what is usual (or of all that inputs were lost by). */
  share_percent?: number;
  /** One sentence with the evidence. */
  text: string;
  /** Topic. */
  topic?: string;
  /** Longest end-to-end time that would be left without it: an estimate. */
  worst_without_ms?: number;
}

/** Quartiles and moments of a set of values, in the unit of the field that holds it. */
export interface Distribution {
  /** Values. */
  count: number;
  /** Greatest. */
  max: number;
  /** Arithmetic mean. */
  mean: number;
  /** Median. */
  median: number;
  /** Least. */
  min: number;
  /** 99th percentile. */
  p99: number;
  /** First quartile, linear interpolation between closest ranks. */
  q1: number;
  /** Third quartile. */
  q3: number;
  /** Sample standard deviation; absent for one value. */
  std?: number;
}

/** Study C's drift: whether latency changes over the run. */
export interface Drift {
  /** Instants since the start of the window at which the level changes, s; of all repeats, ascending. */
  changes_at_s: number[];
  /** See `slope_low_us_per_s`. */
  slope_high_us_per_s: number;
  /** Bounds of its 95 % confidence interval. */
  slope_low_us_per_s: number;
  /** Theil-Sen slope of latency over time. */
  slope_us_per_s: number;
  /** Stretches of the run that the figures are made of, over all repeats. */
  stretches: number;
}

/** Drives of a point, of which each repeat is one (study E, figures 15 to 17). */
export interface Drives {
  /** Those that kept the lane, touched nothing and drove at all. */
  good: number;
  /** Those that the vehicle reported. */
  of: number;
  /** See `success_low_percent`. */
  success_high_percent: number;
  /** 95 % interval of Clopper and Pearson for the rate of success. */
  success_low_percent: number;
  /** good of `of`. */
  success_percent: number;
}

/** A thread that executes callbacks: percentages of the time from its first to its last event in the measured window. */
export interface ExecutorFigures {
  /** Off the CPU, asleep or blocked. */
  blocked_percent?: number;
  /** Inside callbacks. */
  executing_percent: number;
  /** Times the CPU was taken from it. */
  involuntary_switches?: number;
  /** Nodes whose callbacks it ran. */
  nodes: string[];
  /** Time that the percentages are of, s, over all repeats. */
  over_s: number;
  /** Process, in the first repeat. */
  process_id: number;
  /** Neither waiting nor executing; absent like it. */
  ready_percent?: number;
  /** Off the CPU and able to go on. */
  runnable_percent?: number;
  /** On a CPU; absent, like all below, without scheduler events. */
  running_percent?: number;
  /** Thread, in the first repeat. */
  thread_id: number;
  /** Times it gave the CPU up. */
  voluntary_switches?: number;
  /** Inside the executor's wait; absent where waits are not recorded. */
  waiting_percent?: number;
  /** Woken outside of callbacks, to running. */
  wakeup_latency_us?: Distribution;
}

/**
 * Study A's fairness: the same messages, sent to several subscribers. Of several topics, the one with the greatest
 * spread.
 */
export interface Fairness {
  /** Messages that every subscription got: the means are over these alone. */
  messages: number;
  /** Greatest mean latency of a subscription less the least. */
  spread_us: number;
  /**
   * Spearman's rank correlation of mean latency with order of creation: 1 is a perfect staircase. Absent with
   * fewer than four, or where all means are alike.
   */
  staircase?: number;
  /** Probability of so strong a correlation by chance, two-sided. */
  staircase_p?: number;
  /** Subscriptions compared. */
  subscriptions: number;
  /** The topic. */
  topic: string;
}

/** What one lint found (docs/lints.md). */
export interface Finding {
  /** The cases, worst first; where there are more than 1,000, those that are worst. */
  cases: FindingCase[];
  /** Cases. */
  count: number;
  /** What it finds, in half a line. */
  finds: string;
  /** Name of the lint. */
  lint: string;
}

/** One case of a finding. */
export interface FindingCase {
  /** The callback that delays the subject, if a lint finds one. */
  by?: string;
  /** What it costs. */
  cost: string;
  /** By how much in all, ms. */
  delay_ms?: number;
  /** Figures with units. */
  evidence: string;
  /** What to try next. */
  next: string;
  /** Repeats that show it; absent for a single run. */
  repeats?: number;
  /** What it is about: a subscription, a callback, a thread, a chain. */
  subject: string;
}

/** An instance of a chain with everything that took its time; the parts add up to it. */
export interface LateInstance {
  /** First node's callback start to last node's output. */
  end_to_end_ms: number;
  /** In the order of the path. */
  parts: LatePart[];
  /** Which repeat it is of; absent for a single run. */
  repeat?: number;
  /** Start of the first node's callback, ns of CLOCK_MONOTONIC. */
  start_ns: number;
  /**
   * The same on the wall clock, ns since 1970, by its reading at the start of the run; absent where no clock of
   * the run told the day.
   */
  start_realtime_ns?: number;
}

/** What took a part of an instance. */
export interface LatePart {
  /** By whom. */
  by: string;
  /** What. */
  kind: CauseKind;
  /** How long. */
  ms: number;
  /** Nodes where it happened, in the order of the path; of transport and waits the one that receives. */
  nodes: string[];
  /**
   * Median of the same part over all instances; absent for a part at several nodes, and with fewer than three
   * instances.
   */
  usual_ms?: number;
}

/** Messages of a topic of which the same layers are known. Their means add up to that of the latency. */
export interface LayerFigures {
  /** Publish call to first line of the callback; to the take where there are no callback events. */
  latency_us: Distribution;
  /** Its layers, in the order of `crate::LAYERS`. */
  layers: LayerPart[];
  /** Messages. */
  messages: number;
  /** Topic; absent for those of all topics of a point. */
  topic?: string;
}

/** One layer of a latency. */
export interface LayerPart {
  /** Time in it. */
  duration_us: Distribution;
  /** Layers before it that could not be told from it. */
  includes?: string[];
  /** One of `crate::LAYERS`. */
  layer: string;
}

/** A managed node: its states, in the measured window. */
export interface LifecycleFigures {
  /** How long it was in each, s, over all repeats. */
  in_state_s: Record<string, number>;
  /** Node. */
  node: string;
  /** The state that it was in last. */
  state: string;
  /** Changes of state, those through transition states (configuring ...) among them. */
  transitions: number;
}

/** What says so, strongest first. */
export type LinkEvidence = "stated" | "annotated" | "observed" | "inferred";

/** How one output of a node was tied to one of its inputs; see `crate::Link`. */
export interface LinkFigures {
  /** From 0 to 1. */
  confidence: number;
  /** What says so. */
  evidence: LinkEvidence;
  /** Of those, the ones that the rule finds an input for. */
  followed: number;
  /** Whether the rule is a guess: nothing shows that the output is made of this input, or of which of its messages. */
  guess?: boolean;
  /** Topic that it takes. */
  input: string;
  /** Node. */
  node: string;
  /** Topic that it publishes; absent for the last node. */
  output?: string;
  /** Outputs since the first input was taken. */
  outputs: number;
  /** How. */
  rule: LinkRule;
}

/** How an output of a node follows from an input of it. */
export type LinkRule = "header_stamp" | "same_callback" | "latest" | "latest_once" | "match" | "unrelated";

/** Inputs of a chain that no output descends from. */
export interface LostInputs {
  /** By whom. */
  by: string;
  /** How many. */
  inputs: number;
  /** How. */
  kind: CauseKind;
  /** Node where they ended. */
  node: string;
}

/** Something missing, doubtful or lost. */
export interface Note {
  /** How often. */
  count: number;
  /** Short stable name, `no-callback-events`. */
  name: string;
  /** In words, with what it touches. */
  text: string;
}

/** Communication of one run as a whole. */
export interface Point {
  /** Each board. */
  boards?: BoardFigures[];
  /**
   * Chains that the workload names, by name: end to end over all their nodes, where `latency_us` is of one message
   * (study B: round trips).
   */
  chains?: Record<string, PointChain>;
  /** CPU time of all node processes in the window, percent of one CPU. */
  cpu_percent?: number;
  /** Mean bytes of those frames that carry messages (study C's bytes on the wire). */
  data_frame_bytes?: number;
  /** Latency over the run; absent with too few messages. */
  drift?: Drift;
  /** How often its vehicle drove well; absent where no vehicle reported a drive. */
  drives?: Drives;
  /** Events that the recorder could not write. */
  dropped_events: number;
  /** Sends that were due: `sent`, `refused` and `skipped`; absent where nothing is due by the clock. */
  due?: number;
  /**
   * Publish call to first line of messages with an end on an emulated board, whose clock is related to this
   * machine's to within `boards[].clock_error_us`: emulated time, no latency.
   */
  emulated_us?: Distribution;
  /** Whether subscribers of one topic are served alike; absent with fewer than two. */
  fairness?: Fairness;
  /** Taken within the deadline; absent where that is not told of each, as emulated time lies between. */
  in_time?: number;
  /** Taken after it; absent likewise. */
  late?: number;
  /** Publish call to first line of the callback. */
  latency_us?: Distribution;
  /** Latency by layers, all topics together; several where not the same layers are known of all messages. */
  layers: LayerFigures[];
  /** lost of (received + lost). */
  loss_percent?: number;
  /** Sent while matched and never taken, over all subscriptions; absent where events were dropped. */
  lost?: number;
  /** Plugin name. */
  middleware: string;
  /** What the sweep varied, as written: `size` -> `64 KiB`. Empty for a workload without lists. */
  parameters: Record<string, string>;
  /** Times that the CPU was taken from a process, a second, all together. */
  preemptions_per_s?: number;
  /** Proportional sets of all node processes, added up. */
  pss_bytes?: number;
  /** Publishers in the run. */
  publishers: number;
  /** Each publisher. */
  publishing: PublisherFigures[];
  /** Rate of the publications; absent where they differ or have none. */
  rate_hz?: number;
  /** Messages taken, over all subscriptions. */
  received: number;
  /** Publish calls that failed; absent where nobody counts them. */
  refused?: number;
  /** Run directories that it is made of. */
  repeats: number;
  /** Resident set of the process with the greatest. */
  rss_bytes?: number;
  /** Publish call less when it was due by its rate and phase (study A); absent where nothing is due by the clock. */
  send_lateness_us?: Distribution;
  /** Publish calls that the middleware took. */
  sent: number;
  /** Publish calls a period or more after they were due (study A, figure 11: not sent in their period). */
  sent_late?: number;
  /** Resident shared memory of the process with the most. */
  shared_bytes?: number;
  /** Data of a message; absent where publications differ. */
  size_bytes?: number;
  /** Sends that were due and did not happen. */
  skipped?: number;
  /** Entering main to the first message in a callback, over processes that got one; with `start: at once` alone. */
  startup_ms?: Distribution;
  /** Subscriptions in the run. */
  subscribers: number;
  /** Each subscription, in the order of creation. */
  subscribing: SubscriptionFigures[];
  /** `pairs`, `one-to-many`, `many-to-one`; absent where the nodes were not generated. */
  topology?: string;
  /** Transport, empty for the default. */
  transport: string;
  /** Times that processes slept and were woken, a second, all together. */
  wakeups_per_s?: number;
  /**
   * Bytes of all Ethernet frames between the hosts in the window (discovery, acknowledgements and all), a message
   * sent; without check sequences. Absent where they were not counted.
   */
  wire_bytes_per_message?: number;
}

/** A chain of a point; all that is known of it stands in the point's own summary. */
export interface PointChain {
  /** Part of the end-to-end time that was transport, over all instances: study B's share of communication. */
  communication_percent?: number;
  /** First node's publish call or callback start to the last node's output; absent where no instance came through. */
  end_to_end_ms?: Distribution;
  /** Instances that came through. */
  instances: number;
  /** Inputs that led to no output. */
  lost: number;
}

/** What kept callbacks from a CPU. */
export interface PreemptorFigures {
  /** Name of the thread that had the CPU; absent: none had (an idle CPU that woke up), or it is not known. */
  by?: string;
  /** Intervals. */
  count: number;
  /** The longest. */
  longest_ms: number;
  /** Their length, added up. */
  total_ms: number;
}

/** One publisher of a point. */
export interface PublisherFigures {
  /** Sends that were due: `sent`, `refused` and `skipped`; absent where nothing is due by the clock. */
  due?: number;
  /** Node. */
  node: string;
  /** Publish calls that failed; absent where nobody counts them. */
  refused?: number;
  /** Publish call less when it was due. */
  send_lateness_us?: Distribution;
  /** Publish calls that the middleware took. */
  sent: number;
  /** Publish calls a period or more after they were due. */
  sent_late?: number;
  /** Sends that were due and did not happen. */
  skipped?: number;
  /** Topic. */
  topic: string;
}

/** A figure of a node's task. */
export interface QualityFigures {
  /** Name, with its unit: `lateral_error_max_m`. */
  name: string;
  /** The node. */
  node: string;
  /** Its task. */
  task: string;
  /** Its value in each repeat that has it, in their order. */
  values: number[];
}

/** A reaction. Times are ms since the obstacle came into the way, ways are m along the lane. */
export interface ReactionFigures {
  /** When the obstacle came into the way: ns of the tables. */
  at_ns: number;
  /** Free way before its front then. */
  free_way_m: number;
  /**
   * Free way before its front when it stood; negative inside the obstacle, absent if nothing was in its way any
   * more.
   */
  margin_m?: number;
  /** The node that drives the car. */
  node: string;
  /** Until the car braked; absent if it did not. */
  reaction_ms?: number;
  /** Way that it drove until it braked. */
  reaction_way_m?: number;
  /** Speed of the car then. */
  speed_m_per_s: number;
  /** What happened, in the order of time, as far as it did: sensed, found, planned, commanded, braking, standing. */
  stages: ReactionStage[];
  /** Way that it drove until it stood; absent if it did not. */
  stop_way_m?: number;
}

/** A stage of a reaction. */
export interface ReactionStage {
  /** When. */
  after_ms: number;
  /** The node that did it. */
  node: string;
  /** What happened. */
  stage: string;
}

/** Calls of one service. Distributions are over complete calls: request, handling and response make the round trip. */
export interface ServiceFigures {
  /** Nodes that call it. */
  clients: string[];
  /** Calls whose four steps were all recorded. */
  complete: number;
  /** rmw_take_request to rmw_send_response. */
  handling_us?: Distribution;
  /** rmw_send_request to rmw_take_request. */
  request_us?: Distribution;
  /** rmw_send_response to rmw_take_response. */
  response_us?: Distribution;
  /** rmw_send_request to rmw_take_response. */
  round_trip_us?: Distribution;
  /** Requests sent; absent where no client was recorded. */
  sent?: number;
  /** Nodes that answer. */
  servers: string[];
  /** Service. */
  service: string;
  /**
   * Requests whose response was not taken, older than the slowest round trip; absent where that cannot be known
   * (events were lost, or no call is complete).
   */
  unanswered?: number;
}

/** One subscription of a point. */
export interface SubscriptionFigures {
  /** Taken within the deadline; absent where that is not told of each, as emulated time lies between. */
  in_time?: number;
  /** Taken after it; absent likewise. */
  late?: number;
  /** Publish call to first line of the callback. */
  latency_us?: Distribution;
  /** Sent while matched and never taken; absent where events were dropped. */
  lost?: number;
  /** Node. */
  node: string;
  /** Messages taken. */
  received: number;
  /** Topic. */
  topic: string;
}

/** The whole file. */
export interface Summary {
  /** One entry an action whose goals are known. */
  actions?: ActionFigures[];
  /** One entry a topic of an imported bag. */
  bag_topics?: BagTopicFigures[];
  /** One entry a callback that ran. */
  callbacks: CallbackFigures[];
  /** One entry a chain. */
  chains: ChainFigures[];
  /** One entry a thread that executed callbacks. */
  executors?: ExecutorFigures[];
  /** What lints found; absent in summaries of a time before there were any. */
  findings?: Finding[];
  /** Latency by layers: one entry a topic, and more where not the same layers are known of all its messages. */
  layers: LayerFigures[];
  /** One entry a managed node. */
  lifecycle?: LifecycleFigures[];
  /** What is missing, doubtful or lost. */
  notes: Note[];
  /** One entry a point of a sweep; one for a single run of a workload; none for a recorded program. */
  points: Point[];
  /** Who had the CPU while callbacks could have gone on, most time first. */
  preemptors?: PreemptorFigures[];
  /** One entry a figure of quality that the task of a node reports. */
  quality?: QualityFigures[];
  /** One entry a reaction of a car to an obstacle that came into its way. */
  reactions?: ReactionFigures[];
  /** One entry a service that was called; those of actions whose goals are known stand there. */
  services?: ServiceFigures[];
  /** One entry a topic. */
  topics: TopicFigures[];
  /** What stands out; absent for sweeps and in summaries of a time before there were verdicts. */
  verdict?: Verdict;
  /** The part of a run that counts; absent for a run of a workload, of which its measured window does. */
  window?: WindowFigures;
}

/** One topic. */
export interface TopicFigures {
  /** Sent after the executor of the subscription had ended. */
  after?: number;
  /** Sent before publisher and subscription were matched. */
  before?: number;
  /** Between hosts: those latencies are right to this, either way; absent where no message went between hosts. */
  latency_uncertainty_us?: number;
  /** Publish call to first line of the callback; to the take where there are no callback events, and a note says so. */
  latency_us?: Distribution;
  /** Never taken, over all subscriptions. */
  lost?: number;
  /** Mean size of the messages whose size is known: all of nodes that tacho runs, one in 8 of other recordings. */
  mean_size_bytes?: number;
  /** Type of its messages, `std_msgs/msg/String`, where it is known. */
  message_type?: string;
  /** Neither taken nor lost, over all subscriptions: each may have taken them later. */
  pending?: number;
  /** Nodes that publish it. */
  publishers: string[];
  /** (publications - 1) / (last - first), over all publishers. */
  rate_hz?: number;
  /** Messages taken, over all subscriptions. */
  received: number;
  /** Publish calls. */
  sent: number;
  /** Nodes that subscribe to it. */
  subscribers: string[];
  /** Name. */
  topic: string;
  /** Not taken, and what became of them is not known: the two never exchanged a message, or events were lost. */
  unknown?: number;
}

/**
 * What a run shows, first: the chain that matters, how late it is, and the culprits. docs/figures-of-chains.md,
 * "verdict".
 */
export interface Verdict {
  /** Name of the chain that it is about; absent where no chain can be followed. */
  chain?: string;
  /** What is to blame, most important first; none where the evidence is thin. */
  culprits: Culprit[];
  /** The deadline that somebody stated. */
  deadline_ms?: number;
  /** Its instances. */
  instances: number;
  /** The deadline, or half as much again as is usual and 5 ms more than that; absent for few instances. */
  late_above_ms?: number;
  /** The same without those that share their input with a later one. */
  late_cases: number;
  /** Those that took longer than `late_above_ms`. */
  late_instances: number;
  /** Its path: node, topic, node ... node. */
  path?: string[];
  /** One sentence: how late and how often; or that nothing stands out. */
  text: string;
  /** Median end-to-end time. */
  usual_ms?: number;
  /** Longest end-to-end time. */
  worst_ms?: number;
}

/** From when on, and until when, things count; in seconds since the begin of the run. */
export interface WindowFigures {
  /** What happened before counts nowhere. */
  from_s: number;
  /** Length of the run, from its first to its last event. Of several repeats the longest. */
  run_s: number;
  /**
   * Chains and findings count from then on: the system started before. Absent if no start-up was found, or if the
   * window was asked for.
   */
  start_up_s?: number;
  /** What happened from then on counts nowhere. */
  to_s: number;
}
