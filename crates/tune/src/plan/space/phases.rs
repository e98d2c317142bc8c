//! Phases of timers: when in its period a node wakes, relative to the first node of the chain that the clock wakes.
//!
//! A node that holds the latest message of an input waits for up to a period for its next wake. If its timer is started
//! so that it fires when the message has come, it waits for hardly any time. A wake that comes before its message, by
//! however little, costs a whole period: a plan must leave room for what a system is off.

use tacho_workload::model::{Executor, Node, Workload};

/// Parts of a period that are tried: 0, 5 ... 95 %.
const STEPS: u32 = 20;

/// How far from its planned phase a system wakes a timer, ns, and how much farther for each ns since the start of the
/// period.
const OFF_NS: f64 = 0.3e6;
const OFF_BY_NS: f64 = 0.02;

/// The period with which the clock wakes a node, ns; `None` if there is none, or several, or if recorded times do.
fn period_ns(node: &Node) -> Option<f64> {
    let hz = match node.executor {
        Executor::Spin { hz } | Executor::Timer { hz } => hz,
        Executor::Arrival if node.publishes.iter().any(|p| !p.sent_at.is_empty()) => return None,
        Executor::Arrival => {
            let first = node.clock_rates().next()?;
            node.clock_rates().all(|hz| hz == first).then_some(first)?
        }
    };
    Some(1e9 / hz)
}

/// The node to which phases are relative: the first one of the chain that the clock wakes.
fn reference<'w>(workload: &'w Workload, chain: &[String]) -> Option<&'w Node> {
    chain.iter().filter_map(|name| workload.node(name)).find(|node| period_ns(node).is_some())
}

/// How long after the reference a node wakes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shift {
    /// The reference.
    after: String,
    /// Percent of the node's own period.
    percent: f64,
}

/// Phases to try for a node of the chain: none for the reference, and for nodes whose period is neither a multiple nor
/// a part of its, because then no phase lasts.
pub(super) fn shifts(workload: &Workload, chain: &[String], node: &Node) -> Vec<Shift> {
    let Some(reference) = reference(workload, chain).filter(|reference| reference.name != node.name) else {
        return vec![];
    };
    let (Some(own_ns), Some(of_reference_ns)) = (period_ns(node), period_ns(reference)) else { return vec![] };
    let times = own_ns.max(of_reference_ns) / own_ns.min(of_reference_ns);
    if !chain.contains(&node.name) || (times - times.round()).abs() > 1e-9 {
        return vec![];
    }
    let shift =
        |step: u32| Shift { after: reference.name.clone(), percent: 100.0 * f64::from(step) / f64::from(STEPS) };
    (0..STEPS).map(shift).collect()
}

/// States the phase of a node, and that of the reference if it has none.
pub(super) fn shift(workload: &mut Workload, node: &str, shift: &Shift) {
    let Some(reference) = workload.nodes.iter_mut().find(|of| of.name == shift.after) else { return };
    let phase_percent = *reference.phase_percent.get_or_insert(0.0);
    let reference_ns = period_ns(reference).map_or(0.0, |period_ns| period_ns * phase_percent / 100.0);
    let Some(of) = workload.nodes.iter_mut().find(|of| of.name == node) else { return };
    let Some(own_ns) = period_ns(of) else { return };
    let percent = (100.0 * reference_ns / own_ns + shift.percent) % 100.0;
    of.phase_percent = Some((percent * 1e6).round() / 1e6);
}

/// A workload in a repeat in which the system misses the phases of a plan: every other timer of the chain fires late,
/// and those between them fire early; in the next repeat it is the other way round. So each node's message comes late
/// to a timer that fires early. Phases that the workload states `as_it_is` are exact.
pub(in super::super) fn held(workload: &Workload, as_it_is: &Workload, chain: &[String], repeat: u32) -> Workload {
    let mut held = workload.clone();
    let stated = |of: &Workload, name: &str| of.node(name).and_then(|node| node.phase_percent);
    let planned = chain.iter().filter(|name| stated(workload, name) != stated(as_it_is, name));
    for (place, name) in (repeat..).zip(planned) {
        let Some(node) = held.nodes.iter_mut().find(|node| node.name == *name) else { continue };
        let Some((period_ns, percent)) = period_ns(node).zip(node.phase_percent) else { continue };
        let off_ns = OFF_NS + OFF_BY_NS * period_ns * percent / 100.0;
        let off_percent = 100.0 * off_ns / period_ns;
        let percent = if place % 2 == 0 { percent + off_percent } else { percent - off_percent };
        node.phase_percent = Some(percent.rem_euclid(100.0));
    }
    held
}

impl Shift {
    /// In words: `35 % of its period (35 ms) after lidar`.
    pub fn words(&self, node: &Node) -> String {
        let ms = period_ns(node).unwrap_or(0.0) / 1e6 * self.percent / 100.0;
        format!("wakes {:.0} % of its period ({ms:.2} ms) after {}", self.percent, self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(text: &str) -> Workload {
        tacho_workload::parse(text, "test.yaml").unwrap_or_else(|e| panic!("{e}")).0
    }

    const CHAIN: &str = "
nodes:
  lidar:   {phase: 90 %, publishes: {/points: {rate: 10 Hz}}}
  filter:  {subscribes: [/points], publishes: [/objects]}
  planner: {on: timer 20 Hz, subscribes: [/objects], publishes: [/path]}
  control: {on: timer 30 Hz, subscribes: [/path], publishes: [/wheel]}
  odd:     {on: timer 33 Hz, subscribes: [/wheel]}
chains: {chain: [lidar, filter, planner, control, odd]}
";

    #[test]
    fn timers_with_multiples_of_a_period_have_phases_relative_to_the_first_of_the_chain() {
        let workload = workload(CHAIN);
        let chain = &workload.chains[0].nodes;
        let count = |node: &str| shifts(&workload, chain, workload.node(node).expect("a node")).len();
        let counts = ["lidar", "filter", "planner", "control", "odd"].map(count);
        assert_eq!(counts, [0, 0, STEPS as usize, STEPS as usize, 0]);
    }

    #[test]
    fn a_phase_counts_from_that_of_the_reference() {
        let mut of = workload(CHAIN);
        let by = Shift { after: "lidar".into(), percent: 30.0 };
        shift(&mut of, "planner", &by);
        // 90 ms and 15 ms after the start, of periods of 50 ms.
        let planner = of.node("planner").expect("a node");
        assert_eq!((planner.phase_percent, of.nodes[0].phase_percent), (Some(10.0), Some(90.0)));
        assert_eq!(by.words(planner), "wakes 30 % of its period (15.00 ms) after lidar");
        let mut of = workload(&CHAIN.replace("phase: 90 %, ", ""));
        shift(&mut of, "planner", &by);
        assert_eq!((of.nodes[2].phase_percent, of.nodes[0].phase_percent), (Some(30.0), Some(0.0)));
    }

    #[test]
    fn messages_of_a_plan_come_late_to_timers_that_fire_early() {
        let as_it_is = workload(CHAIN);
        let chain = &as_it_is.chains[0].nodes;
        let mut planned = as_it_is.clone();
        shift(&mut planned, "planner", &Shift { after: "lidar".into(), percent: 30.0 });
        shift(&mut planned, "control", &Shift { after: "lidar".into(), percent: 60.0 });
        let percent = |of: &Workload, node: &str| of.node(node).and_then(|node| node.phase_percent).unwrap();
        let off = |repeat: u32, node: &str, period_ms: f64| {
            let held = held(&planned, &as_it_is, chain, repeat);
            let off_ms = (percent(&held, node) - percent(&planned, node)) / 100.0 * period_ms;
            (off_ms * 1e3).round() / 1e3
        };
        // 5 ms after the start of its period, and 10 ms (90 and 20 ms after that of the LiDAR, in periods of 33.3 ms).
        let (planner_ms, control_ms) = (0.3 + 0.02 * 5.0, 0.3 + 0.02 * 10.0);
        assert_eq!([0, 1, 2].map(|repeat| off(repeat, "planner", 50.0)), [planner_ms, -planner_ms, planner_ms]);
        assert_eq!([0, 1].map(|repeat| off(repeat, "control", 1e3 / 30.0)), [-control_ms, control_ms]);
        // The workload itself states when the LiDAR fires.
        assert_eq!(off(0, "lidar", 100.0), 0.0);
    }
}
