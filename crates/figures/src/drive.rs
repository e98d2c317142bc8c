//! How the vehicle of a run drove: what its task reports, as a verdict.

use tacho_events::run::RunInfo;
use tacho_workload::Workload;

/// The task that drives.
const VEHICLE: &str = "vehicle";
/// A shorter way is no drive.
const LEAST_DRIVEN_M: f64 = 1.0;

/// Err unless the workload has exactly one vehicle: says how many were found.
pub fn has_vehicle(workload: &Workload) -> Result<(), String> {
    match workload.nodes.iter().filter(|node| node.work.task() == Some(VEHICLE)).count() {
        1 => Ok(()),
        vehicles => Err(format!("found {vehicles} nodes of the task `{VEHICLE}`, expected one")),
    }
}

/// Outcome of one drive (docs/drive.md).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drive {
    /// Where along the lane and on the map it left the lane, m, and how fast it was, m/s; `None` if it kept the lane.
    pub left: Option<Left>,
    /// Way along the lane, m.
    pub driven_m: f64,
    /// Greatest speed, m/s.
    pub speed_max_m_per_s: f64,
    /// Greatest distance from the centre line, m.
    pub lateral_error_max_m: f64,
    /// Root of the mean square of that distance, m.
    pub lateral_error_rms_m: f64,
    /// Whether it touched an obstacle; absent if none stood in its way.
    pub collided: Option<bool>,
    /// Free way to the obstacle before which it last stood, m; absent if it stood before none.
    pub stop_margin_m: Option<f64>,
    /// How often it braked because nobody commanded it.
    pub stops_without_command: f64,
}

/// Where a vehicle left its lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Left {
    /// Along the centre line, m.
    pub at_m: f64,
    /// On the map, m.
    pub x_m: f64,
    /// On the map, m.
    pub y_m: f64,
    /// Its speed, m/s.
    pub speed_m_per_s: f64,
}

impl Drive {
    /// The drive of a run; `None` if no vehicle reported one.
    pub fn of(info: &RunInfo) -> Option<Drive> {
        let vehicle = info.quality.iter().find(|of| of.task == VEHICLE)?;
        let figure = |name: &str| vehicle.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value);
        let left = figure("left_lane_at_m").and_then(|at_m| {
            Some(Left {
                at_m,
                x_m: figure("left_lane_at_x_m")?,
                y_m: figure("left_lane_at_y_m")?,
                speed_m_per_s: figure("left_lane_at_speed_m_per_s")?,
            })
        });
        figure("lane_kept")?;
        Some(Drive {
            left,
            driven_m: figure("driven_m")?,
            speed_max_m_per_s: figure("speed_max_m_per_s")?,
            lateral_error_max_m: figure("lateral_error_max_m")?,
            lateral_error_rms_m: figure("lateral_error_rms_m")?,
            collided: figure("collided").map(|value| value != 0.0),
            stop_margin_m: figure("stop_margin_m"),
            stops_without_command: figure("stops_without_command").unwrap_or(0.0),
        })
    }

    /// Whether it drove, kept its lane and touched nothing.
    pub fn is_good(&self) -> bool {
        self.left.is_none() && self.collided != Some(true) && self.driven_m >= LEAST_DRIVEN_M
    }

    /// The outcome in sentences.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![match &self.left {
            Some(Left { at_m, x_m, y_m, speed_m_per_s }) => format!(
                "Lane left at {at_m:.1} m along the track (x {x_m:.1} m, y {y_m:.1} m), at {speed_m_per_s:.2} m/s."
            ),
            None if self.driven_m < LEAST_DRIVEN_M => "The car did not drive.".into(),
            None => format!("Lane kept for {:.1} m, at up to {:.2} m/s.", self.driven_m, self.speed_max_m_per_s),
        }];
        all.push(format!(
            "Lateral error at most {:.3} m, root mean square {:.3} m.",
            self.lateral_error_max_m, self.lateral_error_rms_m
        ));
        if self.collided == Some(true) {
            all.push("The car drove into an obstacle.".into());
        }
        if let Some(margin) = self.stop_margin_m {
            all.push(format!("It stood {margin:.2} m before an obstacle."));
        }
        if self.stops_without_command > 0.0 {
            all.push(format!("It braked {} times because nobody commanded it.", self.stops_without_command));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::run::{Quality, TaskQuality};

    fn info(task: &str, figures: &[(&str, f64)]) -> RunInfo {
        let figures = figures.iter().map(|(name, value)| Quality { name: name.to_string(), value: *value }).collect();
        let quality = vec![TaskQuality { node: "car".into(), task: task.into(), figures }];
        RunInfo { quality, ..RunInfo::default() }
    }

    const KEPT: [(&str, f64); 5] = [
        ("lane_kept", 1.0),
        ("driven_m", 700.0),
        ("speed_max_m_per_s", 5.0),
        ("lateral_error_max_m", 0.25),
        ("lateral_error_rms_m", 0.125),
    ];

    fn with(more: &[(&str, f64)]) -> Drive {
        let figures: Vec<_> =
            more.iter().chain(KEPT.iter().filter(|(name, _)| !more.iter().any(|(m, _)| m == name))).copied().collect();
        Drive::of(&info("vehicle", &figures)).unwrap()
    }

    #[test]
    fn a_drive_is_good_if_it_kept_its_lane_and_touched_nothing_and_moved() {
        assert!(with(&[]).is_good() && with(&[("collided", 0.0), ("stop_margin_m", 3.0)]).is_good());
        assert!(!with(&[("collided", 1.0)]).is_good());
        assert!(!with(&[("driven_m", 0.2)]).is_good());
        let left = with(&[
            ("lane_kept", 0.0),
            ("left_lane_at_m", 130.0),
            ("left_lane_at_x_m", 120.0),
            ("left_lane_at_y_m", 4.0),
            ("left_lane_at_speed_m_per_s", 13.0),
        ]);
        assert!(!left.is_good());
        assert_eq!(left.sentences()[0], "Lane left at 130.0 m along the track (x 120.0 m, y 4.0 m), at 13.00 m/s.");
        assert_eq!(with(&[]).sentences()[0], "Lane kept for 700.0 m, at up to 5.00 m/s.");
        assert_eq!(with(&[("driven_m", 0.2)]).sentences()[0], "The car did not drive.");
        assert_eq!(with(&[("stops_without_command", 2.0)]).sentences().len(), 3);
    }

    #[test]
    fn a_run_without_a_vehicle_that_knew_its_lane_has_no_drive() {
        assert_eq!(Drive::of(&RunInfo::default()), None);
        assert_eq!(Drive::of(&info("odometry", &KEPT)), None);
        assert_eq!(Drive::of(&info("vehicle", &KEPT[1..])), None);
    }
}
