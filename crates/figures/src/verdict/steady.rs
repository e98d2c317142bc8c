//! What takes much of the usual instance and should not: no single instance stands out, since all are late.

use super::asked::Asked;
use super::late::{Key, Late};
use super::{advice, ms, overhead, Suspect};
use crate::figures::Repeat;
use std::collections::BTreeMap;
use tacho_tables::summary::Culprit;
use tacho_tables::{Cause, CauseKind};

/// Part of the usual end-to-end time from which waiting is reported, and ms. So is waking up if the executor computes
/// far more than its callbacks.
const WAITING: (f64, f64) = (0.3, 2.0);
/// The same of time off the CPU inside callbacks.
const OFF_THE_CPU: (f64, f64) = (0.15, 2.0);
/// The same of transport and of waking up, which every chain has.
const ON_THE_WAY: (f64, f64) = (0.3, 10.0);
/// The same if it is so many times as much as at any other node of the chain.
const STANDS_OUT: (f64, f64, f64) = (0.1, 3.0, 5.0);

/// What one does in the usual instance.
struct Usual<'a> {
    ms: f64,
    /// Of its parts the one that takes most, with its repeat.
    repeat: &'a Repeat<'a>,
    cause: &'a Cause,
    /// What it has to take to be reported.
    least: (f64, f64),
}

/// Those that keep the usual instance waiting, but for those that are suspects already.
pub(super) fn suspects(late: &Late<'_>, known: &[Suspect]) -> Vec<Suspect> {
    let mut by_key: BTreeMap<Key, Usual<'_>> = BTreeMap::new();
    for (repeat, cause) in late.usual() {
        if let Some(least) = least(late, repeat, cause) {
            let usual = by_key.entry(Key::of(repeat, cause)).or_insert(Usual { ms: 0.0, repeat, cause, least });
            usual.ms += cause.usual_ns.get().unwrap_or(0) as f64 / 1e6;
            if cause.usual_ns.get() > usual.cause.usual_ns.get() {
                *usual = Usual { ms: usual.ms, repeat, cause, least };
            }
        }
    }
    let is_known = |made: &Culprit| {
        known.iter().any(|suspect| {
            let of = &suspect.culprit;
            (of.node.as_ref(), &of.callback, &of.topic) == (made.node.as_ref(), &made.callback, &made.topic)
        })
    };
    let on_the_way: Vec<(CauseKind, u32, f64)> =
        by_key.values().map(|usual| (usual.cause.kind, usual.cause.position, usual.ms)).collect();
    let stands_out = |usual: &Usual<'_>| {
        let (part, least_ms, times) = STANDS_OUT;
        let (kind, position) = (usual.cause.kind, usual.cause.position);
        let others = on_the_way.iter().filter(|(other, at, _)| *other == kind && *at != position);
        let others: Vec<f64> = others.map(|(.., ms)| *ms).collect();
        matches!(kind, CauseKind::Transport | CauseKind::WakeUp)
            && usual.ms >= part * late.median_ms
            && usual.ms >= least_ms
            && !others.is_empty()
            && others.iter().all(|other| usual.ms >= times * other)
    };
    let takes_much = |usual: &Usual<'_>| {
        let (part, least_ms) = usual.least;
        usual.ms >= part * late.median_ms && usual.ms >= least_ms
    };
    by_key
        .into_iter()
        .filter(|(_, usual)| takes_much(usual) || stands_out(usual))
        .map(|(key, usual)| Suspect { culprit: culprit(late, &key, &usual), weight: usual.ms / late.median_ms })
        .filter(|suspect| !is_known(&suspect.culprit))
        .collect()
}

fn least(late: &Late<'_>, repeat: &Repeat<'_>, cause: &Cause) -> Option<(f64, f64)> {
    use CauseKind::*;
    match cause.kind {
        // What others took is not the callback's fault: the machine's suspect has it.
        OffCpu if late.others.is_some() && !late.slept(repeat, cause) => None,
        ExecutorBusy | GroupBusy | InterpreterBusy | UsedAgain => Some(WAITING),
        WakeUp if overhead::of_node(late, late.node(cause.position)).is_some() => Some(WAITING),
        Transport | WakeUp => Some(ON_THE_WAY),
        OffCpu | Blocked => Some(OFF_THE_CPU),
        _ => None,
    }
}

fn culprit(late: &Late<'_>, key: &Key, usual: &Usual<'_>) -> Culprit {
    let Usual { ms: usual_ms, repeat, cause, .. } = *usual;
    let node = late.node(cause.position).to_owned();
    let share = 100.0 * usual_ms / late.median_ms.max(1e-9);
    let of = format!("{share:.0} % of the usual {}", ms(late.median_ms));
    let mut made = Culprit {
        kind: Some(cause.kind),
        node: Some(node.clone()),
        share_percent: Some(share.min(100.0)),
        longest_ms: Some(usual_ms),
        worst_without_ms: Some((late.worst_ms - usual_ms).max(0.0)),
        ..Culprit::default()
    };
    match key {
        Key::Callback(named, name) => {
            let at = named.node.clone().unwrap_or_else(|| node.clone());
            let is_own_queue = cause.kind.is_busy() && late.is_its_own_queue(named, cause.position);
            let (usually, words) = (ms(usual_ms), named.words(name));
            let asked = Asked::of(late, &late.executions(key));
            let off = asked.as_ref().map_or(String::new(), |asked| format!(" ({})", asked.words()));
            made.text = match is_own_queue {
                true => format!("Messages usually wait {usually} at {at} for earlier calls of {words}{off}, {of}."),
                false => {
                    let whose = if at == node { String::new() } else { format!(" of {at}") };
                    format!(
                        "Outputs usually wait {usually} at {node}: {} {words}{whose}{off}, {of}.",
                        cause.kind.words()
                    )
                }
            };
            let runnable_ms = late.most_runnable_ns(repeat, cause).map(|ns| ns as f64 / 1e6);
            let took = advice::Took { wall_ms: usual_ms, runnable_ms, asked, is_own_queue, ..advice::Took::default() };
            made.next = advice::of_callback(late, cause.kind, (named, name), &took);
            made.node = Some(at);
            made.callback = Some(name.to_string());
            (made.function, made.location, made.topic) =
                (named.function.clone(), named.location.clone(), named.topic.clone());
        }
        Key::Threads(_) => {
            let names = &cause.by;
            made.text = format!("Outputs usually wait {} at {node}: executor busy with {names}, {of}.", ms(usual_ms));
            made.next = advice::more_threads(&node);
            made.callback = Some(names.to_string());
        }
        Key::Other(kind, by, _) => {
            made.text = format!("Outputs usually spend {} at {node}: {} {by}, {of}.", ms(usual_ms), kind.words());
            let of_executor = overhead::advice(late, &node).filter(|_| *kind == CauseKind::WakeUp);
            made.next = of_executor.unwrap_or_else(|| advice::of_kind(late, *kind, by, &node));
            let is_topic = matches!(kind, CauseKind::Transport | CauseKind::UsedAgain);
            made.topic = is_topic.then(|| by.split(' ').next().unwrap_or(by).to_owned());
        }
    }
    made
}
