// Small runs for tests.
import type { ChainFigures, Distribution, PageRun, TopicFigures } from "../src/shapes";

export function distribution(...values: number[]): Distribution {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number): number => {
    const rank = part * (sorted.length - 1);
    const [below, above] = [sorted[Math.floor(rank)] as number, sorted[Math.ceil(rank)] as number];
    return below + (above - below) * (rank % 1);
  };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    count: values.length,
    min: at(0),
    q1: at(0.25),
    median: at(0.5),
    q3: at(0.75),
    mean,
    p99: at(0.99),
    max: at(1),
  };
}

export function chain(path: string, critical: boolean, ...times: number[]): ChainFigures {
  return {
    name: path,
    path: path.split(" "),
    critical,
    evidence: "",
    instances: times.length,
    lost: 0,
    links: [],
    worst: [],
    lost_inputs: [],
    ...(times.length > 0 ? { end_to_end_ms: distribution(...times) } : {}),
  };
}

export function topic(name: string, publishers: string[], subscribers: string[]): TopicFigures {
  return { topic: name, publishers, subscribers, sent: 1, received: 1 };
}

export function run(label: string, chains: ChainFigures[], topics: TopicFigures[] = []): PageRun {
  return {
    label,
    directory: label,
    notes: [],
    in_doubt: [],
    chains: [],
    objective: null,
    proof: null,
    compared: null,
    sweep: null,
    study: null,
    in_node_clock_ms: {},
    summary: { points: [], callbacks: [], topics, layers: [], chains, notes: [] },
    info: {
      verb: "bench",
      command: [],
      tacho_version: "",
      started_at: "",
      duration_s: 1,
      versions: {},
      processes: [],
      phases: {},
      missing: [],
      cut_short: false,
      machine: { host: "", cpu: "", cpus: 1, memory_bytes: 1, kernel: "", preemption: "", clocksource: "" },
    },
  };
}
