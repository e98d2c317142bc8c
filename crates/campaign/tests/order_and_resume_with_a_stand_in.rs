//! In which order runs come, which are kept, and what a failure or ^C leaves. A stand-in runs nothing: what a run
//! measures is tested on real middleware, in `tests/`.

use anyhow::bail;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tacho_campaign::testing::StandIn;
use tacho_campaign::{in_turns, Analysis, Campaign, Ended, Item, OnFailure, RunLock, Subject};
use tacho_events::run::RunDirectory;
use tacho_tables::store;
use tacho_tables::summary::ChainFigures;
use tacho_workload::Workload;

fn workload(repeats: u32) -> Workload {
    let text = format!(
        "nodes: {{a: {{publishes: {{/t: {{rate: 10 Hz}}}}}}, b: {{subscribes: [/t]}}}}\n\
         run: {{duration: 1 s, repeats: {repeats}}}\n"
    );
    tacho_workload::parse(&text, "w.yaml").unwrap_or_else(|errors| panic!("{errors}")).0
}

fn chain(name: &str) -> ChainFigures {
    ChainFigures { name: name.into(), ..ChainFigures::default() }
}

fn good(_: &Path) -> anyhow::Result<ChainFigures> {
    Ok(chain("c"))
}

/// A campaign of subjects with these names and repeats, in a directory.
struct Setting {
    directory: tempfile::TempDir,
    subjects: Vec<(&'static str, Workload)>,
    on_failure: OnFailure,
}

impl Setting {
    fn new(subjects: &[(&'static str, u32)], on_failure: OnFailure) -> Setting {
        let subjects = subjects.iter().map(|(name, repeats)| (*name, workload(*repeats))).collect();
        Setting { directory: tempfile::tempdir().unwrap(), subjects, on_failure }
    }

    fn of(&self, name: &str) -> RunDirectory {
        RunDirectory::new(self.directory.path().join(name))
    }

    /// What came of it, and which runs there were: `a/repeats/0`.
    fn run(&self, runner: &StandIn<'_>) -> (Ended, Vec<String>) {
        let lock = RunLock::take(self.directory.path(), "runs this test").unwrap();
        let subject = |(name, workload): &'_ (&'static str, Workload)| (name.to_string(), workload.clone());
        let of: Vec<(String, Workload)> = self.subjects.iter().map(subject).collect();
        let subjects: Vec<Subject<'_>> =
            of.iter().map(|(name, workload)| Subject::new(name, workload, runner, self.of(name))).collect();
        let campaign = Campaign {
            order: in_turns(&subjects),
            subjects,
            lock: &lock,
            interrupted: &runner.interrupted,
            command: vec![],
            analysis: Analysis::OfEach,
            on_failure: self.on_failure,
            chain: Some("c"),
            discard_events: false,
        };
        let ended = campaign.run(&mut |_| {}, &mut |_, _| Ok(())).unwrap();
        let below = |path: &Path| path.strip_prefix(self.directory.path()).unwrap().display().to_string();
        (ended, runner.ran().iter().map(|path| below(path)).collect())
    }
}

#[test]
fn subjects_take_turns_and_those_with_fewer_repeats_leave_the_later_rounds() {
    let setting = Setting::new(&[("a", 3), ("b", 1), ("c", 2)], OnFailure::Stop);
    let (ended, ran) = setting.run(&StandIn::new(good));
    assert_eq!(ran, ["a/repeats/0", "b", "c/repeats/0", "a/repeats/1", "c/repeats/1", "a/repeats/2"]);
    assert_eq!((ended.failed.len(), ended.unfinished), (0, 0));
    let whole = setting.of("a").info().unwrap();
    assert!(!whole.cut_short && whole.missing.is_empty() && setting.of("a").summary().is_file());
}

#[test]
fn what_is_finished_is_kept_and_the_run_that_was_cut_short_is_made_anew() {
    let setting = Setting::new(&[("a", 2), ("b", 2)], OnFailure::Stop);
    let (ended, ran) = setting.run(&StandIn::new(good).cut_short(2));
    assert_eq!(ran, ["a/repeats/0", "b/repeats/0", "a/repeats/1"]);
    assert_eq!(ended.unfinished, 2);
    // Each is summed up as far as it is.
    assert_eq!(setting.of("b").info().unwrap().missing, ["1 of 2 repeats were not run"]);
    std::fs::write(setting.of("a").repeat(1).path().join("left"), "by the first attempt").unwrap();

    let (ended, ran) = setting.run(&StandIn::new(good));
    assert_eq!(ran, ["a/repeats/1", "b/repeats/1"]);
    assert_eq!(ended.unfinished, 0);
    assert!(!setting.of("a").repeat(1).path().join("left").exists());
    for name in ["a", "b"] {
        let whole = setting.of(name).info().unwrap();
        assert!(!whole.cut_short && whole.missing.is_empty(), "{:?}", whole.missing);
    }
    let (_, ran) = setting.run(&StandIn::new(good));
    assert!(ran.is_empty(), "nothing is run twice: {ran:?}");
}

#[test]
fn a_run_of_another_workload_and_one_without_the_chain_are_made_anew() {
    let mut setting = Setting::new(&[("a", 1), ("b", 1)], OnFailure::Stop);
    setting.run(&StandIn::new(good));
    setting.subjects[0].1.run.seed += 1;
    let summary = tacho_tables::summary::Summary { chains: vec![chain("other")], ..Default::default() };
    store::write_summary(&setting.of("b"), &summary).unwrap();
    let (ended, ran) = setting.run(&StandIn::new(good));
    assert_eq!((ran, ended.unfinished), (vec!["a".to_owned(), "b".to_owned()], 0));
}

#[test]
fn a_whole_that_was_not_written_is_written_although_nothing_is_left_to_run() {
    let setting = Setting::new(&[("a", 2)], OnFailure::Stop);
    setting.run(&StandIn::new(good));
    std::fs::remove_file(setting.of("a").summary()).unwrap();
    let (_, ran) = setting.run(&StandIn::new(good));
    assert!(ran.is_empty() && setting.of("a").summary().is_file());
}

#[test]
fn a_failure_ends_all_or_its_subject_alone_and_is_tried_again() {
    let failing = |path: &Path| {
        if path.ends_with("a/repeats/1") {
            bail!("node `a` died");
        }
        Ok(chain("c"))
    };
    let all = ["a/repeats/0", "b/repeats/0", "a/repeats/1", "b/repeats/1", "b/repeats/2"];
    for (on_failure, expected) in [(OnFailure::Stop, &all[..3]), (OnFailure::LeaveOut, &all[..])] {
        let setting = Setting::new(&[("a", 3), ("b", 3)], on_failure);
        let (ended, ran) = setting.run(&StandIn::new(failing));
        assert_eq!(ran, expected);
        let failed = &ended.failed[0];
        assert_eq!((failed.item, failed.error.to_string()), (Item { subject: 0, repeat: 1 }, "node `a` died".into()));
        let run = setting.of("a").repeat(1).info().unwrap();
        assert!(run.cut_short && run.missing == ["the run failed: node `a` died"], "{run:?}");
        let whole = setting.of("a").info().unwrap().missing;
        assert_eq!(whole, ["2 of 3 repeats were not run", "the run failed: node `a` died"]);
        let (ended, ran) = setting.run(&StandIn::new(good));
        assert_eq!((ran.first().map(String::as_str), ended.unfinished), (Some("a/repeats/1"), 0));
    }
}

#[test]
fn runs_that_do_not_disturb_each_other_go_on_at_once() {
    let begun = AtomicUsize::new(0);
    let meets_two_others = |_: &Path| {
        begun.fetch_add(1, Ordering::SeqCst);
        let until = Instant::now() + Duration::from_secs(20);
        while begun.load(Ordering::SeqCst) < 3 {
            anyhow::ensure!(Instant::now() < until, "no other run began");
            std::thread::yield_now();
        }
        Ok(chain("c"))
    };
    let setting = Setting::new(&[("a", 3), ("b", 1), ("c", 2)], OnFailure::Stop);
    let (ended, mut ran) = setting.run(&StandIn::new(meets_two_others).at_once(3));
    ran.sort();
    assert_eq!(ran, ["a/repeats/0", "a/repeats/1", "a/repeats/2", "b", "c/repeats/0", "c/repeats/1"]);
    assert_eq!((ended.failed.len(), ended.unfinished), (0, 0));
    for name in ["a", "c"] {
        assert!(setting.of(name).info().unwrap().missing.is_empty() && setting.of(name).summary().is_file());
    }
}

#[test]
fn a_failure_among_runs_at_once_leaves_out_what_is_left_of_its_subject() {
    let failing = |path: &Path| {
        if path.ends_with("a/repeats/0") {
            bail!("node `a` died");
        }
        Ok(chain("c"))
    };
    let setting = Setting::new(&[("a", 200), ("b", 2)], OnFailure::LeaveOut);
    let (ended, ran) = setting.run(&StandIn::new(failing).at_once(2));
    assert_eq!((ended.failed.len(), ended.failed[0].item), (1, Item { subject: 0, repeat: 0 }));
    // Those that ran already when it failed have ended in order.
    let of_a = ran.iter().filter(|run| run.starts_with("a/")).count();
    assert!(of_a < 200 && ran.iter().filter(|run| run.starts_with("b/")).count() == 2, "{ran:?}");
    assert_eq!(ended.unfinished, 201 - of_a);
}

#[test]
fn a_run_that_does_not_see_the_chain_has_failed() {
    let setting = Setting::new(&[("a", 1)], OnFailure::Stop);
    let (ended, _) = setting.run(&StandIn::new(|_| Ok(chain("other"))));
    assert!(ended.failed[0].error.to_string().starts_with("chain c was not seen in "));
    assert_eq!(ended.unfinished, 1);
}
