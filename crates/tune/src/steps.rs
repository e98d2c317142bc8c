//! What to change on a system that was recorded: the verdict's culprits and the findings as steps.
//!
//! Nothing is changed or tried here. A gain stands only with what the verdict estimated one for.

use serde::{Deserialize, Serialize};
use tacho_tables::summary::{Culprit, FindingCase, Summary};
use tacho_tables::CauseKind;

/// Cases of one finding that become steps.
const CASES: usize = 3;
/// Callbacks that are named as those to mind.
const MINDED: usize = 6;

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lever {
    /// Which callbacks wait for each other.
    CallbackGroup,
    /// What a callback does.
    Callback,
    /// Messages that a queue holds.
    Depth,
    /// QoS, transport, size of messages.
    Qos,
    /// When a timer is due, or how often.
    Phase,
    /// How an executor waits.
    Executor,
    /// CPUs and priorities.
    Cpu,
    /// What starts, and when.
    Start,
}

impl Lever {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Lever::CallbackGroup => "callback group, thread or process",
            Lever::Callback => "callback",
            Lever::Depth => "queue depth",
            Lever::Qos => "QoS or transport",
            Lever::Phase => "timer phase or rate",
            Lever::Executor => "executor",
            Lever::Cpu => "CPU",
            Lever::Start => "start-up",
        }
    }
}

/// One change, why, and what it would bring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What is changed.
    pub lever: Lever,
    /// The node that it concerns.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<String>,
    /// What to do, in a sentence.
    pub change: String,
    /// What speaks for it.
    pub evidence: String,
    /// The lint that found it; absent: the verdict.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lint: Option<String>,
    /// What it costs today, in words; absent where a gain is estimated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<String>,
    /// Worst end-to-end time of the verdict's chain, as it is and without this: an estimate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_ms: Option<(f64, f64)>,
    /// Late cases of that chain, as they are and without this: an estimate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late: Option<(u64, u64)>,
    /// Other callbacks of the node, which would run beside this one: what they share needs a lock.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub minds: Vec<String>,
}

/// The steps of a run: culprits of the verdict in its order, then cases of findings that none of these covers.
pub fn steps(summary: &Summary) -> Vec<Step> {
    let verdict = summary.verdict.as_ref();
    let culprits = verdict.map_or(&[][..], |verdict| &verdict.culprits);
    let mut found: Vec<Step> = culprits
        .iter()
        .filter_map(|culprit| {
            let worst = verdict.and_then(|verdict| verdict.worst_ms).zip(culprit.worst_without_ms);
            let late = verdict.map(|verdict| verdict.late_cases).zip(culprit.late_without);
            of_culprit(summary, culprit, worst.filter(|(with, without)| without < with), late)
        })
        .collect();
    for finding in summary.findings.iter().flatten() {
        let Some(lever) = of_lint(&finding.lint) else { continue };
        let known = |case: &FindingCase| {
            culprits.iter().any(|culprit| covers(culprit, &finding.lint, case))
                || found.iter().any(|step| step.change == sentence(&case.next) && step.node.as_deref() == node(case))
        };
        let cases: Vec<Step> = finding
            .cases
            .iter()
            .take(CASES)
            .filter(|case| !known(case))
            .map(|case| Step {
                lever,
                node: node(case).map(str::to_owned),
                change: sentence(&case.next),
                evidence: format!("{}: {}.", case.subject, case.evidence),
                lint: Some(finding.lint.clone()),
                cost: Some(case.cost.clone()),
                worst_ms: None,
                late: None,
                minds: Vec::new(),
            })
            .collect();
        found.extend(cases);
    }
    found
}

fn of_culprit(
    summary: &Summary,
    culprit: &Culprit,
    worst: Option<(f64, f64)>,
    late: Option<(u64, u64)>,
) -> Option<Step> {
    let lever = match (culprit.kind, culprit.lint.as_deref()) {
        (Some(kind), _) => of_kind(kind),
        (None, lint) => of_lint(lint?)?,
    };
    let apart = culprit.kind.is_some_and(CauseKind::is_busy) && culprit.function.is_some();
    Some(Step {
        lever,
        node: culprit.node.clone(),
        change: sentence(culprit.next.strip_prefix("Try: ").unwrap_or(&culprit.next)),
        evidence: culprit.text.clone(),
        lint: culprit.lint.clone(),
        cost: None,
        worst_ms: worst,
        late: worst.and(late),
        minds: if apart { beside(summary, culprit) } else { Vec::new() },
    })
}

/// Functions of the other callbacks of its node.
fn beside(summary: &Summary, culprit: &Culprit) -> Vec<String> {
    let of_node = summary.callbacks.iter().filter(|callback| callback.node == culprit.node);
    let mut names: Vec<String> = of_node
        .filter(|callback| callback.function != culprit.function || callback.location != culprit.location)
        .filter_map(|callback| callback.function.clone())
        .collect();
    names.sort();
    names.dedup();
    names.truncate(MINDED);
    names
}

/// Whether a culprit stands for this case.
fn covers(culprit: &Culprit, lint: &str, case: &FindingCase) -> bool {
    let names =
        |name: &Option<String>| name.as_ref().is_some_and(|name| case.subject.split(' ').any(|word| word == name));
    let of_it = names(&culprit.function)
        || names(&culprit.topic) && culprit.function.is_none()
        || culprit.callback.as_ref() == Some(&case.subject);
    culprit.lint.as_deref() == Some(lint) && names(&culprit.node) || names(&culprit.node) && of_it
}

fn node(case: &FindingCase) -> Option<&str> {
    case.subject.split(' ').next().filter(|word| word.starts_with('/'))
}

fn of_kind(kind: CauseKind) -> Lever {
    use CauseKind::*;
    match kind {
        ExecutorBusy | GroupBusy | InterpreterBusy => Lever::CallbackGroup,
        Overwritten => Lever::Depth,
        Transport | Lost => Lever::Qos,
        UsedAgain | NotDue | Kept => Lever::Phase,
        WakeUp | TickLate => Lever::Executor,
        Preemption | NoCpu | Interrupt => Lever::Cpu,
        Unmatched | Ended | NotActive => Lever::Start,
        _ => Lever::Callback,
    }
}

/// `None` for lints that doubt or that only count what others explain.
fn of_lint(lint: &str) -> Option<Lever> {
    Some(match lint {
        "starved-callback" | "late-timer" | "single-threaded-bottleneck" => Lever::CallbackGroup,
        "queue-too-short" => Lever::Depth,
        "never-received" | "lossy-best-effort" | "large-message-over-udp" | "filter-drops" => Lever::Qos,
        "timers-in-step" | "timer-drift" | "stale-input" => Lever::Phase,
        "spinning-executor" => Lever::Executor,
        "preempted-callback" => Lever::Cpu,
        "node-not-active" => Lever::Start,
        "callback-exceeds-period" | "call-blocks-executor" | "callback-off-cpu" | "publisher-behind" => Lever::Callback,
        _ => return None,
    })
}

/// Begins with a capital, unless that is a name, and ends with a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let begin = letters.next().map_or(String::new(), |first| first.to_uppercase().collect());
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{begin}{}{end}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::summary::{CallbackFigures, Finding, Verdict};

    fn case(subject: &str, next: &str) -> FindingCase {
        FindingCase {
            subject: subject.into(),
            evidence: "12 of 60".into(),
            cost: "70 ms each".into(),
            next: next.into(),
            ..FindingCase::default()
        }
    }

    fn finding(lint: &str, cases: Vec<FindingCase>) -> Finding {
        Finding { lint: lint.into(), finds: String::new(), count: cases.len() as u64, cases }
    }

    fn recorded() -> Summary {
        let culprit = Culprit {
            kind: Some(CauseKind::ExecutorBusy),
            node: Some("/planner".into()),
            function: Some("Planner.reload_map".into()),
            text: "reload_map took 120 ms.".into(),
            next: "Give reload_map a callback group of its own.".into(),
            worst_without_ms: Some(57.0),
            late_without: Some(1),
            ..Culprit::default()
        };
        let callback = |function: &str, node: &str| CallbackFigures {
            node: Some(node.into()),
            function: Some(function.into()),
            ..CallbackFigures::default()
        };
        Summary {
            verdict: Some(Verdict {
                worst_ms: Some(172.0),
                late_cases: 5,
                culprits: vec![culprit],
                ..Verdict::default()
            }),
            callbacks: vec![
                callback("Planner.reload_map", "/planner"),
                callback("Planner.plan", "/planner"),
                callback("Control.on_plan", "/control"),
            ],
            findings: Some(vec![
                finding("uncertain-link", vec![case("/fusion", "a links file")]),
                finding("late-timer", vec![case("/planner timer 3000 ms Planner.reload_map", "less work in it")]),
                finding("queue-too-short", vec![case("/planner /points", "a history depth of 4")]),
                finding("timers-in-step", vec![case("/control timer 10 ms", "a phase: 3 ms after the other")]),
            ]),
            ..Summary::default()
        }
    }

    #[test]
    fn culprits_come_first_with_their_gain_and_what_they_share_then_findings_that_they_do_not_cover() {
        let found = steps(&recorded());
        let levers: Vec<Lever> = found.iter().map(|step| step.lever).collect();
        assert_eq!(levers, [Lever::CallbackGroup, Lever::Depth, Lever::Phase]);
        assert_eq!((found[0].worst_ms, found[0].late), (Some((172.0, 57.0)), Some((5, 1))));
        assert_eq!(found[0].minds, ["Planner.plan"], "not the callbacks of other nodes");
        assert_eq!((found[1].node.as_deref(), found[1].change.as_str()), (Some("/planner"), "A history depth of 4."));
        assert_eq!((found[1].worst_ms, found[1].cost.as_deref()), (None, Some("70 ms each")));
    }

    #[test]
    fn what_would_bring_nothing_has_no_gain_and_a_healthy_run_has_no_steps() {
        let mut summary = recorded();
        summary.verdict.as_mut().unwrap().culprits[0].worst_without_ms = Some(172.0);
        assert_eq!((steps(&summary)[0].worst_ms, steps(&summary)[0].late), (None, None));
        assert_eq!(steps(&Summary::default()), []);
    }
}
