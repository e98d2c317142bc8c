//! Checks what this machine does to the timing of programs, and whether tacho works here: `tacho doctor`.
//!
//! [`Facts::read`] reads the machine once and starts a node process for each plugin. [`findings`] judges the facts and
//! reads nothing, so tests can judge invented machines. What could not be read is `None` in the facts and `unknown` in
//! the findings, never ok.

mod boards;
mod cpu;
mod facts;
mod finding;
mod kernel;
mod load;
mod network;
mod probe;
mod read;
mod realtime;
mod software;
mod storage;
mod text;

pub use facts::*;
pub use finding::{Finding, Verdict};
pub use text::render;

use serde::Serialize;
use tacho_events::run::Machine;

/// What `tacho doctor --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Whether recording and bench have what they need: no needed finding is broken.
    pub usable: bool,
    /// The machine, as every run records it.
    pub machine: Machine,
    /// One finding for each lint, in a fixed order.
    pub findings: Vec<Finding>,
    /// Lints that were not to be shown or counted.
    pub allowed: Vec<String>,
}

/// The user allowed a lint that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("--allow {name}: no such lint; there are: {known}")]
pub struct NoSuchLint {
    name: String,
    known: String,
}

/// Judges the facts; lints that are allowed are left out and do not count.
pub fn diagnose(facts: &Facts, machine: Machine, allowed: &[String]) -> Result<Diagnosis, NoSuchLint> {
    let mut findings = findings(facts);
    if let Some(name) = allowed.iter().find(|name| !findings.iter().any(|finding| finding.name == **name)) {
        let known = findings.iter().map(|finding| finding.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(NoSuchLint { name: name.clone(), known });
    }
    findings.retain(|finding| !allowed.contains(&finding.name));
    let usable = !findings.iter().any(|finding| finding.needed && finding.verdict == Verdict::Broken);
    Ok(Diagnosis { usable, machine, findings, allowed: allowed.to_vec() })
}

/// Every lint on these facts.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    let mut all = software::findings(&facts.software);
    all.extend(kernel::findings(&facts.kernel));
    all.extend(cpu::findings(&facts.cpu));
    all.push(load::finding(facts.load.as_ref()));
    all.extend(realtime::findings(&facts.realtime));
    all.extend(network::findings(&facts.network));
    all.extend(storage::findings(&facts.storage));
    all.extend(boards::findings(&facts.boards));
    all
}

/// Largest message of study A, bytes.
pub(crate) const LARGEST_MESSAGE: u64 = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_machine_of_which_nothing_is_known_nothing_is_ok() {
        for finding in findings(&Facts::default()) {
            assert_ne!(finding.verdict, Verdict::Ok, "{}", finding.name);
        }
    }

    #[test]
    fn names_are_unique_and_every_cost_has_words_and_a_mend() {
        let mut facts = Facts::default();
        facts.cpu.governors = vec!["powersave".into()];
        let all = findings(&facts);
        let mut names: Vec<_> = all.iter().map(|finding| &finding.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all.len());
        for finding in all.iter().filter(|finding| matches!(finding.verdict, Verdict::Costs | Verdict::Broken)) {
            assert!(finding.cost.is_some() && !finding.mend.is_empty(), "{}", finding.name);
        }
    }

    #[test]
    fn only_what_is_needed_and_not_allowed_makes_a_machine_unusable() {
        let mut facts = Facts::default();
        facts.software.installation = Some(Err("no recorder".into()));
        let judged = |allowed: &[String]| diagnose(&facts, Machine::default(), allowed).unwrap();
        assert!(!judged(&[]).usable);
        let allowed = judged(&["recorder".into()]);
        assert!(allowed.usable && allowed.findings.iter().all(|finding| finding.name != "recorder"));
        assert!(diagnose(&facts, Machine::default(), &["recoder".into()])
            .unwrap_err()
            .to_string()
            .contains("recorder"));

        facts.software.installation = None;
        facts.storage.runs = Some(FileSystem { writable: Some(false), ..FileSystem::default() });
        let judged = diagnose(&facts, Machine::default(), &[]).unwrap();
        assert!(judged.usable && judged.findings.iter().any(|finding| finding.verdict == Verdict::Broken));
    }
}
