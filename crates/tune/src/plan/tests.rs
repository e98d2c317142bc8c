//! Plans of small systems that are simulated without costs of middleware and machine.

use super::*;
use std::sync::atomic::AtomicBool;
use tacho_simulate::costs::Check;
use tacho_simulate::reach::Reach;
use tacho_simulate::spread::Spread;
use tacho_simulate::transfer::Transfer;
use tacho_simulate::Costs;
use tacho_workload::model::Scheduling;

const SPINNING: &str = "
middleware: inproc
nodes:
  source: {spin: 10 Hz, work: 1 ms, publishes: {/a: {rate: 10 Hz}}}
  filter: {spin: 10 Hz, work: 2 ms, subscribes: {/a: {depth: 1}}, publishes: [/b]}
  act:    {spin: 10 Hz, work: 1 ms, subscribes: {/b: {depth: 1}}}
  beside: {spin: 10 Hz, work: 1 ms, subscribes: {/a: {depth: 1}}}
chains: {chain: [source, filter, act], other: [source, beside]}
run: {duration: 2 s, repeats: 2, seed: 3}
";

fn workload(text: &str) -> Workload {
    tacho_workload::parse(text, "test.yaml").unwrap_or_else(|e| panic!("{e}")).0
}

/// What a test asks for; the rest is as the command has it.
struct Asked<'a> {
    goals: &'a [&'a str],
    bounds: &'a [&'a str],
    keep: &'a [&'a str],
    keys: &'a [Key],
    cpus: usize,
    costs: Costs,
    transports: Vec<Costs>,
}

impl Default for Asked<'_> {
    fn default() -> Self {
        let (goals, keys, costs) = (&["mean"][..], &Key::USUAL[..], Costs::default());
        Asked { goals, bounds: &[], keep: &[], keys, cpus: 2, costs, transports: vec![] }
    }
}

/// Plans a workload whose measured run is a simulation of it.
fn planned(text: &str, asked: &Asked<'_>) -> Result<(tempfile::TempDir, Plan)> {
    let workload = workload(text);
    let folder = tempfile::tempdir()?;
    let (measured, interrupted) = (RunDirectory::new(folder.path().join("measured")), AtomicBool::new(false));
    std::fs::create_dir(measured.path())?;
    let simulator = Simulator {
        scheduler: false,
        other_transports: &asked.transports,
        ..Simulator::new(&asked.costs, asked.cpus, &interrupted)
    };
    simulator.repeat(&workload, 0, &measured, &mut |_| {})?;
    tacho_figures::analyse_and_store(&measured, Some(&workload), &mut |_| {})?;
    let machine = Machine {
        cpus: (0..asked.cpus as u32).collect(),
        scheduling: vec![Scheduling::Fifo(50), Scheduling::Nice(10)],
        transports: asked.transports.iter().map(|costs| costs.transport.clone()).collect(),
    };
    let planning = Planning {
        simulator: &simulator,
        workload: &workload,
        chain: "chain",
        goals: &asked.goals.iter().map(|goal| goal.parse().expect("a goal")).collect::<Vec<_>>(),
        bounds: &asked.bounds.iter().map(|bound| bound.parse().expect("a bound")).collect::<Vec<_>>(),
        keys: asked.keys,
        keep: &asked.keep.iter().map(|kept| (*kept).to_owned()).collect::<Vec<_>>(),
        machine: &machine,
        measured: &measured,
        folder: folder.path(),
        settings: Settings { seed: 1, evaluations: 120, threads: 2 },
        exhaustive: false,
    };
    let plan = planning.plan(&mut |_| {})?;
    Ok((folder, plan))
}

fn turned(plan: &Plan) -> Vec<String> {
    plan.steps.iter().map(|step| step.turned.to_string()).collect()
}

#[test]
fn nodes_of_a_polling_chain_wake_on_arrival_and_nothing_else_changes() {
    let (folder, plan) = planned(SPINNING, &Asked::default()).expect("a plan");
    assert_eq!(turned(&plan), ["filter: spin 10 Hz -> on arrival", "act: spin 10 Hz -> on arrival"]);
    // 1 + 2 + 1 ms of work, and no wait.
    let mean_ms = plan.planned.chains["chain"].mean_ms.expect("a mean");
    assert!((mean_ms - 4.0).abs() < 0.05, "{mean_ms}");
    assert!(plan.as_is.chains["chain"].mean_ms.expect("a mean") > 20.0);
    assert!(plan.steps.iter().all(|step| step.buys[0] > 10.0), "{:?}", plan.steps);
    assert_eq!(plan.errors[0].error_percent, 0.0, "what was measured is a simulation");
    assert_eq!(plan.margin, LEAST_MARGIN);
    // It can be written and read, and needs no fragment.
    let files = folder.path().join(PLAN_FOLDER);
    write_files(&plan, &files).expect("files");
    let text = std::fs::read_to_string(files.join("workload.yaml")).expect("a workload");
    assert_eq!(workload(&text), plan.tuned.workload);
    assert!(std::fs::read_to_string(files.join("plan.md"))
        .expect("a page")
        .contains("| act: spin 10 Hz -> on arrival |"));
    assert!(!files.join("launch_prefix.py").exists() && !files.join("systemd").exists());
    let json = serde_json::to_string(&plan).expect("JSON");
    assert_eq!(serde_json::from_str::<Plan>(&json).expect("the same"), plan);
}

#[test]
fn what_is_kept_stays_and_the_rest_is_still_improved() {
    let asked = Asked { keep: &["act.spin", "/a"], ..Asked::default() };
    let (_folder, plan) = planned(SPINNING, &asked).expect("a plan");
    assert_eq!(plan.tuned.workload.node("act"), workload(SPINNING).node("act"));
    assert!(turned(&plan).iter().any(|turned| turned.starts_with("filter: spin 10 Hz -> ")), "{:?}", turned(&plan));
    let error =
        planned(SPINNING, &Asked { keep: &["nobody.spin"], ..Asked::default() }).map(|_| ()).expect_err("unknown");
    assert!(error.to_string().contains("--keep nobody.spin"), "{error}");
}

#[test]
fn a_bound_that_no_candidate_keeps_is_an_error_that_names_it() {
    let asked = Asked { bounds: &["mean=1 ms"], ..Asked::default() };
    let error = planned(SPINNING, &asked).map(|_| ()).expect_err("nothing takes less than its work");
    assert!(error.to_string().contains("mean=1 ms"), "{error}");
    let unknown = planned(SPINNING, &Asked { goals: &["mean nowhere"], ..Asked::default() }).map(|_| ());
    assert!(unknown.expect_err("unknown").to_string().contains("expected one of: chain, other"));
}

#[test]
fn within_a_budget_of_cpu_fewer_checks_are_what_arrival_is_chosen_for() {
    let costs = Costs { checks: vec![Check { hz: 100.0, cpu_ns: 200_000 }], ..Costs::default() };
    // Without arrival, a spin rate is what trades checks for alignment: 200 us a check.
    let bounded = Asked { bounds: &["cpu=30 %"], keys: &[Key::Spin], costs, ..Asked::default() };
    let (_folder, plan) = planned(SPINNING, &bounded).expect("a plan");
    assert!(plan.planned.cpu_percent.is_some_and(|percent| percent <= 30.0), "{:?}", plan.planned);
    assert!(plan.planned.cpu_percent < plan.as_is.cpu_percent, "{:?} {:?}", plan.planned, plan.as_is);
}

const CROWDED: &str = "
middleware: inproc
nodes:
  source: {work: 1 ms, publishes: {/a: {rate: 10 Hz}}}
  act:    {work: 10 ms, subscribes: [/a]}
  load:   {on: timer 20 Hz, work: 20 ms}
  other:  {on: timer 20 Hz, work: 15 ms}
chains: {chain: [source, act]}
run: {duration: 2 s, repeats: 2, seed: 3}
";

#[test]
fn beside_a_load_on_one_cpu_the_chain_gets_priority_and_the_fragments_for_it() {
    let (folder, plan) = planned(CROWDED, &Asked { cpus: 1, ..Asked::default() }).expect("a plan");
    assert!(plan.steps.iter().any(|step| step.turned.key == Key::Priority), "{:?}", turned(&plan));
    let [as_is, now] = [&plan.as_is, &plan.planned].map(|figures| figures.chains["chain"].mean_ms.expect("a mean"));
    assert!(now < 0.8 * as_is && now < 11.5, "{as_is} {now}");
    let files = folder.path().join(PLAN_FOLDER);
    write_files(&plan, &files).expect("files");
    let prefix = std::fs::read_to_string(files.join("launch_prefix.py")).expect("prefixes");
    let units: Vec<_> = std::fs::read_dir(files.join("systemd")).expect("units").collect();
    assert_eq!(prefix.lines().filter(|line| line.starts_with("    \"")).count(), units.len());
    assert!(!files.join("parameters.yaml").exists());
}

#[test]
fn several_goals_give_a_front_whose_ends_are_the_best_of_each() {
    let costs = Costs { checks: vec![Check { hz: 100.0, cpu_ns: 200_000 }], ..Costs::default() };
    let asked = Asked { goals: &["mean", "cpu"], keys: &[Key::Spin], keep: &["filter"], costs, ..Asked::default() };
    let (_folder, plan) = planned(SPINNING, &asked).expect("a plan");
    for pair in plan.search.front.windows(2) {
        assert!(pair[0].value[0] < pair[1].value[0] && pair[0].value[1] > pair[1].value[1], "{:?}", plan.search.front);
    }
    assert!(!plan.search.front.is_empty());
}

#[test]
fn a_node_leaves_a_thread_that_a_long_callback_keeps() {
    let text = "
middleware: inproc
nodes:
  source: {publishes: {/a: {rate: 20 Hz}}}
  act:    {process: p, thread: t, work: 1 ms, subscribes: [/a]}
  map:    {process: p, thread: t, on: timer 10 Hz, work: 30 ms, publishes: [/map]}
  store:  {subscribes: [/map]}
chains: {chain: [source, act]}
run: {duration: 2 s, repeats: 2, seed: 3}
";
    let asked = Asked { keys: &[Key::Thread, Key::Cpus, Key::Priority], ..Asked::default() };
    let (_folder, plan) = planned(text, &asked).expect("a plan");
    let [turned] = turned(&plan).try_into().expect("one change");
    assert!(["act", "map"].map(|node| format!("{node}: thread t of 2 nodes -> a thread of its own")).contains(&turned));
    let [as_is, mean] = [&plan.as_is, &plan.planned].map(|of| of.chains["chain"].mean_ms.expect("a mean"));
    // Its work, and no wait for the map.
    assert!(mean < 1.1 && as_is > 2.0 * mean, "{as_is} {mean}");
}

#[test]
fn several_threads_are_one_change_where_own_threads_are_two() {
    // Two of the chain's three nodes have work, and so has the map: two must leave the thread, or it has three threads.
    let text = "
middleware: inproc
nodes:
  source: {publishes: {/a: {rate: 20 Hz}}}
  filter: {process: p, thread: t, work: 10 ms, subscribes: [/a], publishes: [/b]}
  act:    {process: p, thread: t, work: 10 ms, subscribes: [/b]}
  map:    {process: p, thread: t, work: 10 ms, sleep: 15 ms, subscribes: [/a], publishes: [/map]}
  store:  {process: p, thread: t, sleep: 20 ms, subscribes: [/a]}
  show:   {subscribes: [/map]}
chains: {chain: [source, filter, act]}
run: {duration: 2 s, repeats: 2, seed: 3}
";
    let asked = Asked { keys: &[Key::Thread, Key::Threads], cpus: 4, ..Asked::default() };
    let (_folder, plan) = planned(text, &asked).expect("a plan");
    assert_eq!(turned(&plan), ["t: one thread -> 4 threads"]);
    let mean = plan.planned.chains["chain"].mean_ms.expect("a mean");
    assert!((mean - 20.0).abs() < 0.1, "{mean}");
    assert_eq!(plan.tuned.workload.threads_of(&plan.tuned.workload.nodes[1]), 4);
}

#[test]
fn who_leaves_a_thread_of_several_leaves_the_others_theirs() {
    let text = "
middleware: inproc
nodes:
  one:   {thread: t, threads: 3, publishes: {/a: {rate: 20 Hz}}}
  two:   {thread: t, process: t, subscribes: [/a]}
  three: {thread: t, process: t, subscribes: [/a]}
";
    let machine = Machine::default();
    let space = Space::of(&workload(text), &[], &[Key::Thread], &[], &[], &machine).expect("a space");
    let of = |choice: &[usize]| {
        let workload = space.apply(choice);
        workload.nodes.iter().map(|node| (node.thread.clone(), workload.threads_of(node))).collect::<Vec<_>>()
    };
    let shared = |threads| (Some("t".to_owned()), threads);
    assert_eq!(of(&[0, 0, 0]), [shared(3), shared(3), shared(3)]);
    assert_eq!(of(&[1, 0, 0]), [(None, 1), shared(3), shared(3)]);
    assert_eq!(of(&[1, 1, 0]), [(None, 1), (None, 1), shared(1)]);
}

#[test]
fn a_slow_callback_gets_a_group_of_its_own_and_a_second_thread() {
    let slow = "
middleware: inproc
nodes:
  lidar:     {publishes: {/points: {rate: 10 Hz}}}
  localiser:
    subscribes: {/points: {work: 2 ms}}
    timers: {reload: {rate: 4 Hz, work: 60 ms}}
    publishes: {/pose: {from: /points}}
  planner:   {subscribes: {/pose: {}}}
chains: {chain: [lidar, localiser, planner]}
run: {duration: 4 s, repeats: 2, seed: 3}
";
    let asked = Asked { goals: &["p99"], keys: &[Key::Group, Key::Threads], ..Asked::default() };
    let (folder, plan) = planned(slow, &asked).expect("a plan");
    let separated = ["the subscription to /points", "timer reload"].map(|callback| {
        format!("localiser: {callback} in one callback group with others -> in a group of its own, on 2 threads")
    });
    assert!(matches!(turned(&plan).as_slice(), [one] if separated.contains(one)), "{:?}", turned(&plan));
    // A draw has its slow timer as often as those of other rates.
    assert!(plan.search.draw_s >= (PERIODS_OF_RARE / 4.0).min(4.0), "{}", plan.search.draw_s);
    let p99_ms = |figures: &SystemFigures| figures.chains["chain"].p99_ms.expect("a p99");
    assert!(p99_ms(&plan.as_is) > 20.0 && p99_ms(&plan.planned) < 5.0, "{:?} {:?}", plan.as_is, plan.planned);
    let files = folder.path().join(PLAN_FOLDER);
    write_files(&plan, &files).expect("files");
    let page = std::fs::read_to_string(files.join("plan.md")).expect("a page");
    assert!(page.contains("create_callback_group") && page.contains("needs a lock"), "{page}");
    let text = std::fs::read_to_string(files.join("workload.yaml")).expect("a workload");
    assert_eq!(workload(&text), plan.tuned.workload);
    let kept = Asked { keep: &["localiser.group"], ..asked };
    assert!(planned(slow, &kept).err().is_some_and(|error| error.to_string().contains("may change")));
}

#[test]
fn a_callback_in_python_gets_a_thread_and_its_executor_no_more_threads() {
    let text = "
nodes:
  lidar:     {process: p, thread: p, publishes: {/points: {rate: 10 Hz}}}
  localiser: {process: p, thread: p, subscribes: {/points: {}}, timers: {reload: {rate: 4 Hz}}}
";
    let (machine, workload) = (Machine::default(), workload(text));
    let turned = |python: &[String]| {
        let space = Space::of(&workload, &[], &[Key::Group, Key::Threads], &[], python, &machine).expect("a space");
        let last: Vec<usize> = space.options.iter().map(|options| options - 1).collect();
        space.turned(&last).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let group = "timer reload in one callback group with others -> in a group of its own, on 2 threads";
    assert_eq!(turned(&[]), [format!("localiser: {group}"), "p: one thread -> 2 threads".to_owned()]);
    let python = ["localiser".to_owned()];
    assert_eq!(turned(&python), ["localiser: timer reload on one thread with others -> on a thread of its own"]);
}

const APART: &str = "
middleware: fastdds
nodes:
  lidar:  {work: 1 ms, publishes: {/a: {rate: 20 Hz}}}
  filter: {work: 2 ms, subscribes: [/a], publishes: [/b]}
  act:    {work: 1 ms, subscribes: [/b]}
  show:   {subscribes: [/b]}
chains: {chain: [lidar, filter, act]}
run: {duration: 2 s, repeats: 2, seed: 3}
";

/// Messages of that workload take this long on a transport, between processes and within one.
fn costs(transport: &str, between_ms: i64, within_ms: i64) -> Costs {
    let of = |topic: &str, reach: &[Reach]| {
        let transit = |reach| Spread::fixed(1_000_000 * if reach == Reach::Process { within_ms } else { between_ms });
        let transit = reach.iter().copied().map(transit).collect();
        let (topic, subscriptions, reach) = (topic.into(), reach.len(), reach.to_vec());
        Transfer { topic, size_bytes: 64, subscriptions, reach, transit, ..Transfer::default() }
    };
    let (apart, inside) = ([Reach::Host; 2], [Reach::Process; 2]);
    let transfers = vec![of("/a", &apart[1..]), of("/a", &inside[1..]), of("/b", &apart), of("/b", &inside)];
    Costs { middleware: "fastdds".into(), transport: transport.into(), transfers, ..Costs::default() }
}

#[test]
fn nodes_of_the_chain_join_a_process_and_no_others() {
    let asked = Asked { keys: &[Key::Process], costs: costs("", 3, 1), ..Asked::default() };
    let (folder, plan) = planned(APART, &asked).expect("a plan");
    let joins = |node| format!("{node}: a process of its own -> process together");
    assert_eq!(turned(&plan), ["lidar", "filter", "act"].map(joins));
    let mean = |of: &SystemFigures| of.chains["chain"].mean_ms.expect("a mean");
    // Four of work, and two messages.
    assert!((mean(&plan.as_is) - 10.0).abs() < 0.01 && (mean(&plan.planned) - 6.0).abs() < 0.01);
    assert_eq!(plan.doubts, [""; 0], "all of it was measured");
    let files = folder.path().join(PLAN_FOLDER);
    write_files(&plan, &files).expect("files");
    let text = std::fs::read_to_string(files.join("composition.py")).expect("a fragment");
    assert!(text.contains(r#""together": ("component_container_isolated", ["lidar", "filter", "act"]),"#), "{text}");
    assert!(std::fs::read_to_string(files.join("plan.md")).expect("a page").contains("- `composition.py`: "));
}

#[test]
fn a_transport_is_chosen_by_what_it_costs() {
    let transports = vec![costs("udp", 5, 1), costs("shm", 1, 1)];
    let asked = Asked { keys: &[Key::Transport], costs: costs("", 3, 1), transports, ..Asked::default() };
    let (folder, plan) = planned(APART, &asked).expect("a plan");
    assert_eq!(turned(&plan), ["fastdds: transport as by default -> transport shm"]);
    let mean = |of: &SystemFigures| of.chains["chain"].mean_ms.expect("a mean");
    assert!((mean(&plan.as_is) - 10.0).abs() < 0.01 && (mean(&plan.planned) - 6.0).abs() < 0.01);
    let files = folder.path().join(PLAN_FOLDER);
    write_files(&plan, &files).expect("files");
    let text = std::fs::read_to_string(files.join("environment.sh")).expect("a fragment");
    assert!(text.contains("export FASTDDS_BUILTIN_TRANSPORTS=SHM\n"), "{text}");
}

#[test]
fn a_timer_that_holds_the_latest_message_fires_when_it_has_come() {
    let text = "
middleware: inproc
nodes:
  lidar:   {work: 1 ms, publishes: {/a: {rate: 10 Hz}}}
  planner: {on: timer 10 Hz, work: 4 ms, subscribes: [/a], publishes: [/b]}
  control: {on: timer 50 Hz, work: 1 ms, subscribes: [/b]}
chains: {chain: [lidar, planner, control]}
run: {duration: 2 s, repeats: 2, seed: 3}
";
    let asked = Asked { keys: &[Key::Phase], ..Asked::default() };
    let (_folder, plan) = planned(text, &asked).expect("a plan");
    let mean = |of: &SystemFigures| of.chains["chain"].mean_ms.expect("a mean");
    // The planner has the message after 1 ms and fires after 5, its path is there after 9, and control fires after 9 or
    // 10 ms.
    assert!(mean(&plan.as_is) > 20.0 && mean(&plan.planned) < 11.1, "{:?} {:?}", plan.as_is, plan.planned);
    let planner = plan.steps.iter().find(|step| step.turned.of == "planner").expect("a step");
    let text = planner.turned.to_string();
    assert_eq!(text, "planner: any phase -> wakes 5 % of its period (5.00 ms) after lidar");
    let phase = |node: &str| plan.tuned.workload.node(node).and_then(|node| node.phase_percent);
    assert_eq!((phase("lidar"), phase("planner")), (Some(0.0), Some(5.0)));
}

#[test]
fn a_node_that_joins_its_inputs_computes_when_the_input_of_the_chain_comes() {
    let text = "
middleware: inproc
nodes:
  camera: {publishes: {/image: {rate: 12 Hz}}}
  lidar:  {publishes: {/points: {rate: 10 Hz}}}
  fusion: {on: first /image, work: 5 ms, subscribes: [/image, /points], publishes: [/objects]}
  act:    {work: 1 ms, subscribes: [/objects]}
chains: {chain: [lidar, fusion, act]}
run: {duration: 3 s, repeats: 2, seed: 3}
";
    let asked = Asked { keys: &[Key::Fusion], ..Asked::default() };
    let (_folder, plan) = planned(text, &asked).expect("a plan");
    assert_eq!(turned(&plan), ["fusion: on first /image -> on first /points"]);
    let mean = |of: &SystemFigures| of.chains["chain"].mean_ms.expect("a mean");
    assert!(mean(&plan.as_is) > 20.0 && (mean(&plan.planned) - 6.0).abs() < 0.01, "{:?}", plan.as_is);
    // A chain over the camera would lose outputs, so the node joins its inputs as before.
    let chains = "chains: {chain: [lidar, fusion, act], seen: [camera, fusion, act]}";
    let text = text.replace("chains: {chain: [lidar, fusion, act]}", chains);
    let (_folder, plan) = planned(&text, &asked).expect("a plan");
    assert!(plan.steps.is_empty(), "{:?}", turned(&plan));
}

#[test]
fn an_events_executor_runs_a_message_before_a_timer_that_is_due_later() {
    let text = "
middleware: inproc
nodes:
  lidar:   {phase: 1 %, publishes: {/points: {rate: 10 Hz}}}
  mapper:  {thread: one, phase: 0 %, on: timer 10 Hz, work: 10 ms}
  monitor: {thread: one, phase: 9 %, on: timer 10 Hz, work: 5 ms}
  planner: {thread: one, work: 1 ms, subscribes: [/points], publishes: [/path]}
  control: {subscribes: [/path]}
chains: {chain: [lidar, planner, control]}
run: {duration: 3 s, repeats: 2, seed: 3}
";
    let asked = Asked { keys: &[Key::Executor], ..Asked::default() };
    let (_folder, plan) = planned(text, &asked).expect("a plan");
    assert_eq!(turned(&plan), ["one: an executor with a wait set -> an events executor"]);
    let mean = |of: &SystemFigures| of.chains["chain"].mean_ms.expect("a mean");
    // The message comes after 1 ms, and the mapper keeps it until 10 ms; the monitor is due after 9 ms.
    assert!((mean(&plan.as_is) - 15.0).abs() < 0.01 && (mean(&plan.planned) - 10.0).abs() < 0.01, "{:?}", plan.planned);
    let threads = text.replace("thread: one, phase: 0 %", "thread: one, threads: 2, phase: 0 %");
    let Err(refused) = planned(&threads, &asked) else { panic!("several threads have no order of events") };
    assert!(refused.to_string().starts_with("nothing of the workload may change"), "{refused}");
}

#[test]
fn a_chain_over_any_of_two_topics_is_refused_and_one_that_names_its_topic_is_tuned() {
    let two = SPINNING
        .replace("publishes: {/a:", "publishes: {/c: {rate: 10 Hz}, /a:")
        .replace("subscribes: {/a: {depth: 1}}, pub", "subscribes: [/a, /c], pub");
    assert_ne!(two, SPINNING);
    let error = planned(&two, &Asked::default()).map(|_| ()).expect_err("a choice").to_string();
    assert_eq!(
        error,
        "chain `chain` goes from source to filter over /c and over /a: name one of them, as in `chain: [source, /c, \
         filter]`"
    );
    // An output for /a is overwritten by the one for /c that follows.
    let (_, plan) = planned(&two.replace("[source, filter", "[source, /c, filter"), &Asked::default()).expect("a plan");
    assert!(turned(&plan).contains(&"act: spin 10 Hz -> on arrival".to_owned()), "{:?}", turned(&plan));
}
