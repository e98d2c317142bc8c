//! Reactions to obstacles that came into the way of a car, stage by stage, from the signals of its tasks
//! (docs/drive.md, "Reactions").

use crate::figures::Repeat;
use std::collections::BTreeMap;
use tacho_tables::row::{numbered, Row};
use tacho_tables::summary::{ReactionFigures, ReactionStage};
use tacho_tables::{length, Node, Sample, Signal, Tables};

/// A slower car reacts to nothing.
const LEAST_SPEED: f64 = 1.0;
/// What is further away does not come suddenly.
const MOST_FREE_WAY_M: f64 = 60.0;
/// The free way shortens by more than this at once: something else came into the way.
const SUDDEN_M: f64 = 1.0;
/// An object this near to an obstacle is that obstacle.
const NEAR_M: f64 = 2.0;
/// Braking, m/s^2.
const BRAKING: f64 = -0.5;
/// Standing, m/s.
const STANDING: f64 = 0.05;
/// An obstacle that the world reported so shortly before the car is the one that came into its way.
const WORLD_BEFORE_NS: i64 = 100_000_000;

/// Those of all repeats.
pub(crate) fn figures(repeats: &[Repeat<'_>]) -> Vec<ReactionFigures> {
    repeats.iter().flat_map(|repeat| of_run(repeat.tables)).collect()
}

fn of_run(tables: &Tables) -> Vec<ReactionFigures> {
    let signals = Signals::of(tables);
    let Some(car) = signals.of_task("vehicle", "obstacle_gap") else { return Vec::new() };
    let (times, speeds) = (signals.of_node(car, "x"), signals.of_node(car, "speed"));
    let mut found = Vec::new();
    let mut busy_until = i64::MIN;
    let mut before: Option<&Sample> = None;
    for gap in signals.of_node(car, "obstacle_gap") {
        // The state before this one: without a free way, nothing was in the way then.
        let last = times.partition_point(|time| time.at_ns < gap.at_ns).checked_sub(1).map(|at| times[at].at_ns);
        let was = before.filter(|before| Some(before.at_ns) == last).map(|before| before.value);
        before = Some(gap);
        let is_new = last.is_some() && was.is_none_or(|was| was - gap.value > SUDDEN_M);
        let speed = value_at(&speeds, gap.at_ns).unwrap_or(0.0);
        if !is_new || gap.at_ns <= busy_until || speed < LEAST_SPEED || gap.value > MOST_FREE_WAY_M {
            continue;
        }
        let (reaction, until) = signals.reaction(car, gap, speed);
        busy_until = until;
        found.push(reaction);
    }
    found
}

/// Samples by signal.
struct Signals<'a> {
    tables: &'a Tables,
    samples: BTreeMap<Row<Signal>, Vec<&'a Sample>>,
}

impl<'a> Signals<'a> {
    fn of(tables: &'a Tables) -> Signals<'a> {
        let mut samples: BTreeMap<Row<Signal>, Vec<&Sample>> = BTreeMap::new();
        tables.samples.iter().for_each(|sample| samples.entry(sample.signal).or_default().push(sample));
        Signals { tables, samples }
    }

    fn of_task(&self, task: &str, name: &str) -> Option<Row<Node>> {
        let wanted = |signal: &&Signal| signal.task == task && signal.name == name;
        self.tables.signals.iter().find(wanted).map(|signal| signal.node)
    }

    fn of_node(&self, node: Row<Node>, name: &str) -> Vec<&'a Sample> {
        let found = numbered(&self.tables.signals).find(|(_, signal)| signal.node == node && signal.name == name);
        found.and_then(|(row, _)| self.samples.get(&row)).cloned().unwrap_or_default()
    }

    /// Nodes that report a signal of this name.
    fn nodes<'s>(&'s self, name: &'s str) -> impl Iterator<Item = Row<Node>> + 's {
        self.tables.signals.iter().filter(move |signal| signal.name == name).map(|signal| signal.node)
    }

    /// The first of what nodes reported of a signal from an instant on that is as wanted.
    fn first(&self, name: &str, from_ns: i64, wanted: impl Fn(f64) -> bool) -> Option<(i64, Row<Node>)> {
        let of_node = |node| {
            let samples = self.of_node(node, name);
            let sample = samples.iter().find(|sample| sample.reported_ns >= from_ns && wanted(sample.value))?;
            Some((sample.reported_ns, node))
        };
        self.nodes(name).filter_map(of_node).min_by_key(|(at, _)| *at)
    }

    /// The reaction to what a sample of the free way shows, and when it ended.
    fn reaction(&self, car: Row<Node>, gap: &Sample, speed: f64) -> (ReactionFigures, i64) {
        let at_ns = self.appeared(gap.at_ns);
        let free_way_m = gap.value + speed * (gap.at_ns - at_ns) as f64 * 1e-9;
        let name = |node: Row<Node>| self.tables.nodes[node].name.clone();
        let after_ms = |ns: i64| (ns - at_ns) as f64 / 1e6;
        let mut stages = Vec::new();
        let mut stage = |stage: &str, (ns, node): (i64, Row<Node>)| {
            stages.push(ReactionStage { stage: stage.into(), node: name(node), after_ms: after_ms(ns) });
        };
        let sightings = self.sightings(car, at_ns, free_way_m);
        if let Some((sensed, _, node)) = sightings.first() {
            stage("sensed", (*sensed, *node));
        }
        sightings.iter().for_each(|(_, found, node)| stage("found", (*found, *node)));
        let found = sightings.first().map(|(_, found, _)| *found);
        let planned = found.and_then(|from| self.first("stops", from, |value| value != 0.0));
        planned.into_iter().for_each(|planned| stage("planned", planned));
        let from = planned.map_or(found.unwrap_or(at_ns), |(at, _)| at);
        let commanded = self.first("acceleration_command", from, |value| value < BRAKING);
        commanded.into_iter().for_each(|commanded| stage("commanded", commanded));
        let from = commanded.map_or(from, |(at, _)| at);
        let braking = first_at(&self.of_node(car, "acceleration"), from, |value| value < BRAKING);
        braking.into_iter().for_each(|ns| stage("braking", (ns, car)));
        let speeds = self.of_node(car, "speed");
        let standing = braking.and_then(|from| first_at(&speeds, from, |value| value.abs() < STANDING));
        standing.into_iter().for_each(|ns| stage("standing", (ns, car)));
        let reaction = ReactionFigures {
            node: name(car),
            at_ns,
            speed_m_per_s: speed,
            free_way_m,
            reaction_ms: braking.map(after_ms),
            reaction_way_m: braking.map(|ns| way(&speeds, at_ns, ns)),
            stop_way_m: standing.map(|ns| way(&speeds, at_ns, ns)),
            margin_m: standing.and_then(|ns| value_at(&self.of_node(car, "obstacle_gap"), ns)),
            stages,
        };
        (reaction, standing.unwrap_or(gap.at_ns))
    }

    /// When the world reported more obstacles than before, if that was just before the car noticed; else when it did.
    fn appeared(&self, noticed_ns: i64) -> i64 {
        let Some(world) = self.of_task("world", "obstacles") else { return noticed_ns };
        let counts = self.of_node(world, "obstacles");
        let mut grows = counts.windows(2).filter(|pair| pair[1].value > pair[0].value).map(|pair| pair[1].at_ns);
        grows.rfind(|at| (noticed_ns - WORLD_BEFORE_NS..=noticed_ns).contains(at)).unwrap_or(noticed_ns)
    }

    /// Who found the obstacle in the way first: when it was sensed, when it was found, and by which node; in the order
    /// in which they found it.
    fn sightings(&self, car: Row<Node>, at_ns: i64, free_way_m: f64) -> Vec<(i64, i64, Row<Node>)> {
        let Some(obstacle) = self.obstacle(car, at_ns, free_way_m) else { return Vec::new() };
        let sighting = |node| {
            let (x, y) = (self.of_node(node, "object_x"), self.of_node(node, "object_y"));
            let mut objects = x.iter().zip(y);
            // A scan may rest on a state of the car that is a little older than the obstacle.
            let found = objects.find(|(x, y)| {
                let place = obstacle.place(x.at_ns.max(at_ns));
                let apart = place.map(|(of_x, of_y)| length(x.value - of_x, y.value - of_y));
                x.reported_ns >= at_ns && apart.is_some_and(|apart| apart <= NEAR_M)
            });
            found.map(|(x, _)| (x.at_ns.max(at_ns), x.reported_ns, node))
        };
        let mut all: Vec<_> = self.nodes("object_x").filter_map(sighting).collect();
        all.sort_by_key(|(_, found, node)| (*found, *node));
        all
    }

    /// The obstacle whose distance from the car is that free way, but for half the car and itself.
    fn obstacle(&self, car: Row<Node>, at_ns: i64, free_way_m: f64) -> Option<Obstacle<'a>> {
        let world = self.of_task("world", "obstacle_x")?;
        let (x, y) = (self.of_node(world, "obstacle_x"), self.of_node(world, "obstacle_y"));
        let (car_x, car_y) = (self.of_node(car, "x"), self.of_node(car, "y"));
        let at = car_x.partition_point(|sample| sample.at_ns < at_ns).min(car_x.len().checked_sub(1)?);
        let most = x.iter().map(|sample| sample.entry).max()?;
        let of_entry =
            |samples: &[&'a Sample], entry: u32| samples.iter().copied().filter(|s| s.entry == entry).collect();
        let obstacles = (0..=most).map(|entry| Obstacle { x: of_entry(&x, entry), y: of_entry(&y, entry) });
        let apart = |obstacle: &Obstacle<'_>| {
            let (of_x, of_y) = obstacle.place(at_ns)?;
            Some((length(of_x - car_x[at].value, of_y - car_y.get(at)?.value) - free_way_m).abs())
        };
        let known = obstacles.filter_map(|obstacle| Some((apart(&obstacle)?, obstacle)));
        known.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, obstacle)| obstacle)
    }
}

/// Where an obstacle was, whenever that changed.
struct Obstacle<'a> {
    x: Vec<&'a Sample>,
    y: Vec<&'a Sample>,
}

impl Obstacle<'_> {
    fn place(&self, at_ns: i64) -> Option<(f64, f64)> {
        let last = |of: &[&Sample]| of.iter().rfind(|sample| sample.at_ns <= at_ns).map(|sample| sample.value);
        last(&self.x).zip(last(&self.y))
    }
}

/// When samples are as wanted first, from an instant on.
fn first_at(samples: &[&Sample], from_ns: i64, wanted: impl Fn(f64) -> bool) -> Option<i64> {
    samples.iter().find(|sample| sample.at_ns >= from_ns && wanted(sample.value)).map(|sample| sample.at_ns)
}

fn value_at(samples: &[&Sample], at_ns: i64) -> Option<f64> {
    samples.iter().find(|sample| sample.at_ns == at_ns).map(|sample| sample.value)
}

/// The way between two instants: speeds, by the trapezoidal rule.
fn way(speeds: &[&Sample], from_ns: i64, to_ns: i64) -> f64 {
    let piece = |pair: &[&Sample]| {
        let (a, b) = (pair[0], pair[1]);
        let (from, to) = (a.at_ns.max(from_ns), b.at_ns.min(to_ns));
        let length = (b.at_ns - a.at_ns) as f64;
        let at = |ns: i64| a.value + (b.value - a.value) * (ns - a.at_ns) as f64 / length;
        if from < to {
            (at(from) + at(to)) / 2.0 * (to - from) as f64 * 1e-9
        } else {
            0.0
        }
    };
    speeds.windows(2).map(piece).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::row;
    use tacho_tables::rows::Rows;

    const MS: i64 = 1_000_000;

    /// What nodes report, sample by sample.
    #[derive(Default)]
    struct Told {
        tables: Tables,
        samples: Vec<Sample>,
    }

    impl Told {
        /// `value` of signal `task.name`, of the node of the task.
        fn say(&mut self, of: &str, [at_ms, reported_ms]: [i64; 2], value: f64) {
            let (task, name) = of.split_once('.').expect("a task and a signal");
            let node = match self.tables.nodes.iter().position(|node| node.name == format!("/{task}")) {
                Some(node) => Row::behind(node),
                None => row::add(&mut self.tables.nodes, Node { process: Row::new(0), name: format!("/{task}") }),
            };
            let is_it = |signal: &Signal| signal.node == node && signal.name == name;
            let signal = match self.tables.signals.iter().position(is_it) {
                Some(signal) => Row::behind(signal),
                None => {
                    let (task, name, unit) = (task.to_owned(), name.to_owned(), String::new());
                    row::add(&mut self.tables.signals, Signal { node, task, name, unit, list: false })
                }
            };
            let (at_ns, reported_ns) = (at_ms * MS, reported_ms * MS);
            self.samples.push(Sample { signal, entry: 0, at_ns, reported_ns, execution: None, value });
        }

        fn reactions(mut self) -> Vec<ReactionFigures> {
            self.samples.sort_by_key(|sample| sample.reported_ns);
            self.tables.samples = Rows::from(self.samples);
            of_run(&self.tables)
        }
    }

    /// A car at 10 m/s along x that brakes by 8 m/s^2 from 1.5 s on until it stands. An obstacle, 20 m ahead at 1 s,
    /// appears at `appears_ms`.
    fn drive(appears_ms: i64) -> Told {
        let mut told = Told::default();
        told.say("world.obstacles", [0, 0], 0.0);
        told.say("world.obstacles", [appears_ms, appears_ms], 1.0);
        for (axis, place) in [("x", 32.0), ("y", 0.0)] {
            told.say(&format!("world.obstacle_{axis}"), [appears_ms, appears_ms], place);
        }
        for ms in (0..4000).step_by(10) {
            let braked = (ms as f64 / 1e3 - 1.5).clamp(0.0, 1.25);
            let x = 10.0 * (ms.min(1500) as f64 / 1e3) + 10.0 * braked - 4.0 * braked * braked;
            told.say("vehicle.x", [ms, ms], x);
            told.say("vehicle.y", [ms, ms], 0.0);
            told.say("vehicle.speed", [ms, ms], 10.0 - 8.0 * braked);
            let brakes = (1500..2750).contains(&ms);
            told.say("vehicle.acceleration", [ms, ms], if brakes { -8.0 } else { 0.0 });
            if ms >= appears_ms {
                told.say("vehicle.obstacle_gap", [ms, ms], 30.0 - x);
            }
        }
        told
    }

    #[test]
    fn a_reaction_is_told_stage_by_stage_with_its_ways() {
        let mut told = drive(1000);
        // Something else far away, before the obstacle and after it, is no sighting of it.
        for (at, reported, x) in [(900, 950, 60.0), (1000, 1050, 60.0), (1100, 1160, 31.5)] {
            told.say("detection.object_x", [at, reported], x);
            told.say("detection.object_y", [at, reported], 0.0);
        }
        for (at, stops) in [(900, 0.0), (1080, 1.0), (1200, 1.0)] {
            told.say("planner.stops", [at, at + 20], stops);
        }
        told.say("control.acceleration_command", [1090, 1090], 0.1);
        told.say("control.acceleration_command", [1300, 1300], -5.0);
        let [reaction] = &told.reactions()[..] else { panic!("one reaction") };
        let stages: Vec<_> = reaction.stages.iter().map(|of| (of.stage.as_str(), &*of.node, of.after_ms)).collect();
        let expected = [
            ("sensed", "/detection", 100.0),
            ("found", "/detection", 160.0),
            // The plan before that stopped for something else.
            ("planned", "/planner", 220.0),
            ("commanded", "/control", 300.0),
            ("braking", "/vehicle", 500.0),
            ("standing", "/vehicle", 1750.0),
        ];
        assert_eq!(stages, expected);
        let close = |found: Option<f64>, expected: f64| assert!((found.unwrap() - expected).abs() < 0.03, "{found:?}");
        assert_eq!((reaction.at_ns, reaction.speed_m_per_s, reaction.reaction_ms), (1000 * MS, 10.0, Some(500.0)));
        close(Some(reaction.free_way_m), 20.0);
        close(reaction.reaction_way_m, 5.0);
        // v t + v^2 / 2 b
        close(reaction.stop_way_m, 5.0 + 6.25);
        close(reaction.margin_m, 20.0 - 11.25);
    }

    #[test]
    fn who_does_nothing_has_no_stages_and_what_was_always_there_is_no_reaction() {
        let [reaction] = &drive(1000).reactions()[..] else { panic!("one reaction") };
        // It brakes, though nobody found anything: then only what the car did is known.
        let stages: Vec<_> = reaction.stages.iter().map(|of| of.stage.as_str()).collect();
        assert_eq!(stages, ["braking", "standing"]);
        assert!(drive(0).reactions().is_empty());
        // The car stands when it appears.
        assert!(drive(3800).reactions().is_empty());
        assert!(of_run(&Tables::default()).is_empty());
    }

    #[test]
    fn the_second_obstacle_counts_after_the_car_stood() {
        let mut told = drive(1000);
        for ms in (4000..6000).step_by(10) {
            told.say("vehicle.x", [ms, ms], 21.25);
            told.say("vehicle.y", [ms, ms], 0.0);
            told.say("vehicle.speed", [ms, ms], 5.0);
            told.say("vehicle.acceleration", [ms, ms], 0.0);
            // At 5 s, something is suddenly nearer.
            told.say("vehicle.obstacle_gap", [ms, ms], if ms < 5000 { 8.75 } else { 3.0 });
        }
        let found = told.reactions();
        assert_eq!(found.iter().map(|of| of.at_ns / MS).collect::<Vec<_>>(), [1000, 5000]);
        assert_eq!((found[1].reaction_ms, found[1].margin_m, found[1].stages.len()), (None, None, 0));
    }
}
