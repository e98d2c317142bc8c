//! Saves of one ring: whether outputs are tied to inputs as in the save before.

use crate::Error;
use std::collections::BTreeMap;
use std::path::Path;
use tacho_events::RunDirectory;
use tacho_tables::{Link, LinkRule, Note, Tables};

/// Ties that are named.
const NAMED: usize = 5;

/// What a tie is of: node, its input, its output.
type Of<'a> = (&'a str, &'a str, Option<&'a str>);

/// The last save before this one of the same ring. `None` for the first, and for what is no save.
pub(crate) fn before(save: &Path) -> Option<RunDirectory> {
    let save = std::path::absolute(save).ok()?;
    let folder = save.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "saves"))?;
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let own = number(&save)?;
    let all = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let earlier = all.filter(|path| number(path).is_some_and(|number| number < own));
    earlier.max_by_key(|path| number(path)).map(RunDirectory::new)
}

/// A note of the ties that another rule makes in the save before. `None` if there are none.
pub(crate) fn changed_ties(now: &Tables, save_before: &RunDirectory, before: Result<Tables, Error>) -> Option<Note> {
    let place = save_before.path().display();
    let before = match before {
        Ok(before) => before,
        Err(error) => {
            let text = format!("whether {place} ties outputs to inputs by the same rules is not known: {error}");
            return Some(Note { name: "ties-changed".into(), count: 0, text });
        }
    };
    let rules: BTreeMap<Of<'_>, LinkRule> = before.links.iter().map(|link| (of(link, &before), link.rule)).collect();
    let changed: Vec<String> = now.links.iter().filter_map(|link| changed(link, of(link, now), &rules)).collect();
    let (shown, more) = (changed.len().min(NAMED), changed.len().saturating_sub(NAMED));
    let rest = if more == 0 { String::new() } else { format!("; {more} more") };
    let text = format!(
        "other rules than in {place} tie outputs to inputs, so chains through these nodes cannot be compared with \
         that save: {}{rest}; a links file states the rule",
        changed[..shown].join("; ")
    );
    (!changed.is_empty()).then(|| Note { name: "ties-changed".into(), count: changed.len() as u64, text })
}

fn of<'a>(link: &'a Link, tables: &'a Tables) -> Of<'a> {
    (&tables.nodes[link.node].name, &link.input, link.output.as_deref())
}

/// `/planner ties /plan to /points by latest (same callback there)`.
fn changed(link: &Link, of: Of<'_>, rules: &BTreeMap<Of<'_>, LinkRule>) -> Option<String> {
    let before = *rules.get(&of)?;
    let (node, input, output) = of;
    let (now, output) = (link.rule.word(), output.unwrap_or("its output"));
    (before != link.rule).then(|| format!("{node} ties {output} to {input} by {now} ({} there)", before.word()))
}
