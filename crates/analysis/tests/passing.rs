//! Paths that pass a node more than once, each time in another callback, and ends that are callbacks.

mod system;

use system::*;
use tacho_tables::row::Row;
use tacho_tables::{CauseKind, Tables};

const TURNS: i64 = 6;

/// A node that publishes to itself: its timer makes a raw scan, its own callback a filtered one.
fn driver() -> System {
    let s = System::new().node("driver").publishes("/raw").publishes("/scan").timer(1_000).takes("/raw");
    s.node("control").takes("/scan").times(TURNS, |s, k| {
        let t = 1_000 * k + 100;
        let s = s.fires("driver", 1_000, (t, t + 20), &[("/raw", t + 10)]);
        let s = s.took("driver", ("/raw", t + 10), (t + 30, t + 60), &[("/scan", t + 50)]);
        s.took("control", ("/scan", t + 50), (t + 70, t + 90), &[])
    })
}

/// The parts of every instance add up to it, in the table of causes, too.
fn adds_up(tables: &Tables) {
    for (row, instance) in tables.instances.iter().enumerate() {
        assert_eq!(instance.parts().whole_ns(), instance.end_to_end_ns);
        let of = tables.causes.iter().filter(|cause| cause.instance == Some(Row::behind(row)));
        let parts: Vec<i64> = of.filter_map(|cause| cause.duration_ns.get()).collect();
        let name = &tables.chains[instance.chain].path;
        assert!(parts.is_empty() || parts.iter().sum::<i64>() == instance.end_to_end_ns, "{name:?}: {parts:?}");
    }
}

fn turns(from: i64, to: i64) -> Vec<(i64, i64)> {
    (0..TURNS).map(|k| (1_000 * k + from, 1_000 * k + to)).collect()
}

#[test]
fn a_timer_that_publishes_to_its_own_node_has_its_hop() {
    let tables = driver().tables();
    let whole = "/driver /raw /driver /scan /control";
    // The callback of the own topic is no beginning.
    assert_eq!(paths(&tables), [whole]);
    assert_eq!(instances(&tables, whole), turns(100, 190));
    assert_eq!(chain(&tables, whole).name, "driver to control");
    assert!(chain(&tables, whole).guessed_at.is_empty());
    let callbacks = ["/driver timer 0.001 ms Node::on_1000", "/driver /raw Node::take", "/control /scan Node::take"];
    assert_eq!(chain(&tables, whole).callbacks, callbacks);
    adds_up(&tables);
    let busy = tables.causes.iter().filter(|cause| cause.kind == CauseKind::ExecutorBusy && cause.position == 1);
    let timer: Vec<_> = busy.map(|cause| (cause.by.as_str(), cause.duration_ns)).collect();
    assert!(timer.contains(&("/driver timer 0.001 ms Node::on_1000", 10.into())), "{timer:?}");
}

#[test]
fn a_private_topic_ends_in_its_callback() {
    let s = System::new().node("logger").publishes("/tick").timer(1_000).takes("/tick");
    let tables = s
        .times(TURNS, |s, k| {
            let t = 1_000 * k + 100;
            let s = s.fires("logger", 1_000, (t, t + 20), &[("/tick", t + 10)]);
            s.took("logger", ("/tick", t + 10), (t + 30, t + 60), &[])
        })
        .tables();
    assert_eq!(paths(&tables), ["/logger /tick /logger"]);
    assert_eq!(instances(&tables, "/logger /tick /logger"), turns(100, 160));
    adds_up(&tables);
}

#[test]
fn a_topic_of_many_that_a_node_publishes_and_takes_is_no_hop_of_it() {
    // As transforms: each takes all, and nothing goes on in that callback.
    let s = System::new().node("arm").publishes("/tf").takes("/tf").timer(1_000);
    let s = s.node("base").publishes("/tf").takes("/tf").timer(1_000);
    let tables = s
        .times(TURNS, |s, k| {
            let t = 1_000 * k + 100;
            let s = s.fires("arm", 1_000, (t, t + 20), &[("/tf", t + 10)]);
            let s = s.took("arm", ("/tf", t + 10), (t + 30, t + 40), &[]);
            let s = s.took("base", ("/tf", t + 10), (t + 31, t + 41), &[]);
            let s = s.fires("base", 1_000, (t + 100, t + 120), &[("/tf", t + 110)]);
            s.took("arm", ("/tf", t + 110), (t + 130, t + 140), &[]).took(
                "base",
                ("/tf", t + 110),
                (t + 131, t + 141),
                &[],
            )
        })
        .tables();
    assert_eq!(paths(&tables), ["/arm /tf /base /tf /arm"]);
}

/// A joystick asks a gateway, which asks a server; the gateway's callback of the answer commands the wheels.
fn gateway() -> System {
    let s = System::new().node("stick").publishes("/stick").timer(1_000);
    let s = s.node("gateway").takes("/stick").takes("/answer").publishes("/question").publishes("/command");
    let s = s.node("server").takes("/question").publishes("/answer").node("wheels").takes("/command");
    s.times(TURNS, |s, k| {
        let t = 1_000 * k + 100;
        let s = s.fires("stick", 1_000, (t, t + 6), &[("/stick", t + 5)]);
        let s = s.took("gateway", ("/stick", t + 5), (t + 10, t + 30), &[("/question", t + 20)]);
        let s = s.took("server", ("/question", t + 20), (t + 40, t + 60), &[("/answer", t + 50)]);
        let s = s.took("gateway", ("/answer", t + 50), (t + 70, t + 90), &[("/command", t + 80)]);
        s.took("wheels", ("/command", t + 80), (t + 100, t + 110), &[])
    })
}

#[test]
fn a_path_passes_a_node_again_in_the_callback_of_what_comes_back() {
    let tables = gateway().tables();
    let whole = "/stick /stick /gateway /question /server /answer /gateway /command /wheels";
    assert_eq!(instances(&tables, whole), turns(100, 210));
    // The short way, past the question, has nothing to do with the command.
    assert_eq!(paths(&tables), [whole]);
    adds_up(&tables);
}

#[test]
fn a_loop_is_cut_where_it_returns() {
    // The vehicle's odometry is kept for the planner's timer: no sink, and a source.
    let s = System::new().node("sensor").publishes("/points").timer(900);
    let s = s.node("planner").takes("/points").takes("/odom").publishes("/plan");
    let s = s.node("vehicle").takes("/plan").publishes("/odom");
    let tables = s
        .times(TURNS, |s, k| {
            let t = 1_000 * k + 100;
            let s = s.fires("sensor", 900, (t, t + 6), &[("/points", t + 5)]);
            let s = s.took("planner", ("/points", t + 5), (t + 10, t + 30), &[("/plan", t + 20)]);
            let s = s.took("vehicle", ("/plan", t + 20), (t + 40, t + 60), &[("/odom", t + 50)]);
            s.took("planner", ("/odom", t + 50), (t + 70, t + 90), &[])
        })
        .tables();
    let path = "/sensor /points /planner /plan /vehicle /odom /planner";
    assert_eq!(instances(&tables, path), turns(100, 170));
    assert_eq!(chain(&tables, path).name, "sensor to vehicle and back");
    adds_up(&tables);
}

/// A planner with two timers of one topic, and two subscriptions; the slow one reloads the map.
fn planner() -> System {
    let s = System::new().node("lidar").publishes("/points").timer(500);
    let s = s.node("planner").takes_in("/points", "nav::Planner::on_points(Points const&)").publishes("/plan");
    let s = s.timer(1_000).timer(3_000).node("brake").takes("/plan");
    s.times(TURNS, |s, k| {
        let t = 1_000 * k + 100;
        let s = s.fires("lidar", 500, (t, t + 10), &[("/points", t + 5)]);
        let s = s.took("planner", ("/points", t + 5), (t + 20, t + 30), &[]);
        let s = s.fires("planner", 1_000, (t + 100, t + 150), &[("/plan", t + 140)]);
        let s = s.took("brake", ("/plan", t + 140), (t + 160, t + 180), &[]);
        if k % 3 != 0 {
            return s;
        }
        let s = s.fires("planner", 3_000, (t + 200, t + 320), &[("/plan", t + 310)]);
        s.took("brake", ("/plan", t + 310), (t + 330, t + 340), &[])
    })
}

/// (path, instances) of the chains that are asked for.
fn asked(from: &str, to: &str) -> Vec<(String, Vec<(i64, i64)>)> {
    let tables = planner().tables_with(&format!("chains: {{asked: {{from: '{from}', to: '{to}'}}}}"));
    adds_up(&tables);
    let of = |(row, chain): (usize, &tacho_tables::Chain)| {
        let of_it = tables.instances.iter().filter(|i| i.chain.number() == row as u32);
        (chain.path.join(" "), of_it.map(|i| (i.start_ns, i.end_ns)).collect())
    };
    tables.chains.iter().enumerate().filter(|(_, chain)| chain.name == "asked").map(of).collect()
}

#[test]
fn a_chain_may_begin_and_end_with_a_callback() {
    let fast = || ("/planner /plan /brake".to_string(), turns(200, 280));
    let slow = ("/planner /plan /brake".to_string(), vec![(300, 440), (3_300, 3_440)]);
    assert_eq!(asked("/planner timer 0.001 ms", "/brake"), [fast()]);
    assert_eq!(asked("planner Node::on_1000", "brake"), [fast()]);
    assert_eq!(asked("on_1000", "/brake /plan Node::take"), [fast()]);
    assert_eq!(asked("callback:Node::on_3000", "/brake"), [slow]);
    // Its end is that of the callback that took the points, not the output of a timer.
    let kept = [("/lidar /points /planner".to_string(), turns(100, 130))];
    assert_eq!(asked("/lidar", "nav::Planner::on_points"), kept);
    assert_eq!(asked("/points", "on_points"), kept);
    // What the slow timer made of them.
    let slow = [("/lidar /points /planner /plan".to_string(), vec![(100, 410), (3_100, 3_410)])];
    assert_eq!(asked("/lidar timer 0.0005 ms", "/planner timer 0.003 ms"), slow);
}

#[test]
fn a_node_that_keeps_its_input_has_two_callbacks_on_the_path() {
    let tables = planner().tables();
    let callbacks = &chain(&tables, "/lidar /points /planner /plan /brake").callbacks;
    let expected = [
        "/lidar timer 0.0005 ms Node::on_500",
        "/planner /points nav::Planner::on_points",
        "/planner timer 0.001 ms Node::on_1000",
        "/brake /plan Node::take",
    ];
    assert_eq!(callbacks, &expected, "the slow timer made fewer of them");
}

#[test]
fn a_named_chain_has_callbacks_among_its_nodes() {
    let of = |nodes: &str| {
        let tables = planner().tables_with(&format!("chains: {{asked: {{nodes: [{nodes}]}}}}"));
        adds_up(&tables);
        let row = tables.chains.iter().position(|chain| chain.name == "asked").expect("a chain") as u32;
        tables.instances.iter().filter(|i| i.chain.number() == row).map(|i| (i.start_ns, i.end_ns)).collect::<Vec<_>>()
    };
    assert_eq!(of("/lidar, /planner, /brake").len(), 8);
    assert_eq!(of("/lidar, on_3000, /brake"), [(100, 440), (3_100, 3_440)]);
    assert_eq!(of("/lidar, on_1000, /brake"), turns(100, 280));
    assert_eq!(of("/lidar, on_points, /brake").len(), 8, "what it took, whichever timer uses it");
}

#[test]
fn a_callback_that_nobody_knows_is_said() {
    let tables = planner().tables_with("chains: {asked: {from: 'callback:reload', to: /brake}}");
    let note = tables.notes.iter().find(|note| note.name == "chain-not-found").expect("a note");
    assert_eq!(note.text, "chain asked: reload is no recorded callback");
}

#[test]
fn one_node_that_stands_for_a_process_of_many_has_its_chains_by_topic() {
    // As when tacho attaches to a container: camera, detector, display, and a planner that keeps objects for its timer.
    let s = System::new().node("container").publishes("/image").publishes("/objects").publishes("/plan");
    let s = s.timer(1_000).timer(2_000).takes("/image").takes("/objects").takes("/plan");
    let tables = s
        .times(TURNS, |s, k| {
            let t = 1_000 * k + 100;
            let s = s.fires("container", 1_000, (t, t + 20), &[("/image", t + 10)]);
            let s = s.took("container", ("/image", t + 10), (t + 30, t + 60), &[("/objects", t + 50)]);
            let s = s.took("container", ("/objects", t + 50), (t + 70, t + 90), &[]);
            let s = s.fires("container", 2_000, (t + 100, t + 120), &[("/plan", t + 110)]);
            s.took("container", ("/plan", t + 110), (t + 130, t + 140), &[])
        })
        .tables();
    let (seen, planned) = ("/container /image /container /objects /container", "/container /plan /container");
    // That the plan is made of the objects nothing shows.
    assert_eq!(paths(&tables), [seen, planned]);
    assert_eq!(
        (chain(&tables, seen).name.as_str(), chain(&tables, planned).name.as_str()),
        ("image to objects", "plan of container")
    );
    assert_eq!((instances(&tables, seen), instances(&tables, planned)), (turns(100, 190), turns(200, 240)));
    adds_up(&tables);
}
