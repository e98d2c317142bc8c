//! The part of a run that counts.

use super::Repeat;
use tacho_tables::summary::WindowFigures;

const NS_PER_S: f64 = 1e9;

/// Of several repeats, the one that is longest: a window lies at the same place in each.
pub(crate) fn figures(repeats: &[Repeat<'_>]) -> Option<WindowFigures> {
    let longest = |a: &WindowFigures, b: &WindowFigures| a.run_s.total_cmp(&b.run_s);
    repeats.iter().filter_map(of_one).max_by(longest)
}

fn of_one(Repeat { tables, options, .. }: &Repeat<'_>) -> Option<WindowFigures> {
    let begin = options.begin_ns?;
    // The kernel's events go on when nothing else does.
    let ends = tables.processes.iter().filter(|process| process.pid != 0).map(|process| process.last_ns);
    let end = ends.max()?;
    let since = |ns: i64| ns.saturating_sub(begin) as f64 / NS_PER_S;
    Some(WindowFigures {
        run_s: since(end),
        from_s: options.measured_from_ns.map_or(0.0, since),
        to_s: since(options.measured_to_ns.unwrap_or(end).min(end)),
        start_up_s: options.started_ns.map(since),
    })
}
