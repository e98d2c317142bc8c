//! Paths that come back to the node where they began: cut there, an instance is a round trip.

mod system;

use system::*;

/// Two timers' worth of pings a turn, of different length, answered by one node; the last callback works for a while.
fn ping_pong() -> System {
    let system = System::new().node("ping").publishes("/high_ping").publishes("/low_ping").timer(1_000);
    let system = system.takes("/high_pong").takes("/low_pong").node("pong").takes("/high_ping").takes("/low_ping");
    let system = system.publishes("/high_pong").publishes("/low_pong");
    system.times(6, |s, k| {
        let t = 1_000 * k + 100;
        let s = s.fires("ping", 1_000, (t, t + 6), &[("/high_ping", t + 2), ("/low_ping", t + 4)]);
        let s = s.took("pong", ("/high_ping", t + 2), (t + 10, t + 40), &[("/high_pong", t + 35)]);
        let s = s.took("pong", ("/low_ping", t + 4), (t + 50, t + 90 + k), &[("/low_pong", t + 80 + k)]);
        let s = s.took("ping", ("/high_pong", t + 35), (t + 45, t + 60), &[]);
        s.took("ping", ("/low_pong", t + 80 + k), (t + 95 + k, t + 99 + k), &[])
    })
}

const HIGH: &str = "/ping /high_ping /pong /high_pong /ping";
const LOW: &str = "/ping /low_ping /pong /low_pong /ping";

#[test]
fn a_ping_and_its_pong_are_a_round_trip_from_the_timer_to_the_callback_that_takes_the_answer() {
    let tables = ping_pong().tables();
    assert_eq!(paths(&tables), [HIGH, LOW]);
    let turns = || (0..6).map(|k| (k, 1_000 * k + 100));
    assert_eq!(instances(&tables, HIGH), turns().map(|(_, t)| (t, t + 45)).collect::<Vec<_>>());
    assert_eq!(instances(&tables, LOW), turns().map(|(k, t)| (t, t + 95 + k)).collect::<Vec<_>>());
    for instance in &tables.instances {
        let parts = instance.parts();
        let sum = parts.computation + parts.transport + parts.queueing;
        let kept = parts.kept.unwrap_or(0) + parts.alignment.unwrap_or(0) + parts.preemption.unwrap_or(0);
        assert_eq!(sum + kept, instance.end_to_end_ns);
    }
    // Until the publish calls: 2 of the ping and 25 of the pong, and nothing of the callback that takes the answer.
    let high = tables.chains.iter().position(|c| c.path.join(" ") == HIGH).expect("high") as u32;
    assert!(tables.instances.iter().filter(|i| i.chain.number() == high).all(|i| i.computation_ns == 27));
    assert!(tables.chains.iter().all(|chain| chain.lost == 0 && chain.guessed_at.is_empty()), "{:?}", tables.chains);
    assert_eq!(tables.chains.iter().filter(|chain| chain.critical).count(), 1);
}

#[test]
fn the_way_back_can_be_asked_for() {
    let stated = "chains: {there and back: {from: /high_ping, to: /ping}}";
    let tables = ping_pong().tables_with(stated);
    let asked: Vec<_> = tables.chains.iter().filter(|chain| chain.name == "there and back").collect();
    assert_eq!(asked.iter().map(|chain| chain.path.join(" ")).collect::<Vec<_>>(), [HIGH], "{:?}", tables.notes);
    assert_eq!(instances(&tables, HIGH).len(), 6);
}

#[test]
fn a_pipeline_that_feeds_itself_goes_round_from_the_node_that_began() {
    let system = System::new().node("second").takes("/b").publishes("/a");
    let system = system.node("first").takes("/a").publishes("/b").sends("first", &[("/b", 50)]);
    let system = system.times(5, |s, k| {
        let t = 1_000 * k + 100;
        let sent = if k == 0 { 50 } else { t - 1_000 + 700 };
        let s = s.took("second", ("/b", sent), (t, t + 310), &[("/a", t + 300)]);
        s.took("first", ("/a", t + 300), (t + 400, t + 710), &[("/b", t + 700)])
    });
    let path = "/first /b /second /a /first";
    let tables = system.tables();
    assert_eq!(paths(&tables), [path]);
    // From one callback of the first to its next; what began outside of callbacks has its publish call in its place.
    let expected = [(50, 500), (500, 1_500), (1_500, 2_500), (2_500, 3_500), (3_500, 4_500)];
    assert_eq!(instances(&tables, path), expected);
}
