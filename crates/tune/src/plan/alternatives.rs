//! What must be measured before a search can change processes or the transport: the run of the system as it is does not
//! show what these cost.

use super::oracle::SystemFigures;
use super::space::{together, Key};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tacho_workload::Workload;

/// The longest run of an alternative.
const LONGEST: Duration = Duration::from_secs(10);

/// A workload to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// A name for its run.
    pub name: String,
    /// The transport that it tries, and that may refuse the workload; `None`: that of the system as it is.
    pub transport: Option<String>,
    /// The workload.
    pub workload: Workload,
}

/// What a run shows, of the system as it is or of an alternative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The name of the alternative; `as it is`.
    pub name: String,
    /// As measured.
    pub figures: SystemFigures,
}

/// What to measure if these keys may change, on these other transports. `python`: nodes in Python.
pub fn alternatives(workload: &Workload, keys: &[Key], transports: &[String], python: &[String]) -> Vec<Alternative> {
    let joined = keys.contains(&Key::Process).then(|| together(workload, python)).flatten();
    let others = transports.iter().filter(|_| keys.contains(&Key::Transport)).cloned();
    let mut found = Vec::new();
    for transport in std::iter::once(None).chain(others.map(Some)) {
        for (workload, is_joined) in [(Some(workload), false), (joined.as_ref(), true)] {
            let Some(workload) = workload.filter(|_| is_joined || transport.is_some()) else { continue };
            let mut workload = workload.clone();
            workload.run.duration = workload.run.duration.min(LONGEST);
            workload.run.repeats = 1;
            workload.transport = transport.clone().unwrap_or(workload.transport);
            let words = [transport.as_deref(), is_joined.then_some("together")];
            let name = words.into_iter().flatten().collect::<Vec<_>>().join("-");
            found.push(Alternative { name, transport: transport.clone(), workload });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_transport_is_measured_with_nodes_apart_and_together_as_far_as_both_may_change() {
        let text = "nodes: {a: {publishes: {/t: {rate: 10 Hz}}}, b: {subscribes: [/t]}}\n\
                    run: {duration: 60 s, repeats: 3}\n";
        let (workload, _) = tacho_workload::parse(text, "test.yaml").unwrap_or_else(|e| panic!("{e}"));
        let names = |keys: &[Key], python: &[String]| {
            let found = alternatives(&workload, keys, &["shm".into(), "udp".into()], python);
            assert!(found.iter().all(|of| of.workload.run.duration == LONGEST && of.workload.run.repeats == 1));
            assert!(found.iter().all(|of| of.transport.as_deref().unwrap_or("") == of.workload.transport));
            found.into_iter().map(|of| of.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&[Key::Spin, Key::Process], &[]), ["together"]);
        assert_eq!(names(&[Key::Transport], &[]), ["shm", "udp"]);
        let both = [Key::Transport, Key::Process];
        assert_eq!(names(&both, &[]), ["together", "shm", "shm-together", "udp", "udp-together"]);
        assert_eq!(names(&both, &["a".into()]), ["shm", "udp"]);
        assert!(names(&Key::USUAL, &[]).is_empty());
    }
}
