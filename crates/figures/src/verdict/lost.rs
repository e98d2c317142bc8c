//! Inputs that never became an output, where somebody is to blame for it.

use super::holder::Holder;
use super::lacking::{interval_of_topic_ms, Lacks};
use super::late::Late;
use super::{advice, count, ms, Suspect};
use crate::figures::Repeat;
use tacho_tables::row::{numbered, Row};
use tacho_tables::summary::{ChainFigures, Culprit, LostInputs};
use tacho_tables::{Callback, Cause, CauseKind, EndpointKind};

/// Part of all inputs, and how many, from which on their loss is reported.
const LOST: (f64, u64) = (0.01, 2);
/// Before two nodes know each other messages always go missing.
const UNMATCHED: f64 = 0.1;
/// A queue of less keeps no burst.
const SHORT: u64 = 5;

/// Those that lost inputs.
pub(super) fn suspects(
    repeats: &[Repeat<'_>],
    late: &Late<'_>,
    chain: &ChainFigures,
    known: &[Suspect],
) -> Vec<Suspect> {
    let all = chain.instances + chain.lost_inputs.iter().map(|lost| lost.inputs).sum::<u64>();
    chain.lost_inputs.iter().filter_map(|lost| suspect((repeats, late, chain), known, lost, all)).collect()
}

fn suspect(
    (repeats, late, chain): (&[Repeat<'_>], &Late<'_>, &ChainFigures),
    known: &[Suspect],
    lost: &LostInputs,
    all: u64,
) -> Option<Suspect> {
    use CauseKind::{Ended, Lost, NotActive, Overwritten, Unmatched};
    let part = lost.inputs as f64 / all.max(1) as f64;
    let least = match lost.kind {
        Overwritten | Lost | NotActive | Ended => LOST.0,
        Unmatched => UNMATCHED,
        _ => return None,
    };
    if part < least || lost.inputs < LOST.1 {
        return None;
    }
    let node = &lost.node;
    let place = chain.path.iter().position(|name| name == node);
    let topic = place.and_then(|place| chain.path.get(place.checked_sub(1)?)).cloned();
    let on = topic.clone().unwrap_or_default();
    let of = format!("{} of {on}, {:.0} % of all", count(lost.inputs, "input", "inputs"), 100.0 * part);
    let depth: Option<u64> = lost.by.split(' ').find_map(|word| word.parse().ok());
    // A queue of some depth overflows because a callback of its node does not take from it.
    let is_publisher_s = lost.by.starts_with("publisher's ");
    let may_be_held = lost.kind == Overwritten && !is_publisher_s && depth.is_some_and(|depth| depth >= SHORT);
    let holder = may_be_held.then(|| Holder::of(repeats, node, &on)).flatten();
    let lacks =
        (lost.kind == Overwritten && !is_publisher_s).then(|| lacks(repeats, holder.as_ref(), node, &on, depth));
    let lacks = lacks.flatten();
    let (text, next) = match lost.kind {
        Overwritten if is_publisher_s => (
            format!("The {} overwrote {of}, before they were sent to {node}.", lost.by),
            format!("A greater depth for {on} at its publisher, or a publisher that sends less at once."),
        ),
        Overwritten => {
            let depth = depth.map_or(String::new(), |depth| format!("; it keeps {depth}"));
            let text = format!("The queue of {node} overwrote {of}, before {node} took them{depth}");
            let sooner = format!("A greater depth for {on} at {node}, or callbacks of {node} that take it sooner.");
            match (&lacks, &holder) {
                (Some(Lacks { named, name, lacking, by }), _) => {
                    let who = named.words(name);
                    let others = late.others.as_ref().filter(|_| by.is_none());
                    let others = others.map_or(String::new(), |others| format!(" ({others})"));
                    let by = by.as_deref().unwrap_or(Cause::BY_UNKNOWN);
                    let next = advice::of_kind(late, CauseKind::Preemption, by, node);
                    (format!("{text}: {who} could run and has no CPU for {}{others}.", lacking.words()), next)
                }
                (None, Some(Holder { named, name, longest_ms, .. })) => {
                    let busy = format!(" (executor busy with {}, up to {})", named.words(name), ms(*longest_ms));
                    let is_own_queue = named.topic.as_ref() == Some(&on);
                    let took = advice::Took { wall_ms: *longest_ms, is_own_queue, ..advice::Took::default() };
                    let next = advice::of_callback(late, CauseKind::ExecutorBusy, (named, name), &took);
                    (format!("{text}{busy}."), next)
                }
                (None, None) => (format!("{text}."), sooner),
            }
        }
        Unmatched => (
            format!("{of} were sent before {node} was matched with its publisher: it came late."),
            format!("Start {node} before the publisher of {on}, or see what its start waits for."),
        ),
        Ended => (
            format!("{node} was killed or died: {of} were sent after its last event (it ended early)."),
            format!("See how the process of {node} ended (exit state, out of memory), and have it started again."),
        ),
        NotActive => (
            format!("{of} came while {} was not active.", lost.by),
            format!("Activate {node} before its inputs come (ros2 lifecycle set {node} activate)."),
        ),
        _ => (
            format!("{of} were lost on the way to {node}."),
            match is_reliable(repeats, node, &on) {
                true => format!(
                    "Both ends are reliable: a greater depth for {on} at its publisher, which sends again what it \
                     keeps, and see if the network was away for longer."
                ),
                false => {
                    format!("Reliable QoS for {on}, larger socket buffers (net.core.rmem_max), or smaller messages.")
                }
            },
        ),
    };
    let is_held = may_be_held
        && known.iter().any(|suspect| match &holder {
            Some(holder) => suspect.culprit.callback.as_ref() == Some(&holder.name),
            None => suspect.culprit.node.as_ref() == Some(node),
        });
    let least_known = known.iter().map(|suspect| suspect.weight).fold(f64::INFINITY, f64::min);
    let blamed = holder.as_ref().filter(|_| lacks.is_none());
    let culprit = Culprit {
        kind: Some(lost.kind),
        node: Some(node.clone()),
        topic,
        share_percent: Some(100.0 * part),
        instances: lost.inputs,
        text,
        next,
        callback: blamed.map(|holder| holder.name.clone()),
        function: blamed.and_then(|holder| holder.named.function.clone()),
        location: blamed.and_then(|holder| holder.named.location.clone()),
        ..Culprit::default()
    };
    Some(Suspect { culprit, weight: if is_held { part.min(0.9 * least_known) } else { part } })
}

/// The callback that kept a queue from being emptied for want of a CPU: the one that held it, which may take as long as
/// the queue keeps messages for, else the one that takes from it, which may take as long as until the next message.
fn lacks(
    repeats: &[Repeat<'_>],
    holder: Option<&Holder<'_>>,
    node: &String,
    topic: &String,
    depth: Option<u64>,
) -> Option<Lacks> {
    let Some(Holder { repeat, callback, named, during, .. }) = holder else {
        return repeats.iter().find_map(|repeat| {
            let tables = repeat.tables;
            let is_own = |callback: &Callback| {
                let of = callback.node.map(|of| &tables.nodes[of].name);
                of == Some(node) && callback.topic.as_ref() == Some(topic)
            };
            let own: Vec<Row<Callback>> =
                numbered(&tables.callbacks).filter(|(_, callback)| is_own(callback)).map(|(row, _)| row).collect();
            Lacks::of(repeat, *own.first()?, interval_of_topic_ms(repeat, topic)?, |_, execution| {
                own.contains(&execution.callback) && repeat.options.judges(execution.start_ns)
            })
        });
    };
    let kept = if named.topic.as_ref() == Some(topic) { 1 } else { depth? };
    let most_ms = kept as f64 * interval_of_topic_ms(repeat, topic)?;
    Lacks::of(repeat, *callback, most_ms, |row, _| during.contains(&row))
}

/// Whether a node's subscription of a topic and all publishers of it are known to be reliable.
fn is_reliable(repeats: &[Repeat<'_>], node: &str, topic: &str) -> bool {
    let of_topic = repeats.iter().flat_map(|repeat| {
        let ends = repeat.tables.endpoints.iter().filter(|end| end.topic == topic);
        ends.filter(|end| end.kind == EndpointKind::Publisher || repeat.tables.nodes[end.node].name == node)
    });
    let mut reliable = of_topic.map(|end| end.reliable).peekable();
    reliable.peek().is_some() && reliable.all(|reliable| reliable == Some(true))
}
