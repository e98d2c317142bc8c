// Our figures beside those that a study published: its measures, computed over our points.
import type { Distribution, Measure, SweepPoint } from "../shapes";
import { significant } from "../format";
import type { Ours } from "../study";
import { grouped, matching, numberOf, shown, valueOf, words } from "./model";

/** Our figures of a measure, one line a group; if there are none, the reason. */
export function ours(points: readonly SweepPoint[], measure: Measure): Ours[] {
  switch (measure.kind) {
    case "count":
      return counted(points, measure);
    case "values":
      return values(points, measure);
    case "summary":
      return summaries(points, measure);
    case "ratio":
      return ratios(points, measure);
    default:
      return absent("this is asked of a single run, not of a sweep");
  }
}

type Of<K extends Measure["kind"]> = Extract<Measure, { kind: K }>;

function counted(points: readonly SweepPoint[], { figure, title, below }: Of<"count">): Ours[] {
  const measured = points.flatMap((point) => numberOf(point, figure) ?? []);
  if (measured.length === 0) return absent(`no point has a ${words(figure)}`);
  return [{ title, group: "", text: `${measured.filter((value) => value < below).length} of ${measured.length}` }];
}

function values(points: readonly SweepPoint[], { figure, title, unit, scale, pick, where, by }: Of<"values">): Ours[] {
  const meant = matching(points, where);
  if (meant.length === 0) return absent(`no point with ${conditions(where)}`);
  const lines = grouped(meant, by).flatMap(({ name, points: of }) => {
    const found = of.flatMap((point) => numberOf(point, figure) ?? []).map((value) => value * scale);
    if (found.length === 0) return [];
    const [least, greatest] = [Math.min(...found), Math.max(...found)];
    const range =
      pick === "greatest" || least === greatest
        ? significant(greatest)
        : `${significant(least)} to ${significant(greatest)}`;
    return [{ title, group: name, text: `${range} ${unit}` }];
  });
  return lines.length === 0 ? absent(`no point with ${conditions(where)} has a ${words(figure)}`) : lines;
}

function summaries(points: readonly SweepPoint[], { figure, title, unit, where, by }: Of<"summary">): Ours[] {
  const meant = matching(points, where);
  const lines = grouped(meant, by).flatMap(({ name, points: of }) =>
    of.flatMap((point) => {
      const found = (point.figures as unknown as Record<string, Distribution | undefined> | null)?.[figure];
      if (found === undefined) return [];
      const text = `mean ${significant(found.mean)} ${unit}, worst ${significant(found.max)}, best ${significant(found.min)}, standard deviation ${significant(found.std)}`;
      return [{ title, group: name, text }];
    }),
  );
  return lines.length === 0 ? absent(`no point with ${conditions(where)} was measured`) : lines;
}

function ratios(points: readonly SweepPoint[], { figure, title, of, to, by, each }: Of<"ratio">): Ours[] {
  const key = (point: SweepPoint): string => JSON.stringify(by.map((path) => valueOf(point, path) ?? null));
  const divisors = new Map(matching(points, to).map((point) => [key(point), point]));
  const pairs = matching(points, of).flatMap((point) => {
    const divisor = divisors.get(key(point));
    const [above, below] = [numberOf(point, figure), divisor === undefined ? undefined : numberOf(divisor, figure)];
    return above === undefined || below === undefined || below === 0 ? [] : [{ point, quotient: above / below }];
  });
  if (pairs.length === 0)
    return absent(`no two points, one with ${conditions(of)} and one with ${conditions(to)}, that agree in the rest`);
  const quotients = new Map(pairs.map(({ point, quotient }) => [point, quotient]));
  const groups = grouped(
    pairs.map(({ point }) => point),
    [...each, ...by],
  );
  return groups.map(({ name, points: of }) => {
    const found = of.map((point) => quotients.get(point) as number);
    const [least, greatest] = [Math.min(...found), Math.max(...found)];
    const text = least === greatest ? `${significant(least)}×` : `${significant(least)} to ${significant(greatest)}×`;
    return { title, group: name, text };
  });
}

function absent(why: string): Ours[] {
  return [{ group: "", text: `not in this run: ${why}` }];
}

function conditions(which: Record<string, unknown>): string {
  const said = Object.entries(which).map(([path, condition]) => {
    if (typeof condition === "number" || typeof condition === "string")
      return condition === "greatest" ? `the greatest ${words(path)}` : `${words(path)} ${shown(path, condition)}`;
    const { least, most, not } = condition as { least?: number; most?: number; not?: number | string };
    if (not !== undefined) return `another ${words(path)} than ${not}`;
    return [
      least !== undefined && `${words(path)} from ${shown(path, least)}`,
      most !== undefined && `to ${shown(path, most)}`,
    ]
      .filter((part) => part !== false)
      .join(" ");
  });
  return said.length === 0 ? "any value" : said.join(", ");
}
