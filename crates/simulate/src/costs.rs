//! What middleware and machine take beside the work of callbacks: measured in runs, by topic, size and fan-out.

use crate::awake::{NodeCost, TIMER_SLACK_NS};
use crate::reach::Reach;
use crate::spread::Spread;
use crate::transfer::{Found, Receiving, Transfer};
use crate::warmth::Warmth;
use serde::{Deserialize, Serialize};

/// A size or a number of subscriptions this many times beyond what was measured is not known.
const BEYOND: f64 = 2.0;
/// Transits of two sizes that differ by more: what messages between them take is not known, because a transport may
/// change its way at some size (shared memory to fragments, say).
const FAR_APART: f64 = 4.0;

/// Costs of a middleware on a machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Where they were measured: run directories.
    pub from: Vec<String>,
    /// Middleware and transport that they are of; empty if nothing was measured.
    pub middleware: String,
    /// Its transport.
    pub transport: String,
    /// CPUs of that machine.
    pub cpus: u32,
    /// What others used of its CPUs meanwhile, on the average.
    pub others_cpus: f64,
    /// Part of the CPU time that was asked for and the hypervisor gave to others meanwhile, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_percent: Option<f64>,
    /// CPU time of the nodes and their middleware, percent of one CPU; absent if it is not known of each process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<f64>,
    /// Messages, by topic and run.
    pub transfers: Vec<Transfer>,
    /// Mean time between publish calls in the run in which it was shortest, ns; 0 if it is not known.
    #[serde(default)]
    pub pause_ns: i64,
    /// What is left of these costs if the system sent something shortly before, the longest pause last; empty if no
    /// run shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warmth: Vec<Warmth>,
    /// From a timer's due time to its callback, on an idle CPU.
    pub timer: Spread,
    /// From a message's arrival to its callback, on an idle CPU, without `take_ns`.
    pub wake_up: Spread,
    /// CPU time from the end of one callback to the start of the next that its thread found in the same look, ns.
    pub take_ns: i64,
    /// CPU time of a new look, without `take_ns`, ns; absent if no run shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_ns: Option<i64>,
    /// The same of single nodes of a recording, in the order of their names; those that are not here take what all
    /// take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_nodes: Vec<NodeCost>,
    /// Wake-ups of spinning nodes, by their rate.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// What tasks compute, by callback.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskCost>,
}

/// A wake-up that finds nothing to do (study E's callback check). A seldom one costs more, because other threads had
/// the caches meanwhile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Wake-ups a second.
    pub hz: f64,
    /// CPU time of one, ns.
    pub cpu_ns: i64,
}

/// What a task computes in one of its callbacks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskCost {
    /// What the callback is registered as: `/control on /trajectory`.
    pub callback: String,
    /// CPU time of an activation without its publish calls; wall time if the run does not have CPU times.
    pub work: Spread,
}

/// A latency, and what was assumed of it if no run shows it, in words.
pub(crate) type Latency = (Spread, Option<String>);

impl Costs {
    /// From a message's arrival to its callback, on an idle CPU: without any measured, that of timers less their slack.
    pub(crate) fn of_messages(&self) -> Latency {
        if !self.wake_up.is_empty() || self.timer.is_empty() {
            return (self.wake_up.clone(), None);
        }
        let text = "no run shows how long a message takes to wake its node (none slept there until one came): \
                    simulated as that of timers, less the 50 us by which the kernel may delay them";
        (self.timer.map(|ns| (ns - TIMER_SLACK_NS).max(0)), Some(text.into()))
    }

    /// From a timer's due time to its callback, on an idle CPU: without any measured, that of messages and the slack.
    pub(crate) fn of_timers(&self) -> Latency {
        if !self.timer.is_empty() || self.wake_up.is_empty() {
            return (self.timer.clone(), None);
        }
        let text = "no run shows how late timers are: simulated as the wake-up by a message, and the 50 us by which \
                    the kernel may delay timers";
        (self.wake_up.map(|ns| ns + TIMER_SLACK_NS), Some(text.into()))
    }

    /// What a recording shows of this node.
    pub(crate) fn of_node(&self, node: &str) -> Option<&NodeCost> {
        let place = self.of_nodes.binary_search_by(|of| of.node.as_str().cmp(node)).ok()?;
        Some(&self.of_nodes[place])
    }

    /// CPU time from one callback of a node to the next, ns.
    pub(crate) fn take_ns_of(&self, node: &str) -> i64 {
        self.of_node(node).map_or(self.take_ns, |of| of.take_ns)
    }

    /// CPU time of a wake-up of a node that spins at this rate, ns, interpolated between the measured rates on a
    /// logarithmic scale; beyond them that of the nearest rate. The text says why it cannot be trusted.
    pub(crate) fn check(&self, hz: f64) -> (i64, Option<String>) {
        let nearest = |is_side: &dyn Fn(f64) -> bool| {
            let side = self.checks.iter().filter(|check| is_side(check.hz));
            side.min_by(|a, b| ratio(a.hz, hz).total_cmp(&ratio(b.hz, hz)))
        };
        let (below, above) = (nearest(&|of| of <= hz), nearest(&|of| of >= hz));
        match (below, above) {
            (Some(below), Some(above)) if below.hz < above.hz => {
                let at = (hz / below.hz).ln() / (above.hz / below.hz).ln();
                (below.cpu_ns + ((above.cpu_ns - below.cpu_ns) as f64 * at).round() as i64, None)
            }
            (Some(only), _) | (None, Some(only)) => {
                let text = || {
                    let measured = only.hz;
                    format!("no run shows what wake-ups at {hz:.0} Hz cost: each takes as long as at {measured:.0} Hz")
                };
                (only.cpu_ns, (ratio(only.hz, hz) > BEYOND).then(text))
            }
            (None, None) => (0, None),
        }
    }

    /// Why what messages cost is not known if a system sends them this far apart on the average, in words.
    pub(crate) fn beyond_pause(&self, mean_ns: i64) -> Option<String> {
        let (mean_ms, least_ms) = (mean_ns as f64 / 1e6, self.pause_ns as f64 / 1e6);
        let text = format!(
            "messages are sent {mean_ms:.2} ms apart on the average; measured were those {least_ms:.2} ms apart or \
             more, and no run shows how much less they cost (workloads/costs-by-rate.yaml)"
        );
        (mean_ms * BEYOND < least_ms).then_some(text)
    }

    /// What a task computes in a callback; absent if no run shows it.
    pub fn of_task(&self, callback: &str) -> Option<&Spread> {
        self.tasks.iter().find(|of| of.callback == callback).map(|of| &of.work).filter(|work| !work.is_empty())
    }

    /// Costs of messages of a topic: its own if it was measured as it is; otherwise between those of the next smaller
    /// and the next larger messages that go as far, of topics with the most similar fan-out. `reach`: how far they go
    /// to each subscription.
    pub fn of_topic(&self, topic: &str, size_bytes: u64, reach: &[Reach]) -> Found {
        let is_same = |of: &&Transfer| of.topic == topic && of.size_bytes == size_bytes && of.is_to(reach);
        let mut found = match self.transfers.iter().find(is_same) {
            Some(own) => own.at_rest(&self.warmth).found(reach.len()),
            None => {
                let asked = Reach::ALL.into_iter().filter(|kind| reach.contains(kind));
                let similar = asked.map(|kind| (kind, self.similar(topic, size_bytes, reach.len(), kind)));
                Found::joined(similar.collect(), reach)
            }
        };
        for (to, kind) in found.to.iter_mut().zip(reach).filter(|(to, _)| to.wake_up.is_empty()) {
            to.wake_up = self.wake_up_by(size_bytes, *kind);
        }
        found
    }

    /// From the arrival to the callback, of messages of about this size, if some of this reach show it.
    fn wake_up_by(&self, size_bytes: u64, kind: Reach) -> Spread {
        let measured = || self.transfers.iter().filter(|of| !of.wake_up.is_empty() && of.has(kind));
        let of_size = |size: u64| {
            let mut all: Vec<Spread> =
                measured().filter(|of| of.size_bytes == size).map(|of| of.at_rest(&self.warmth).wake_up).collect();
            all.sort_by_key(|wake_up| wake_up.quantile(0.5));
            let median = all.len() / 2;
            (size, all.swap_remove(median))
        };
        let (below, above) = around(measured().map(|of| of.size_bytes), size_bytes);
        match (below.map(of_size), above.map(of_size)) {
            (Some((least, below)), Some((most, above))) if least < most => {
                below.towards(&above, (size_bytes - least) as f64 / (most - least) as f64)
            }
            (Some((_, of)), _) | (None, Some((_, of))) => of,
            (None, None) => Spread::default(),
        }
    }

    /// Costs of similar topics, to subscriptions of this reach.
    fn similar(&self, topic: &str, size_bytes: u64, subscriptions: usize, asked: Reach) -> Found {
        let apart = |of: &Transfer| ratio(of.subscriptions.max(1) as f64, subscriptions.max(1) as f64);
        let all = || self.transfers.iter().filter(|of| of.subscriptions > 0);
        let kind = asked.nearest().into_iter().find(|kind| all().any(|of| of.has(*kind))).unwrap_or(asked);
        let measured = || all().filter(|of| of.has(kind));
        let Some(nearest) = measured().map(apart).min_by(f64::total_cmp) else {
            let text = format!("{topic}: no message was measured, so its transport takes no time here");
            return Found { to: vec![Receiving::default(); subscriptions], beyond: Some(text), ..Found::default() };
        };
        let similar = || measured().filter(|of| apart(of) <= nearest);
        let sizes = || similar().map(|of| of.size_bytes);
        let typical = |size: u64| {
            let of_size = similar().filter(|of| of.size_bytes == size).map(|of| of.at_rest(&self.warmth));
            Transfer::typical(of_size, kind)
        };
        let (below, above) = around(sizes(), size_bytes);
        let (below, above) = (below.map(typical), above.map(typical));
        let is_between = |below: &Transfer, above: &Transfer| below.size_bytes < above.size_bytes;
        let transfer = match (&below, &above) {
            (Some(below), Some(above)) if is_between(below, above) => {
                let at = (size_bytes - below.size_bytes) as f64 / (above.size_bytes - below.size_bytes) as f64;
                below.towards(above, at)
            }
            (Some(of), _) | (None, Some(of)) => of.clone(),
            (None, None) => Transfer::default(),
        };
        let of_reach = || {
            let (asked, measured) = (asked.words(), kind.words());
            let text = format!("no message {asked} was measured, so it takes as long as {measured}");
            (measured != asked).then_some(text)
        };
        let of_size = || match (&below, &above) {
            (Some(below), Some(above)) => {
                let transit = |of: &Transfer| of.transit_to(0, 1).mean_ns();
                let text = format!(
                    "messages of {size_bytes} B; of {} and {} B the transit differs by more than {FAR_APART:.0} times, \
                     and no run shows where it rises",
                    below.size_bytes, above.size_bytes
                );
                let is_step = ratio(transit(below), transit(above)) > FAR_APART;
                (is_between(below, above) && is_step).then_some(text)
            }
            (one, other) => {
                let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
                let is_far = |of: &Transfer| ratio(of.size_bytes as f64, size_bytes as f64) > BEYOND;
                let is_beyond = one.as_ref().or(other.as_ref()).is_none_or(is_far);
                is_beyond.then(|| format!("messages of {size_bytes} B; measured were {least} to {most} B"))
            }
        };
        let of_fan_out = || {
            let text = format!(
                "{subscriptions} subscriptions; the most similar topic that was measured has {nearest:.0} times more \
                 or fewer"
            );
            (nearest > BEYOND).then_some(text)
        };
        let beyond = of_reach().or_else(of_size).or_else(of_fan_out).map(|text| format!("{topic}: {text}"));
        Found { beyond, ..transfer.found(subscriptions) }
    }
}

/// The next smaller and the next larger of some sizes, or the size itself.
fn around(sizes: impl Iterator<Item = u64>, size: u64) -> (Option<u64>, Option<u64>) {
    sizes.fold((None, None), |(below, above), of| {
        let nearer_below = (of <= size).then_some(of).max(below);
        let nearer_above = [above, (of >= size).then_some(of)].into_iter().flatten().min();
        (nearer_below, nearer_above)
    })
}

fn ratio(a: f64, b: f64) -> f64 {
    let (a, b) = (a.max(1.0), b.max(1.0));
    (a / b).max(b / a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(topic: &str, size_bytes: u64, subscriptions: usize, send_ns: i64) -> Transfer {
        let transit = vec![Spread::fixed(10 * send_ns); subscriptions];
        Transfer {
            topic: topic.into(),
            size_bytes,
            subscriptions,
            send: Spread::fixed(send_ns),
            transit,
            ..Default::default()
        }
    }

    #[test]
    fn a_latency_that_no_run_shows_is_not_zero_but_assumed() {
        let (timer, wake_up) = (Spread::of(vec![40_000, 110_000]), Spread::of(vec![60_000]));
        let costs = |timer: &Spread, wake_up: &Spread| Costs {
            timer: timer.clone(),
            wake_up: wake_up.clone(),
            ..Costs::default()
        };
        let none = Spread::default();
        let (assumed, why) = costs(&timer, &none).of_messages();
        assert_eq!(assumed.quantiles_ns, [0, 60_000]);
        assert!(why.is_some_and(|why| why.contains("wake its node")));
        let (assumed, why) = costs(&none, &wake_up).of_timers();
        assert_eq!(assumed.quantiles_ns, [110_000]);
        assert!(why.is_some_and(|why| why.contains("how late timers are")));
        let both = costs(&timer, &wake_up);
        assert_eq!((both.of_messages(), both.of_timers()), ((wake_up, None), (timer, None)));
        // Without any costs, nothing takes time.
        assert_eq!(Costs::default().of_messages(), (none, None));
    }

    #[test]
    fn wake_ups_cost_what_those_of_rates_around_cost() {
        let checks = [(500.0, 20_000), (10.0, 80_000)].map(|(hz, cpu_ns)| Check { hz, cpu_ns }).to_vec();
        let costs = Costs { checks, ..Costs::default() };
        let half_way = (10.0f64 * 500.0).sqrt();
        assert_eq!([10.0, half_way, 500.0, 980.0].map(|hz| costs.check(hz).0), [80_000, 50_000, 20_000, 20_000]);
        assert_eq!([20.0, 980.0, 5.0].map(|hz| costs.check(hz).1), [None, None, None]);
        assert!(costs.check(2_000.0).1.is_some_and(|text| text.contains("as at 500 Hz")));
        assert_eq!(Costs::default().check(10.0), (0, None));
    }

    #[test]
    fn a_topic_has_its_own_costs_and_others_those_of_sizes_around_them() {
        let transfers = vec![transfer("/a", 64, 1, 10), transfer("/b", 64, 1, 20), transfer("/c", 1064, 1, 70)];
        let costs = Costs { transfers, ..Costs::default() };
        let send = |topic, size, count| {
            let found = costs.of_topic(topic, size, &vec![Reach::Host; count]);
            assert_eq!(found.to.len(), count);
            (found.send.mean_ns() as i64, found.beyond.is_some())
        };
        assert_eq!(send("/b", 64, 1), (20, false));
        assert_eq!(send("/new", 64, 1), (20, false)); // of two of that size the one with the longer transit
                                                      // Half-way between the two of its size and the one of 1064 bytes.
        assert!(matches!(send("/a", 564, 1), (45, false)), "{:?}", send("/a", 564, 1));
        assert_eq!(send("/a", 1_000_000, 1), (70, true));
        assert!(send("/a", 64, 31).1);
        let none = Costs::default().of_topic("/a", 64, &[Reach::Host]);
        assert!(none.beyond.is_some_and(|text| text.contains("/a")) && none.send.is_empty());
    }

    #[test]
    fn a_wake_up_is_that_of_messages_of_about_the_size() {
        let with = |size_bytes, us: i64| Transfer { wake_up: Spread::fixed(us), ..transfer("/a", size_bytes, 1, 10) };
        let to_many = transfer("/many", 1064, 4, 10);
        let seldom = transfer("/seldom", 2064, 1, 10);
        let costs = Costs { transfers: vec![with(64, 100), with(1064, 300), to_many, seldom], ..Costs::default() };
        let wake_ups = |topic, size_bytes, reach: &[Reach]| {
            let found = costs.of_topic(topic, size_bytes, reach);
            found.to.iter().map(|to| to.wake_up.quantile(0.5)).collect::<Vec<_>>()
        };
        assert_eq!(wake_ups("/a", 64, &[Reach::Host]), [100]);
        assert_eq!(wake_ups("/new", 564, &[Reach::Host]), [200]);
        // Those of messages that fill the CPUs have waits for a CPU.
        assert_eq!(wake_ups("/many", 1064, &[Reach::Host; 4]), [300; 4]);
        assert_eq!(wake_ups("/a", 64, &[Reach::Process]), [100], "as its other costs");
        // Too few messages of a larger topic show it: it is not taken as 0 there.
        assert_eq!(wake_ups("/new", 1564, &[Reach::Host]), [300]);
    }

    #[test]
    fn messages_within_a_process_have_costs_of_their_own() {
        let inside = Transfer { reach: vec![Reach::Process; 2], ..transfer("/a", 64, 2, 1) };
        let costs = Costs { transfers: vec![transfer("/a", 64, 2, 10), inside], ..Costs::default() };
        let transits = |topic, reach: &[Reach]| {
            let found = costs.of_topic(topic, 64, reach);
            assert_eq!(found.beyond, None);
            (found.send.mean_ns(), found.to.iter().map(|to| to.transit.mean_ns()).collect::<Vec<_>>())
        };
        for topic in ["/a", "/like-it"] {
            assert_eq!(transits(topic, &[Reach::Host; 2]), (10.0, vec![100.0, 100.0]));
            assert_eq!(transits(topic, &[Reach::Process; 2]), (1.0, vec![10.0, 10.0]));
            assert_eq!(transits(topic, &[Reach::Process, Reach::Host]), (10.0, vec![10.0, 100.0]));
        }
        // Of a topic that was measured with both, each part stands for such messages.
        let transit = vec![Spread::fixed(7), Spread::fixed(70)];
        let both = Transfer { reach: vec![Reach::Process, Reach::Host], transit, ..transfer("/b", 64, 2, 3) };
        let costs = Costs { transfers: vec![both], ..Costs::default() };
        let transit = |reach| costs.of_topic("/c", 64, &[reach]).to[0].transit.mean_ns();
        assert_eq!([Reach::Process, Reach::Host].map(transit), [7.0, 70.0]);
        // A subscription that no message reached is no measurement of its kind.
        let transit = vec![Spread::default(), Spread::fixed(70)];
        let both = Transfer { reach: vec![Reach::Process, Reach::Host], transit, ..transfer("/b", 64, 2, 3) };
        let costs = Costs { transfers: vec![both], ..Costs::default() };
        assert!(costs.of_topic("/c", 64, &[Reach::Process]).beyond.is_some());
        assert_eq!(costs.of_topic("/b", 64, &[Reach::Process, Reach::Host]).to[1].transit.mean_ns(), 70.0);
        // What was not measured is not made up in silence.
        let costs = Costs { transfers: vec![transfer("/a", 64, 1, 10)], ..Costs::default() };
        let found = costs.of_topic("/a", 64, &[Reach::Process]);
        assert_eq!(found.to[0].transit.mean_ns(), 100.0);
        assert!(found.beyond.is_some_and(|text| text.contains("no message within a process was measured")));
    }

    #[test]
    fn messages_between_hosts_have_costs_of_their_own() {
        let network = Transfer { reach: vec![Reach::Network], ..transfer("/a", 64, 1, 50) };
        let costs = Costs { transfers: vec![network.clone(), transfer("/b", 64, 1, 10)], ..Costs::default() };
        let transit = |costs: &Costs, reach| costs.of_topic("/c", 64, &[reach]).to[0].transit.mean_ns();
        assert_eq!([Reach::Network, Reach::Host].map(|reach| transit(&costs, reach)), [500.0, 100.0]);
        let alone = Costs { transfers: vec![network], ..Costs::default() };
        assert_eq!(transit(&alone, Reach::Host), 500.0);
        let doubt = alone.of_topic("/c", 64, &[Reach::Host]).beyond;
        assert!(doubt.is_some_and(|text| text.contains("as long as between hosts")));
    }

    #[test]
    fn where_between_two_sizes_the_transit_rises_is_not_known() {
        let of = |large_ns| {
            let transfers = vec![transfer("/a", 64, 1, 10), transfer("/b", 1_000_000, 1, large_ns)];
            Costs { transfers, ..Costs::default() }.of_topic("/c", 300_000, &[Reach::Host]).beyond
        };
        assert_eq!(of(35), None);
        assert!(of(50).is_some_and(|text| text.contains("no run shows where it rises")));
    }
}
