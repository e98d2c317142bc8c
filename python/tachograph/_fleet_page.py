"""The page over a fleet: one HTML file without scripts, readable offline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from .errors import TachographError

if TYPE_CHECKING:
    from .fleet import Fleet

#: Chains that the page shows, those with the longest end-to-end times.
MOST_CHAINS = 12
#: Runs and causes that each list shows.
MOST_ROWS = 10

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b }
.wide { overflow-x: auto }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem }
caption { text-align: left; font-weight: 600; padding: 0.3rem 0 }
th, td { text-align: left; padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid #ddd; vertical-align: top }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
.bar { display: inline-block; height: 0.7rem; background: #2b6cb0 }
.worse { color: #9b1c1c } .better { color: #1d6b32 }
@media (max-width: 40rem) { body { font-size: 14px } }
"""


def page(fleet: Fleet, by: str) -> str:
    """The page, with the runs grouped by this column of table `runs`, such as `version`."""
    groups = _groups(fleet, by)
    chains = _chains(fleet)
    said = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{escape(fleet.folder.name)}: a fleet</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(fleet.folder.name)}</h1>",
        f"<p>{len(fleet.run_ids)} runs, by {escape(by)}: "
        + escape(", ".join(f"{group or 'none'} ({runs})" for group, runs in groups))
        + f". {len(fleet.failed)} could not be read.</p>",
        "<h2>What changed</h2>",
        _changes(fleet, by, [group for group, _ in groups if group is not None]),
        f"<h2>Chains by {escape(by)}</h2>",
        *(_chain(fleet, by, chain) for chain in chains),
        "<h2>The cause that moved</h2>",
        _causes(fleet, by, [group for group, _ in groups if group is not None]),
        "<h2>Worst runs</h2>",
        *(_worst(fleet, by, chain) for chain in chains),
    ]
    if fleet.failed:
        said += ["<h2>Runs that could not be read</h2>", _table("", ["path", "reason"], fleet.failed.items())]
    return "\n".join([*said, "</body></html>\n"])


def _groups(fleet: Fleet, by: str) -> list[tuple[str | None, int]]:
    """The groups in the order in which the first run of each began, with their number of runs."""
    found = fleet.sql(
        f"SELECT {_name(by)} AS g, count(*) AS n FROM runs GROUP BY g ORDER BY min(started_at) NULLS LAST, g NULLS LAST"
    )
    return [(row["g"], row["n"]) for row in found.to_pylist()]


def _chains(fleet: Fleet) -> list[str]:
    found = fleet.sql(
        "SELECT name FROM chains WHERE end_to_end_ms_max IS NOT NULL GROUP BY name "
        "ORDER BY max(end_to_end_ms_max) DESC, name LIMIT ?",
        [MOST_CHAINS],
    )
    return [str(name) for name in found.column("name").to_pylist()]


def _changes(fleet: Fleet, by: str, groups: Sequence[str]) -> str:
    """The figures that are worse or better in each group than in the one before."""
    rows = []
    for before, after in zip(groups, groups[1:]):
        sides = [f"{_name(by)} = '{group.replace(chr(39), chr(39) * 2)}'" for group in (before, after)]
        try:
            found = fleet.compare(*sides)
        except TachographError as error:
            rows.append([f"{before} to {after}", f"not compared: {error}", ""])
            continue
        for verdict in ("worse", "better"):
            for figure in (of for of in found.found["figures"] if of["verdict"] == verdict):
                subject = " ".join(str(part) for part in figure["subject"].values() if part)
                change = figure["change_percent"]
                amount = f"{'+' if figure['shift'] > 0 else ''}{_number(figure['shift'])} {figure['unit']}" + (
                    f" ({change:+.1f} %)" if change is not None else ""
                )
                rows.append([f"{before} to {after}", f"{subject} {figure['figure']}: {verdict}", amount])
    if len(groups) < 2:
        return "<p>There is one group only, so nothing is compared.</p>"
    if not rows:
        return "<p>No figure is worse or better in a group than in the one before it.</p>"
    return _table("Each group against the one before it, by tacho compare", ["groups", "figure", "change"], rows)


def _chain(fleet: Fleet, by: str, chain: str) -> str:
    """The quantiles of a chain over all instances of each group."""
    columns: dict[Any, list[Any]] = {}
    for q in (0.5, 0.99, 1):
        for row in fleet.quantile("end_to_end_ms", q, by=by, name=chain).to_pylist():
            columns.setdefault(row[by], [row["count"]]).append(row[f"end_to_end_ms_q{q * 100:g}"])
    longest = max((values[2] for values in columns.values()), default=0) or 1
    rows = [
        [
            group if group is not None else "none",
            count,
            _number(median),
            _number(p99),
            _number(worst),
            _Bar(p99 / longest),
        ]
        for group, (count, median, p99, worst) in columns.items()
    ]
    heads = [by, "instances", "median, ms", "p99, ms", "worst, ms", "p99"]
    return _table(f"{chain}: end to end, within 1 %", heads, rows)


def _causes(fleet: Fleet, by: str, groups: Sequence[str]) -> str:
    """How long late instances spent on each cause a run, and by how much that moved from the last but one group."""
    if not groups:
        return "<p>The runs have no groups.</p>"
    found = fleet.sql(
        f"""WITH spent AS (
                SELECT c.chain, c.kind, c.by AS what, r.{_name(by)} AS g, sum(c.duration_ms) AS ms
                FROM causes c JOIN runs r USING (run_id) WHERE c.of = 'instance' GROUP BY ALL
            ), size AS (SELECT {_name(by)} AS g, count(*) AS n FROM runs GROUP BY g)
            SELECT chain, kind, what,
                coalesce(sum(ms / n) FILTER (spent.g = $before), 0) AS before_ms,
                coalesce(sum(ms / n) FILTER (spent.g = $after), 0) AS after_ms
            FROM spent JOIN size ON spent.g = size.g
            GROUP BY ALL HAVING before_ms + after_ms > 0
            ORDER BY abs(after_ms - before_ms) DESC, chain, kind, what LIMIT {MOST_ROWS}
        """.replace("$before", "?1").replace("$after", "?2"),
        [groups[-2] if len(groups) > 1 else groups[-1], groups[-1]],
    )
    rows = [
        [row["chain"], row["kind"], row["what"], _number(row["before_ms"]), _number(row["after_ms"])]
        for row in found.to_pylist()
    ]
    before = groups[-2] if len(groups) > 1 else groups[-1]
    heads = ["chain", "cause", "by", f"ms a run, {before}", f"ms a run, {groups[-1]}"]
    return _table("Time of late instances by cause; what moved most comes first", heads, rows)


def _worst(fleet: Fleet, by: str, chain: str) -> str:
    rows = [
        [row["run_id"], row[by], _number(row["end_to_end_ms_max"]), row["verdict"], row["culprit"], row["path"]]
        for row in fleet.worst(chain, n=MOST_ROWS).to_pylist()
    ]
    return _table(f"{chain}: longest end-to-end times", ["run", by, "ms", "verdict", "blamed first", "path"], rows)


class _Bar(float):
    """A part of the longest, drawn."""


class _Number(str):
    """A number, aligned to the right."""


def _number(value: float | None) -> _Number:
    return _Number("" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}")


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="wide"><table>{named}<tr>{head}</tr>\n' + "\n".join(lines) + "</table></div>"


def _cell(value: Any) -> str:
    if isinstance(value, _Bar):
        return f'<td><span class="bar" style="width: {max(min(value, 1), 0) * 8:.2f}rem"></span></td>'
    if isinstance(value, (int, _Number)):
        return f'<td class="number">{escape(str(value))}</td>'
    return f"<td>{'' if value is None else escape(str(value))}</td>"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
