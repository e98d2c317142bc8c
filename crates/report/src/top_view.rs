//! A drive from above: the lane, where the car was, what it planned and saw, and which messages its commands rested on.
//!
//! It is made of the [signals](tacho_tables::Signal) of tasks `vehicle`, `world` and those with objects or a
//! trajectory. Columns hold integers: times are ns since the begin of the timeline, lengths mm, angles mrad.

mod messages;
mod shape;

use crate::timeline::columns::Column;
use crate::timeline::Timeline;
use crate::ReportRun;
use shape::{Ages, Car, Left, Sets};
use std::collections::BTreeMap;
use tacho_tables::row::{numbered, Row};
use tacho_tables::{length, Node, Sample, Signal, Tables};

pub use shape::TopView;

/// Most states of the car, and most plans or sets of objects, that a page holds. Of more, every second, third ... is
/// there.
const MOST_STATES: usize = 4000;
const MOST_SETS: usize = 1500;

/// Samples of the run that the page shows, by signal.
struct Signals<'a> {
    tables: &'a Tables,
    samples: BTreeMap<Row<Signal>, Vec<&'a Sample>>,
    begin_ns: i64,
}

/// The view; absent if no task reported where the car was.
pub fn top_view<'a>(run: &'a ReportRun, timeline: &Timeline<'_>) -> Option<TopView<'a>> {
    let tables = &run.tables;
    let begin_ns: i64 = timeline.begin_ns.parse().ok()?;
    let shown = begin_ns..=begin_ns.saturating_add(timeline.length_ns);
    let mut samples: BTreeMap<Row<Signal>, Vec<&Sample>> = BTreeMap::new();
    for sample in tables.samples.iter().filter(|sample| shown.contains(&sample.reported_ns) && sample.value.is_finite())
    {
        samples.entry(sample.signal).or_default().push(sample);
    }
    let signals = Signals { tables, samples, begin_ns };
    let vehicle = signals.nodes("vehicle", "x").into_iter().next()?;
    let car = signals.car(vehicle)?;
    let world = signals.nodes("world", "lane_x").into_iter().next();
    let lane = world.map(|world| signals.lane(world));
    let [lane_x, lane_y] = lane.unwrap_or_default();
    let width = world.and_then(|world| signals.of(world, "lane_width").first().map(|sample| sample.value));
    Some(TopView {
        lane_x_mm: lane_x,
        lane_y_mm: lane_y,
        lane_width_m: width,
        obstacles: world.map(|world| signals.sets(world, "obstacle", Some("obstacles"), usize::MAX)),
        left: left(run, vehicle, &signals),
        ages: signals.ages(vehicle),
        seen: signals.all("object_x").map(|node| signals.sets(node, "object", Some("objects"), MOST_SETS)).collect(),
        plans: signals.all("trajectory_x").map(|node| signals.sets(node, "trajectory", None, MOST_SETS)).collect(),
        chains: messages::chains(tables, vehicle, begin_ns, timeline.length_ns),
        car,
    })
}

/// Where the car left its lane, as the drive's own figures say; of a run of one drive.
fn left(run: &ReportRun, vehicle: Row<Node>, signals: &Signals<'_>) -> Option<Left> {
    let name = run.tables.nodes[vehicle].name.trim_start_matches('/');
    let quality = run.info.quality.iter().find(|of| of.node == name)?;
    let figure = |wanted: &str| quality.figures.iter().find(|of| of.name == wanted).map(|of| of.value);
    let (x_m, y_m) = (figure("left_lane_at_x_m")?, figure("left_lane_at_y_m")?);
    let (x, y) = (signals.of(vehicle, "x"), signals.of(vehicle, "y"));
    let apart = |(x, y): &(&&Sample, &&Sample)| length(x.value - x_m, y.value - y_m);
    let nearest = x.iter().zip(y).min_by(|one, other| apart(one).total_cmp(&apart(other)))?;
    Some(Left { x_m, y_m, at_ns: nearest.0.at_ns - signals.begin_ns })
}

impl<'a> Signals<'a> {
    /// Nodes whose task has this signal, in the order of the table.
    fn nodes(&self, task: &str, name: &str) -> Vec<Row<Node>> {
        let wanted = |signal: &Signal| signal.task == task && signal.name == name;
        let rows =
            numbered(&self.tables.signals).filter(|(row, signal)| wanted(signal) && self.samples.contains_key(row));
        rows.map(|(_, signal)| signal.node).collect()
    }

    /// Nodes that reported a signal of this name.
    fn all<'s>(&'s self, name: &'s str) -> impl Iterator<Item = Row<Node>> + 's {
        let rows = numbered(&self.tables.signals);
        rows.filter(move |(row, signal)| signal.name == name && self.samples.contains_key(row))
            .map(|(_, signal)| signal.node)
    }

    /// What a node reported of a signal, in order.
    fn of(&self, node: Row<Node>, name: &str) -> &[&'a Sample] {
        let found = numbered(&self.tables.signals).find(|(_, signal)| signal.node == node && signal.name == name);
        found.and_then(|(row, _)| self.samples.get(&row)).map_or(&[], Vec::as_slice)
    }

    /// Values of a signal by their instants, of those instants.
    fn at(&self, node: Row<Node>, name: &str, instants: &[i64], unit: f64) -> Column {
        let by_time: BTreeMap<i64, f64> = self.of(node, name).iter().map(|of| (of.at_ns, of.value)).collect();
        Column::optional(instants.iter().map(|at| by_time.get(at).map(|value| (value * unit).round() as i64)))
    }

    fn car(&self, node: Row<Node>) -> Option<Car> {
        let (x, y) = (self.of(node, "x"), self.of(node, "y"));
        let step = x.len().div_ceil(MOST_STATES).max(1);
        let places: Vec<(&Sample, &Sample)> =
            x.iter().zip(y).filter(|(x, y)| x.at_ns == y.at_ns).map(|(x, y)| (*x, *y)).step_by(step).collect();
        let instants: Vec<i64> = places.iter().map(|(x, _)| x.at_ns).collect();
        (!places.is_empty()).then(|| Car {
            node: self.tables.nodes[node].name.clone(),
            states: x.len(),
            at: Column::growing(instants.iter().map(|at| at - self.begin_ns)),
            x_mm: Column::growing(places.iter().map(|(x, _)| mm(x))),
            y_mm: Column::growing(places.iter().map(|(_, y)| mm(y))),
            heading_mrad: self.at(node, "heading", &instants, 1e3),
            speed_mm_s: self.at(node, "speed", &instants, 1e3),
            steering_mrad: self.at(node, "steering", &instants, 1e3),
            lateral_error_mm: self.at(node, "lateral_error", &instants, 1e3),
        })
    }

    fn ages(&self, node: Row<Node>) -> Ages {
        let ages = self.of(node, "command_age");
        let ages: Vec<&&Sample> = ages.iter().step_by(ages.len().div_ceil(MOST_STATES).max(1)).collect();
        Ages {
            at: Column::growing(ages.iter().map(|age| age.at_ns - self.begin_ns)),
            age_us: Column::of(ages.iter().map(|age| (age.value * 1e3).round() as i64)),
        }
    }

    fn lane(&self, node: Row<Node>) -> [Column; 2] {
        ["lane_x", "lane_y"].map(|name| Column::growing(self.of(node, name).iter().map(|sample| mm(sample))))
    }

    /// Lists that a node reported: `object` as `object_x`, `object_y`, `object_radius`. Signal `counts` says how many
    /// entries each has, so that empty lists are known.
    fn sets(&self, node: Row<Node>, of: &str, counts: Option<&str>, most: usize) -> Sets {
        let by_time = |name: &str| {
            let mut lists: BTreeMap<i64, Vec<&Sample>> = BTreeMap::new();
            self.of(node, name).iter().for_each(|sample| lists.entry(sample.at_ns).or_default().push(sample));
            lists
        };
        let [x, y, radius] = ["x", "y", "radius"].map(|part| by_time(&format!("{of}_{part}")));
        let told: Vec<i64> = match counts {
            Some(counts) => self.of(node, counts).iter().map(|sample| sample.at_ns).collect(),
            None => x.keys().copied().collect(),
        };
        let step = told.len().div_ceil(most).max(1);
        let mut told: Vec<i64> = told.into_iter().step_by(step).collect();
        told.sort_unstable();
        told.dedup();
        let entries = |of: &BTreeMap<i64, Vec<&Sample>>, at: &i64| of.get(at).map_or(0, Vec::len);
        let count = |at: &i64| entries(&x, at).min(entries(&y, at));
        let values = |of: &BTreeMap<i64, Vec<&Sample>>| {
            Column::growing(
                told.iter().flat_map(|at| of.get(at).into_iter().flatten().take(count(at)).map(|one| mm(one))),
            )
        };
        Sets {
            node: self.tables.nodes[node].name.clone(),
            at: Column::growing(told.iter().map(|at| at - self.begin_ns)),
            counts: Column::of(told.iter().map(|at| count(at) as i64)),
            x_mm: values(&x),
            y_mm: values(&y),
            radius_mm: (!radius.is_empty()).then(|| values(&radius)),
        }
    }
}

fn mm(sample: &Sample) -> i64 {
    (sample.value * 1e3).round() as i64
}
