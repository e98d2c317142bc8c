// The shapes of crates/events: run.json.
// Made of the Rust types by `WRITE_SHAPES=1 cargo test -p tacho-report shapes`.

/**
 * A microcontroller with one node (study C). Times are ns of its own clock since it was switched on; an emulated board
 * has emulated time.
 */
export interface Board {
  /** What its middleware refused or lost, by name, except counts of 0. */
  counters: Record<string, number>;
  /** Whether an emulator provides its time: then none of its measurements is a figure of the hardware. */
  emulated: boolean;
  /** First message taken. */
  first_message_ns?: number;
  /** Its middleware started. */
  init_ns?: number;
  /** `emulated mps2-an386 (Cortex-M4, 25 MHz; QEMU 7.2.22)`. */
  machine: string;
  /** Every endpoint had its peers. */
  matched_ns?: number;
  /** Its connection to the other nodes. */
  network: string;
  /**
   * Variables and stack, and the storage of its endpoints' messages. Without the ring of events, which is the
   * measuring.
   */
  ram_bytes: number;
  /** Code, constants, and the values that variables begin with: what its flash holds. */
  rom_bytes: number;
  /** Stack set aside, which `ram_bytes` has in it. */
  stack_bytes: number;
}

/** The CPU time that a process had used at an instant. */
export interface CpuSample {
  /** When, ns of CLOCK_MONOTONIC. */
  at_ns: number;
  /** Of all its threads, those that ended as well, user and system, ns (its CPU-time clock, not ticks). */
  cpu_ns: number;
}

/** CPU time of a process at instants while it was recorded. */
export interface CpuTimes {
  /** Process id, as its events have it. */
  pid: number;
  /** In the order of time. */
  samples: CpuSample[];
}

/** A period in which events were lost. */
export interface EventGap {
  /** The boot whose clock its times belong to; absent if the run has one clock. */
  boot_id?: string;
  /** Why, in words. */
  cause: string;
  /** How many; absent if unknown. */
  events?: number;
  /** They lie at or after this, ns of CLOCK_MONOTONIC. */
  from_ns: number;
  /** And at or before this. */
  to_ns: number;
}

/** What a machine did while something ran on it, from /proc. Unreadable values are absent. */
export interface Load {
  /** CPUs that were online. */
  cpus?: number;
  /** And at the end. */
  load_average_after?: number;
  /** Load average over a minute, tasks, at the begin (/proc/loadavg). */
  load_average_before?: number;
  /**
   * CPU time that all processes, the kernel and interrupts used: the time of all CPUs less the idle and the stolen
   * part (/proc/stat), and at least the CPU time of all processes (/proc/PID/stat). A wait for the hypervisor at the
   * end of an idle time is in both parts.
   */
  machine_cpu_s?: number;
  /** The rest: what other processes used. */
  others_cpu_s?: number;
  /** Wall time that all below is of. */
  over_s: number;
  /** The part of tacho and of what it started or attached to. */
  own_cpu_s?: number;
  /** Part of the time in which all tasks that were not idle waited for one. */
  pressure_full_percent?: number;
  /** Part of the time in which some task waited for a CPU (/proc/pressure/cpu): of the run or of others. */
  pressure_some_percent?: number;
  /** Part of the time of all CPUs that the hypervisor gave to others. */
  steal_percent?: number;
}

/** The machine, as far as timing depends on it. */
export interface Machine {
  /** The kernel's clock source. */
  clocksource: string;
  /** CPU model. */
  cpu: string;
  /** CPUs that the run could use. */
  cpus: number;
  /** Frequency governor of the first CPU, if there is one. */
  governor?: string;
  /** Host name. */
  host: string;
  /** Kernel release. */
  kernel: string;
  /** Memory. */
  memory_bytes: number;
  /** Its preemption model: `PREEMPT_RT`, `PREEMPT_DYNAMIC (full)`, `voluntary`, ... */
  preemption: string;
}

/** A scheduling class of Linux; see sched(7). */
export type Policy = {
  nice: number;
} | {
  fifo: number;
} | {
  round_robin: number;
} | {
  else: number;
};

/** How a process ended. */
export interface ProcessExit {
  /** If it was a board: its description and results. `pid` is then that of the process that runs its emulator. */
  board?: Board;
  /** Exit code, if it exited. */
  code?: number;
  /** Host of the workload that it ran on; empty: this machine. */
  host?: string;
  /** Process name of the workload, or the command. */
  name: string;
  /** Process id. */
  pid: number;
  /** What it used in the measured window; absent if it had ended before, or none was measured. */
  resources?: Resources;
  /** Signal, if one ended it. */
  signal?: number;
  /** Its start; absent if the program does not report it. */
  startup?: StartUp;
}

/** A figure of quality. */
export interface Quality {
  /** Name, with its unit: `lateral_error_max_m`. */
  name: string;
  /** Value. */
  value: number;
}

/** What a process used (proc(5)). */
export interface Resources {
  /** CPU time of all its threads, those that ended as well, user and system, ns (its CPU-time clock, not ticks). */
  cpu_ns: number;
  /** Times the CPU was taken from it. */
  involuntary_switches: number;
  /**
   * Wall time over which the counts below were taken, ns: the measured window, and up to a tenth of a second before
   * it.
   */
  over_ns: number;
  /** Greatest resident set of its life, with the recorder's buffers. */
  peak_rss_bytes: number;
  /**
   * Proportional set at the end of the window: shared pages counted by the part that is its own. Without the
   * recorder's buffers.
   */
  pss_bytes?: number;
  /** Resident set at the end of the window, without the recorder's own buffers. */
  rss_bytes: number;
  /** Resident shared memory (shmem, tmpfs) at the end of the window, without the recorder's own buffers. */
  shared_bytes: number;
  /** Threads at the end of the window. */
  threads: number;
  /** Times it gave the CPU up: it slept and was woken. */
  voluntary_switches: number;
}

/** A recording of which the last seconds were kept, or a save of it. */
export interface Ring {
  /** From when on all events are kept, ns of CLOCK_MONOTONIC; absent if none was released. */
  kept_from_ns?: number;
  /** Processes of which nothing was left, because they had ended long before. */
  processes_let_go: number;
  /** The reason for the save; absent in the recording itself. */
  saved_for?: string;
  /** Saves below `saves/`. */
  saves: number;
  /** The period to keep. */
  span_s: number;
  /** Times that a trigger was met and nothing was saved: too soon after a save, or there were as many as wanted. */
  triggers_passed_over: number;
}

/** `run.json`: what ran, on what, how it ended. */
export interface RunInfo {
  /** The command line of `tacho`, and of the program under it. */
  command: string[];
  /** CPU time of recorded processes over time. */
  cpu_times?: CpuTimes[];
  /** True if the user or a failure ended it early. */
  cut_short: boolean;
  /** Wall time of the run. */
  duration_s: number;
  /**
   * Starts before this one at which a signal ended a process before anything was measured, in words. What the last
   * of them left is in `failed-start/`.
   */
  failed_starts?: string[];
  /** Periods in which events of its processes were lost, if the times are known. */
  gaps?: EventGap[];
  /** When it was imported. */
  imported_at?: string;
  /**
   * What else the machine did meanwhile: in the measured window of a bench, over the whole of a recording. Absent if
   * /proc has no data.
   */
  load?: Load;
  /** The machine it ran on; absent if only a trace of it is known. */
  machine?: Machine;
  /** Start of the measured window, ns of CLOCK_MONOTONIC: messages sent before are warm-up. Absent: all is measured. */
  measured_from_ns?: number;
  /** End of the measured window. */
  measured_to_ns?: number;
  /** What is missing from this run, and why. Empty for a whole one. */
  missing: string[];
  /**
   * What a sweep varied, as written in its file, for this point: `nodes`, `size`, `rate`, `middleware` ... Empty for
   * a workload without lists.
   */
  parameters?: Record<string, string>;
  /** Phase of each spinning or timed node, in parts of its period, as drawn by seed. */
  phases: Record<string, number>;
  /** How each process that tacho started ended. */
  processes: ProcessExit[];
  /** What the tasks of nodes report of their quality. */
  quality?: TaskQuality[];
  /**
   * CLOCK_REALTIME minus the clock of event times, ns, at the start; with several hosts that of the first. Absent if
   * unknown.
   */
  realtime_offset_ns?: number;
  /** Which repeat of its workload this run is. */
  repeat?: number;
  /** Set if only the last part of a recording was kept; absent for a whole one. */
  ring?: Ring;
  /** Scheduler events of the kernel; absent if nobody asked for them. */
  scheduler?: SchedulerEvents;
  /**
   * Threads of recorded processes that are not scheduled like any program on all CPUs; absent if that was not looked
   * at.
   */
  scheduling?: ThreadScheduling[];
  /** Start, RFC 3339, UTC. For an import that of the imported trace, empty if unknown. */
  started_at: string;
  /** Version of tacho. */
  tacho_version: string;
  /** The traces of an import, as their metadata describe them. */
  traces?: TraceSource[];
  /** By middleware, the transports that its plugin offers. It uses the first one if a workload names none. */
  transports?: Record<string, string[]>;
  /** Events of ROS in an imported trace whose name or layout is not known, by name: no figure has them. */
  unknown_events?: Record<string, number>;
  /** `bench` or `record`. */
  verb: string;
  /** The software that was found: `ros2`, `rcl`, `rmw` ..., and its version. */
  versions: Record<string, string>;
  /** Bytes on the wire in the measured window; only if there are hosts and the user asked for it. */
  wire?: WireCount;
}

/** Scheduler events of the kernel that were recorded, or why they were not. */
export interface SchedulerEvents {
  /** Interrupts and softirqs written; none from context switches. */
  interrupts: number;
  /** Events of the whole machine that the kernel had no room for. */
  lost: number;
  /**
   * `tracepoints` or `context_switch` (no wake-ups, no state except whether it was preempted); absent if none were
   * recorded.
   */
  source?: string;
  /** Context switches written. */
  switches: number;
  /** Wake-ups written. */
  wakeups: number;
  /** Why there are none, and what to do; absent if there are some. */
  why_not?: string;
}

/** Start-up of a process (study C 2), ns of CLOCK_MONOTONIC. */
export interface StartUp {
  /** First message in a callback. */
  first_message_ns?: number;
  /** Entering main. */
  main_ns: number;
  /** When every endpoint had its peers; absent if nobody waited for that. */
  matched_ns?: number;
  /** When all its entities were made. */
  ready_ns: number;
}

/** What the task of a node reports of its quality: whether it did its work well, not only in time. */
export interface TaskQuality {
  /** The figures, in the order of the task. */
  figures: Quality[];
  /** The node. */
  node: string;
  /** Its task. */
  task: string;
}

/** How the kernel scheduled a thread when it was last looked at. */
export interface ThreadScheduling {
  /** CPUs that it may use; empty: all. */
  cpus?: number[];
  /** Process id, as its events have it. */
  pid: number;
  /** Class, with what it is ordered by in it. */
  policy: Policy;
  /** Thread id, as its events have it. */
  tid: number;
}

/** An imported trace. Those of one host and tracer count as one. */
export interface TraceSource {
  /** Boot id of the host, or another name of the clock. */
  boot_id: string;
  /** Host name. */
  host: string;
  /** Wall time minus the trace's clock, ns, from its metadata; absent if that counts from an unknown zero. */
  realtime_offset_ns?: number;
  /** `lttng-ust`, `lttng-modules`; empty if the trace does not name it. */
  tracer: string;
  /** Its version, as far as the trace names it. */
  tracer_version: string;
}

/**
 * What passed the network of a run's hosts in the measured window, each frame once, without what tacho exchanges with
 * boards.
 */
export interface WireCount {
  /** Their bytes, from the destination address on, without the check sequence. */
  bytes: number;
  /** Their bytes. */
  data_bytes: number;
  /**
   * Frames that carry messages of the nodes: UDP that is not RTPS, and RTPS with data of writers that are not built
   * in.
   */
  data_frames: number;
  /** Ethernet frames. */
  frames: number;
  /** Frames that could not be counted. If it is not 0, the other counts are not reliable. */
  missed: number;
}
