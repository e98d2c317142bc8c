//! Findings that say what is wrong though no late instance shows it.

use super::callback::Named;
use super::{ms, OfChain, Suspect};
use crate::lints::ON_AVERAGE;
use tacho_tables::own_name;
use tacho_tables::summary::{CallbackFigures, Culprit, Finding, FindingCase};
use tacho_tables::CauseKind;

/// Lints whose cases are faults, with their weight among culprits.
const FAULTS: [(&str, f64); 8] = [
    ("never-received", 0.9),
    ("queue-too-short", 0.1),
    ("lossy-best-effort", 0.1),
    ("callback-exceeds-period", 0.3),
    ("call-blocks-executor", 0.1),
    ("clock-stalls", 0.5),
    (STALLED, 0.4),
    ("node-not-active", 0.1),
];
/// The lint of executors that let messages wait: of a chain, late instances may have shown it.
const STALLED: &str = "stalled-executor";
/// The lint of timers that others delay: of a chain that begins with one, no instance shows it.
const LATE_TIMER: &str = "late-timer";
/// Cases of one lint that are reported.
const CASES: usize = 2;

/// Suspects from findings, but for those that are known of the chain.
pub(super) fn suspects(findings: &[Finding], callbacks: &[CallbackFigures], chain: &OfChain) -> Vec<Suspect> {
    let mut found = Vec::new();
    let known: Vec<&Culprit> = chain.suspects.iter().map(|suspect| &suspect.culprit).collect();
    let cases_of =
        |lint| findings.iter().filter(move |finding| finding.lint == lint).flat_map(|finding| &finding.cases);
    for (lint, weight) in FAULTS {
        let cases = cases_of(lint).filter_map(|case| culprit(lint, case, callbacks));
        let cases = cases.filter(|culprit| !is_known(culprit, &known));
        found.extend(cases.take(CASES).map(|culprit| Suspect { culprit, weight }));
    }
    let first = chain.verdict.path.first();
    let begins_with = |case: &&FindingCase| first.is_some_and(|node| case.subject.starts_with(&format!("{node} ")));
    let delaying = cases_of(LATE_TIMER).filter(begins_with).filter_map(|case| delaying(case, callbacks, chain));
    found.extend(delaying.filter(|suspect| !is_known(&suspect.culprit, &known)).take(CASES));
    found
}

/// The callback that delays a timer, which a chain begins with. It matters by what it delays, beside what the chain's
/// late instances took too long.
fn delaying(case: &FindingCase, callbacks: &[CallbackFigures], chain: &OfChain) -> Option<Suspect> {
    let (by, delay_ms) = (case.by.as_deref()?, case.delay_ms?);
    let (node, topic) = callback_of(by)?;
    let is_it = |callback: &&CallbackFigures| {
        let function = callback.function.as_deref().map(own_name);
        is_of(callback, node, topic, by) && function.is_none_or(|function| by.contains(function))
    };
    let callback = callbacks.iter().find(is_it)?;
    let (_, timer) = case.subject.split_once(" timer ")?;
    let period_ms: f64 = timer.split(' ').next()?.parse().ok()?;
    let times = callback.duration_us.as_ref()?;
    // Now and then it may be the machine; usually, it is the callback.
    if chain.among_others && times.median / 1e3 < period_ms / 2.0 {
        return None;
    }
    let late = case.evidence.split(';').next().unwrap_or_default();
    let named = Named {
        node: callback.node.clone(),
        topic: callback.topic.clone(),
        function: callback.function.clone(),
        location: callback.location.clone(),
        period_ns: None,
    };
    let culprit = Culprit {
        kind: Some(CauseKind::ExecutorBusy),
        lint: Some(LATE_TIMER.into()),
        node: Some(node.into()),
        text: format!(
            "{} of {node} takes up to {} and delays {}: {late}.",
            named.words(by),
            ms(times.max / 1e3),
            case.subject
        ),
        callback: Some(by.into()),
        topic: named.topic,
        function: named.function,
        location: named.location,
        longest_ms: Some(times.max / 1e3),
        next: sentence(&case.next),
        ..Culprit::default()
    };
    Some(Suspect { culprit, weight: delay_ms / (delay_ms + chain.late_ms) })
}

/// Node of a callback by its name, and the topic that it answers to if it is a subscription.
fn callback_of(name: &str) -> Option<(&str, Option<&str>)> {
    let mut names = name.split(' ').filter(|word| word.starts_with('/'));
    Some((names.next()?, names.next()))
}

fn is_known(culprit: &Culprit, known: &[&Culprit]) -> bool {
    known.iter().any(|other| {
        let same = |a: &Option<String>, b: &Option<String>| a.is_some() && a == b;
        let woke_late = other.kind == Some(CauseKind::WakeUp) && culprit.lint.as_deref() == Some(STALLED);
        other.node == culprit.node
            && (woke_late
                || same(&other.topic, &culprit.topic)
                || same(&other.function, &culprit.function)
                || same(&other.callback, &culprit.callback))
    })
}

/// A case as a culprit; `None` where it is no fault for sure.
fn culprit(lint: &str, case: &FindingCase, callbacks: &[CallbackFigures]) -> Option<Culprit> {
    let names: Vec<&str> = case.subject.split(' ').filter(|word| word.starts_with('/')).collect();
    let of_pair = lint == "never-received";
    let (node, topic) = match (of_pair, names.as_slice()) {
        (true, [_, to, topic, ..]) => (to, Some(*topic)),
        (false, [node, rest @ ..]) => (node, rest.first().copied()),
        _ => return None,
    };
    let mut made = Culprit {
        lint: Some(lint.into()),
        node: Some((*node).into()),
        topic: topic.map(str::to_owned),
        text: format!("{lint}: {}: {}.", case.subject, case.evidence),
        next: sentence(&case.next),
        ..Culprit::default()
    };
    if lint == "callback-exceeds-period" {
        let callback = callbacks.iter().find(|callback| is_of(callback, node, topic, &case.subject))?;
        let usual_ms = callback.duration_us.as_ref()?.median / 1e3;
        // Now and then it may be the machine; usually, it is the callback.
        if callback.period_ms.map_or(!case.evidence.starts_with(ON_AVERAGE), |period| usual_ms < period) {
            return None;
        }
        made.callback = Some(case.subject.clone());
        made.longest_ms = callback.duration_us.as_ref().map(|times| times.max / 1e3);
        (made.function, made.location) = (callback.function.clone(), callback.location.clone());
        if let Some(function) = &made.function {
            made.text = format!("{function} of {node} takes longer than it has time for ({lint}): {}.", case.evidence);
        }
    }
    Some(made)
}

/// `Begins with a capital, and ends with a full stop.`
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn is_of(callback: &CallbackFigures, node: &str, topic: Option<&str>, subject: &str) -> bool {
    let period = || callback.period_ms.is_some_and(|ms| subject.contains(&format!("timer {ms} ms")));
    callback.node.as_deref() == Some(node)
        && if topic.is_some() { callback.topic.as_deref() == topic } else { period() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_try_is_a_sentence_that_every_way_out_may_put_a_word_before() {
        let case = FindingCase {
            subject: "/camera to /localiser /image".into(),
            evidence: "288 messages, none taken".into(),
            cost: "all of them".into(),
            next: "compare QoS of both ends".into(),
            ..FindingCase::default()
        };
        let made = culprit("never-received", &case, &[]).expect("a fault");
        assert_eq!(made.next, "Compare QoS of both ends.");
        assert_eq!((made.node.as_deref(), made.topic.as_deref()), (Some("/localiser"), Some("/image")));
    }

    #[test]
    fn an_executor_that_stood_still_is_accused_once() {
        let case = FindingCase { subject: "/relay /count".into(), ..FindingCase::default() };
        let finding = Finding { lint: STALLED.into(), cases: vec![case], ..Finding::default() };
        let mut chain = OfChain::default();
        let nodes = |chain: &OfChain| {
            let found = suspects(std::slice::from_ref(&finding), &[], chain);
            found.into_iter().filter_map(|suspect| suspect.culprit.node).collect::<Vec<_>>()
        };
        assert_eq!(nodes(&chain), ["/relay"]);
        for (node, left) in [("/sink", 1), ("/relay", 0)] {
            let culprit = Culprit { kind: Some(CauseKind::WakeUp), node: Some(node.into()), ..Culprit::default() };
            chain.suspects.push(Suspect { culprit, weight: 1.0 });
            assert_eq!(nodes(&chain).len(), left);
        }
    }
}
