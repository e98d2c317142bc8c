// Our figures beside those of a study, for runs that are no sweep: studies D and E.
import type { CallbackFigures, CommonRate, Measure, ObjectiveCurve, Page, PageRun } from "./shapes";
import { ms, significant } from "./format";
import { statements, type Ours } from "./study";

/** The section; absent if no run repeats a study. */
export function studyOfRuns({ runs }: Page): HTMLElement | undefined {
  const first = runs.find((run) => run.study !== null);
  if (first?.study == null) return undefined;
  return statements(
    first.study,
    runs.map(({ info }) => info),
    (measure) => oursOf(runs, measure),
  );
}

/** Our figures of a measure, one line a run; if there are none, the reason. */
export function oursOf(runs: readonly PageRun[], measure: Measure): Ours[] {
  switch (measure.kind) {
    case "callback":
      return lines(
        runs,
        measure.title,
        (run) => callbackFigure(run, measure),
        `no callback of ${measure.node} was measured so`,
      );
    case "chain":
      return lines(runs, measure.title, (run) => chainFigure(run, measure), `chain ${measure.chain} was not measured`);
    case "objective":
      return lines(
        runs,
        measure.title,
        ({ objective }) => (objective === null ? undefined : { text: best(objective) }),
        "tacho tune --method common-rate searches it",
      );
    default:
      return [{ group: "", text: "this is asked of a sweep" }];
  }
}

interface Found {
  text: string;
  value?: number;
}

function lines(runs: readonly PageRun[], title: string, of: (run: PageRun) => Found | undefined, why: string): Ours[] {
  const found = runs.flatMap((run) => {
    const one = of(run);
    return one === undefined ? [] : [{ title, group: runs.length > 1 ? run.label : "", ...one }];
  });
  return found.length > 0 ? found : [{ group: "", text: why }];
}

type Of<K extends Measure["kind"]> = Extract<Measure, { kind: K }>;

function callbackFigure(run: PageRun, { node, figure, unit, scale }: Of<"callback">): Found | undefined {
  const callback = run.summary.callbacks.find((of) => of.node === node && of.kind === "subscription");
  const value = figure === "in_node_clock_ms" ? run.in_node_clock_ms[node] : callback && figureOf(callback, figure);
  return value === undefined ? undefined : { text: `${significant(value * scale)} ${unit}`, value: value * scale };
}

function figureOf(callback: CallbackFigures, figure: string): number | undefined {
  const period = callback.output_period_ms[0]?.[1];
  const mean = callback.duration_us?.mean;
  if (figure === "output_period_ms") return period;
  if (figure === "duration_of_period_percent")
    return period === undefined || mean === undefined ? undefined : mean / period / 10;
  return numberAt(callback, figure);
}

function chainFigure(run: PageRun, { chain, figure, unit }: Of<"chain">): Found | undefined {
  const value = numberAt(
    run.summary.chains.find(({ name }) => name === chain),
    figure,
  );
  return value === undefined ? undefined : { text: `${significant(value)} ${unit}`, value };
}

function numberAt(of: unknown, path: string): number | undefined {
  const found = path
    .split(".")
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined | null)?.[key], of);
  return typeof found === "number" ? found : undefined;
}

/** The best rate, and the checks and cores that it was searched with. */
function best({ best_hz, input }: ObjectiveCurve): string {
  const { usual, others } = checksOf(input);
  const named = others.map(({ name, check_ms }) => `, of ${name} ${ms(check_ms)}`);
  return `${significant(best_hz)} Hz, with checks of ${ms(usual)}${named.join("")} on ${input.cores} cores`;
}

/** The callback check that most nodes have, and the nodes with another one. */
function checksOf({ chain }: CommonRate) {
  const checks = chain.map(({ check_ms }) => check_ms).sort((a, b) => a - b);
  const usual = checks[Math.floor(checks.length / 2)] ?? 0;
  return { usual, others: chain.filter(({ check_ms }) => check_ms !== usual) };
}

/**
 * The published best rate of a search like this one: with the same check of one node, if a node has a check of its own.
 */
export function publishedRate({ study, objective }: PageRun): number | undefined {
  const measure = study?.statements.map((statement) => statement.measure).find(({ kind }) => kind === "objective");
  if (measure?.kind !== "objective" || objective === null) return undefined;
  const { others } = checksOf(objective.input);
  if (others.length > 1) return undefined;
  return measure.published_hz.find(({ one_check_ms }) => one_check_ms === others[0]?.check_ms)?.hz;
}
