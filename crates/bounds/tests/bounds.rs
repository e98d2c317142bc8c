//! Bounds against what is known of small systems, and against the worst of simulations.

use std::sync::atomic::AtomicBool;
use tacho_bounds::bounds;
use tacho_events::run::RunDirectory;
use tacho_simulate::{Costs, Simulator};
use tacho_workload::random::Draws;
use tacho_workload::Workload;

fn workload(text: &str) -> Workload {
    tacho_workload::parse(text, "test.yaml").unwrap_or_else(|errors| panic!("{errors}\n{text}")).0
}

/// The bound of a chain, ms, or the reason why there is none.
fn bound(text: &str, chain: &str, cpus: usize) -> Result<f64, String> {
    let all = bounds(&workload(text), &Costs::default(), cpus);
    let of = all.into_iter().find(|of| of.chain == chain).expect("the chain");
    of.end_to_end_ms.ok_or_else(|| of.refused.expect("a reason"))
}

/// What takes no time counts as a nanosecond.
fn assert_near(bound: Result<f64, String>, expected_ms: f64) {
    assert!(bound.as_ref().is_ok_and(|ms| (ms - expected_ms).abs() < 1e-5), "{bound:?}, expected {expected_ms}");
}

const ALONE: &str = "
middleware: inproc
nodes:
  source: {publishes: {/a: {rate: 10 Hz}}, work: 1 ms}
  filter: {subscribes: [/a], publishes: [/b], work: 5 ms}
  act:    {subscribes: [/b], work: 2 ms}
chains: {chain: [source, filter, act]}
run: {duration: 1 s}
";

#[test]
fn executors_with_nothing_else_to_do_add_up() {
    assert_near(bound(ALONE, "chain", 3), 1.0 + 5.0 + 2.0);
}

#[test]
fn a_chain_that_names_its_topic_has_the_bound_of_that_one() {
    let text = "
middleware: inproc
nodes:
  source: {publishes: {/a: {rate: 10 Hz}, /c: {rate: 10 Hz}}, work: 1 ms}
  act:    {subscribes: {/a: {work: 2 ms}, /c: {work: 7 ms}}}
chains: {any: [source, act], short: [source, /a, act], long: [source, /c, act]}
run: {duration: 1 s}
";
    let [any, short, long] = ["any", "short", "long"].map(|chain| bound(text, chain, 3).expect("a bound"));
    assert_eq!(any, long);
    // Both may have come at once, and each waits for the other one then.
    assert!(short <= long, "{short} {long}");
}

#[test]
fn a_timer_waits_for_one_of_each_other_callback_of_its_executor() {
    let text = ALONE.replace("source: {", "source: {thread: t, ").replace("act:    {", "act: {thread: t, process: t, ");
    // The timer waits for a message of /b, and a message of /b for the timer.
    assert_near(bound(&text, "chain", 3), (2.0 + 1.0) + 5.0 + (1.0 + 2.0));
}

#[test]
fn a_subscription_waits_for_all_that_its_executor_has_to_do() {
    let text = "
middleware: inproc
nodes:
  source: {publishes: {/a: {rate: 10 Hz}}}
  other:  {publishes: {/o: {rate: 20 Hz}}}
  filter: {thread: t, subscribes: [/a], publishes: [/b], work: 5 ms}
  beside: {thread: t, subscribes: [/o], work: 10 ms}
  act:    {subscribes: [/b], work: 2 ms}
chains: {chain: [source, filter, act]}
run: {duration: 1 s}
";
    // 10 ms of the message that came first, 5 of its own, 2 at the end.
    assert_near(bound(text, "chain", 4), 10.0 + 5.0 + 2.0);
    let too_much = text.replace("work: 10 ms", "work: 60 ms");
    assert!(
        bound(&too_much, "chain", 4).is_err_and(|why| why.contains("too much to do")),
        "{:?}",
        bound(&too_much, "chain", 4)
    );
}

#[test]
fn what_the_analysis_does_not_know_is_refused_with_its_reason() {
    for (change, to, reason) in [
        ("work: 5 ms", "work: 5 ms, spin: 10 Hz", "node filter spins"),
        ("rate: 10 Hz}}, work: 1 ms", "rate: 10 Hz}}, work: {task: probe}", "node source has a task"),
        ("run: {", "run: {background: {cpu: 1}, ", "4 threads share 3 CPUs"),
        ("run: {", "run: {cpus: {source: [1], filter: [1], act: [2]}, ", "share CPU 1"),
        ("publishes: [/b], work", "publishes: {/b: {rate: 10 Hz}}, work", "by another callback"),
        (
            "publishes: [/b], work",
            "publishes: {/b: {from: {/a: {times: 2}}}}, work",
            "several messages in one callback",
        ),
        ("work: 5 ms", "work: 5 ms, executor: events", "runs what came first"),
    ] {
        let text = ALONE.replace(change, to);
        let (workload, _) = match tacho_workload::parse(&text, "test.yaml") {
            Ok(of) => of,
            Err(_) if to.contains("task") => continue, // no library of tasks here
            Err(errors) => panic!("{errors}"),
        };
        let all = bounds(&workload, &Costs::default(), 3);
        let refused = all[0].refused.as_deref().unwrap_or("not refused");
        assert!(refused.contains(reason), "{reason}: {refused}");
    }
    let in_python = ALONE.replace("work: 5 ms", "work: 5 ms, process: p, python: true");
    assert!(bound(&in_python, "chain", 3).is_ok(), "alone in its process");
    let together = in_python.replace("work: 2 ms", "work: 2 ms, process: p, python: true");
    assert!(bound(&together, "chain", 3).is_err_and(|why| why.contains("share an interpreter")));
    let circle = ALONE.replace("subscribes: [/a], publishes: [/b]", "subscribes: [/a, /c], publishes: [/b]");
    let circle = circle.replace("act:    {subscribes: [/b]", "act:    {subscribes: [/b], publishes: [/c]");
    assert!(bound(&circle, "chain", 3).is_err_and(|why| why.contains("in a circle")));
}

/// A random system of a tree of nodes on a few executors, each with a CPU.
fn random(draws: &mut Draws) -> String {
    let below = |draws: &mut Draws, n: usize| ((draws.uniform() * n as f64) as usize).min(n - 1);
    let mut text = String::from("middleware: inproc\nnodes:\n");
    let sources = 1 + below(draws, 3);
    for source in 0..sources {
        let (hz, us) = ([5, 10, 20, 25][below(draws, 4)], 100 + below(draws, 2000));
        text += &format!("  s{source}: {{publishes: {{/s{source}: {{rate: {hz} Hz, depth: 100}}}}, work: {us} us}}\n");
    }
    let mut topics: Vec<String> = (0..sources).map(|source| format!("/s{source}")).collect();
    for node in 0..3 + below(draws, 4) {
        let (thread, us) = (below(draws, 3), 100 + below(draws, 3000));
        let from = topics[below(draws, topics.len())].clone();
        let and = topics[below(draws, topics.len())].clone();
        let inputs = if and == from {
            format!("{{{from}: {{depth: 100}}}}")
        } else {
            format!("{{{from}: {{depth: 100}}, {and}: {{depth: 100}}}}")
        };
        text += &format!(
            "  n{node}: {{thread: t{thread}, process: p, subscribes: {inputs}, work: {{uniform: [0 us, {us} us]}}, \
             publishes: {{/n{node}: {{depth: 100}}}}}}\n"
        );
        topics.push(format!("/n{node}"));
    }
    let all = topics.iter().map(|topic| format!("{topic}: {{depth: 100}}")).collect::<Vec<_>>().join(", ");
    text += &format!(
        "  end: {{subscribes: {{{all}}}, work: 200 us}}\nrun: {{duration: 10 s, seed: {}}}\n",
        below(draws, 1000)
    );
    text
}

#[test]
fn no_simulated_instance_is_longer_than_its_bound() {
    let (mut draws, mut judged, mut tight) = (Draws::new(7), 0, 0.0f64);
    for _ in 0..12 {
        let text = random(&mut draws);
        let workload = workload(&text);
        let cpus = 8;
        let folder = tempfile::tempdir().expect("a folder");
        let run = RunDirectory::new(folder.path());
        let (costs, interrupted) = (Costs::default(), AtomicBool::new(false));
        let simulator = Simulator { scheduler: false, ..Simulator::new(&costs, cpus, &interrupted) };
        simulator.repeat(&workload, 0, &run, &mut |_| {}).expect("a simulation");
        let summary = tacho_figures::analyse_and_store(&run, Some(&workload), &mut |_| {}).expect("figures");
        // Paths may share a name; the bound is of the nodes of a chain.
        let named = Workload { chains: chains(&summary), ..workload };
        for of in bounds(&named, &Costs::default(), cpus) {
            let bound_ms = of.end_to_end_ms.unwrap_or_else(|| panic!("{}: {:?}\n{text}", of.chain, of.refused));
            let own = summary.chains.iter().enumerate().find(|(at, _)| format!("chain_{at}") == of.chain);
            let Some(worst) = own.and_then(|(_, chain)| chain.end_to_end_ms.as_ref()).map(|times| times.max) else {
                continue;
            };
            assert!(worst <= bound_ms + 1e-6, "{}: {worst} > {bound_ms}\n{text}", of.chain);
            judged += 1;
            tight = tight.max(worst / bound_ms);
        }
    }
    assert!(judged > 50 && tight > 0.6, "{judged} chains, at best {tight} of the bound");
}

/// The paths that were seen, each with a name of its own.
fn chains(summary: &tacho_tables::summary::Summary) -> Vec<tacho_workload::model::Chain> {
    let nodes = |path: &[String]| path.iter().step_by(2).map(|node| node.trim_start_matches('/').to_owned()).collect();
    let all = summary.chains.iter().enumerate();
    all.map(|(at, chain)| tacho_workload::model::Chain::new(format!("chain_{at}"), nodes(&chain.path))).collect()
}
