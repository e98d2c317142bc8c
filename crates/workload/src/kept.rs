//! Reads workloads that were checked before they ran.

use crate::diagnostic::{Errors, Report};
use crate::document::{self, Yaml};
use crate::model::Workload;
use crate::read;
use crate::short::Overrides;
use crate::sweep::{self, entry};

/// Reads the workload in a run directory. It does not check again what [`crate::write`] wrote, so that a run stays
/// readable whatever later versions refuse. It reads a file of another form, such as an edited one, as [`crate::parse`]
/// does.
///
/// Errors are those of [`crate::parse`]: not YAML, a sweep, or unreadable values.
pub fn kept(text: &str, file: &str) -> Result<Workload, Errors> {
    match document::parse(text).ok().flatten().and_then(|root| as_written(&root, text, file)) {
        Some(workload) => Ok(workload),
        None => sweep::single(text, file, &Overrides::default()).map(|(workload, _)| workload),
    }
}

/// `None`: not the form in which tacho writes a single workload.
fn as_written(root: &Yaml, text: &str, file: &str) -> Option<Workload> {
    if ["sweep", "short"].iter().any(|key| entry(root, key).is_some()) {
        return None;
    }
    let mut report = Report::new(file, text);
    let reading = read::read(root, &mut report);
    report.errors.is_empty().then_some(reading.workload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Chain;
    use crate::{parse, write};

    const TEXT: &str = "nodes:\n  a: {publishes: {/t: {rate: 10 Hz}}}\n  b: {subscribes: [/t]}\n";

    fn mistake(text: &str) -> &'static str {
        kept(text, "w.yaml").expect_err(text).errors[0].name
    }

    #[test]
    fn what_ran_is_not_checked_again() {
        let (mut workload, _) = parse(TEXT, "w.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        workload.chains = vec![Chain::new("gone", vec!["a".into(), "c".into()])];
        let text = write(&workload);
        assert!(parse(&text, "w.yaml").is_err(), "{text}");
        assert_eq!(kept(&text, "w.yaml").as_ref(), Ok(&workload));
    }

    #[test]
    fn another_form_is_read_as_any_file_is() {
        let edited = TEXT.replace("10 Hz", "[20 Hz]");
        assert_eq!(kept(&edited, "w.yaml").map(|workload| workload.nodes[0].publishes[0].rate_hz), Ok(Some(20.0)));
        let named = format!("sweep: {{plugin: [one, two]}}\nmiddleware: $plugin\n{TEXT}");
        for sweep in [TEXT.replace("10 Hz", "[10 Hz, 20 Hz]"), named] {
            assert_eq!(mistake(&sweep), "is-a-sweep", "{sweep}");
        }
        assert_eq!((mistake("{"), mistake(""), mistake("nodes: 7\n")), ("not-yaml", "no-nodes", "wrong-value"));
    }
}
