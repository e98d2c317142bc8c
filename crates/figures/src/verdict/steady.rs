//! What takes much of the usual instance and should not: no single instance stands out, since all are late.

use super::asked::Asked;
use super::late::{Key, Late};
use super::{advice, ms, overhead, Suspect};
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

/// Those that keep the usual instance waiting, but for those that are suspects already.
pub(super) fn suspects(late: &Late<'_>, known: &[Suspect]) -> Vec<Suspect> {
    let mut by_key: BTreeMap<Key, (f64, &Cause)> = BTreeMap::new();
    for (repeat, cause) in late.usual() {
        if least(late, cause).is_some() {
            let entry = by_key.entry(Key::of(repeat, cause)).or_insert((0.0, cause));
            entry.0 += cause.usual_ns.get().unwrap_or(0) as f64 / 1e6;
            if cause.usual_ns.get() > entry.1.usual_ns.get() {
                entry.1 = cause;
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
        by_key.values().map(|(usual_ms, cause)| (cause.kind, cause.position, *usual_ms)).collect();
    let stands_out = |cause: &Cause, usual_ms: f64| {
        let (part, least_ms, times) = STANDS_OUT;
        let others = on_the_way.iter().filter(|(kind, at, _)| *kind == cause.kind && *at != cause.position);
        let others: Vec<f64> = others.map(|(.., ms)| *ms).collect();
        matches!(cause.kind, CauseKind::Transport | CauseKind::WakeUp)
            && usual_ms >= part * late.median_ms
            && usual_ms >= least_ms
            && !others.is_empty()
            && others.iter().all(|other| usual_ms >= times * other)
    };
    by_key
        .into_iter()
        .filter(|(_, (usual_ms, cause))| {
            let (part, least_ms) = least(late, cause).expect("filtered above");
            *usual_ms >= part * late.median_ms && *usual_ms >= least_ms || stands_out(cause, *usual_ms)
        })
        .map(|(key, (usual_ms, cause))| (culprit(late, &key, usual_ms, cause), usual_ms / late.median_ms))
        .filter(|(culprit, _)| !is_known(culprit))
        .map(|(culprit, weight)| Suspect { culprit, weight })
        .collect()
}

fn least(late: &Late<'_>, cause: &Cause) -> Option<(f64, f64)> {
    use CauseKind::*;
    match cause.kind {
        // What others took is not the callback's fault: the machine's suspect has it.
        OffCpu if late.others.is_some() && !late.slept(cause) => None,
        ExecutorBusy | GroupBusy | InterpreterBusy | UsedAgain => Some(WAITING),
        WakeUp if overhead::of_node(late, late.node(cause.position)).is_some() => Some(WAITING),
        Transport | WakeUp => Some(ON_THE_WAY),
        OffCpu | Blocked => Some(OFF_THE_CPU),
        _ => None,
    }
}

fn culprit(late: &Late<'_>, key: &Key, usual_ms: f64, cause: &Cause) -> Culprit {
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
            let took = advice::Took { wall_ms: usual_ms, asked, is_own_queue, ..advice::Took::default() };
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
