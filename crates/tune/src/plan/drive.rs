//! The greatest speed at which the car of a workload drives safely, in virtual time.

use super::goal::{Bound, Figure, Goal};
use super::oracle::Oracle;
use super::{Plan, OTHER_DRAWS};
use anyhow::Result;
use std::time::Duration;
use tacho_figures::drive::{has_vehicle, Drive};
use tacho_workload::model::Work;
use tacho_workload::tasks::{aimed_speeds, TaskKind, SPEED};
use tacho_workload::Workload;

/// Speeds that are tried: multiples of the first, up to the second, m/s.
const STEP_M_PER_S: f64 = 0.5;
const MOST_M_PER_S: f64 = 40.0;
/// A car gains speed at least so fast.
const ACCELERATION_M_PER_S2: f64 = 1.5;
/// Part of a speed that the car must reach, or it did not drive at that speed.
const REACHED: f64 = 0.95;

/// How a candidate drives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Driving {
    /// Least way of each drive, if the car keeps to its speed.
    pub way_m: f64,
    /// Drives at each speed, each with other phases.
    pub drives: u32,
}

/// Whether a goal or bound is about how fast the car drives.
pub(super) fn is_wanted(goals: &[Goal], bounds: &[Bound]) -> bool {
    goals.iter().chain(bounds.iter().map(|bound| &bound.goal)).any(|goal| goal.figure == Figure::Drive)
}

/// Refuses a workload that no car drives. Err says what it lacks.
pub(super) fn check(workload: &Workload, tasks: &[TaskKind]) -> Result<(), String> {
    has_vehicle(workload).map_err(|found| format!("`drive`: {found}"))?;
    match aimed_speeds(workload, tasks).next() {
        Some(_) => Ok(()),
        None => Err(format!("`drive`: no task has a parameter `{SPEED}`, expected one such as `trajectory`")),
    }
}

/// The way of the workload's own drive: its duration at the speed that it aims at.
pub(super) fn way_m(workload: &Workload, tasks: &[TaskKind]) -> f64 {
    let m_per_s = aimed_speeds(workload, tasks).map(|(_, m_per_s)| m_per_s).fold(0.0, f64::max);
    m_per_s * workload.run.duration.as_secs_f64()
}

impl Oracle<'_> {
    /// The greatest speed at which all drives keep their lane, touch nothing and reach that speed, found by bisection;
    /// `None` if there is none.
    pub(super) fn safe_m_per_s(&self, workload: &Workload, driving: Driving) -> Result<Option<f64>> {
        let (mut safe, mut too_fast) = (0, (MOST_M_PER_S / STEP_M_PER_S) as u32 + 1);
        while safe + 1 < too_fast {
            let step = (safe + too_fast) / 2;
            match self.is_safe(workload, f64::from(step) * STEP_M_PER_S, driving)? {
                true => safe = step,
                false => too_fast = step,
            }
        }
        Ok((safe > 0).then(|| f64::from(safe) * STEP_M_PER_S))
    }

    fn is_safe(&self, workload: &Workload, m_per_s: f64, driving: Driving) -> Result<bool> {
        let mut workload = workload.clone();
        let duration_s = driving.way_m / m_per_s + m_per_s / ACCELERATION_M_PER_S2;
        workload.run.duration = Duration::from_secs_f64(duration_s);
        let aiming: Vec<usize> = aimed_speeds(&workload, self.simulator.tasks).map(|(place, _)| place).collect();
        for place in aiming {
            if let Work::Task { parameters, .. } = &mut workload.nodes[place].work {
                parameters.retain(|(name, _)| name != SPEED);
                parameters.push((SPEED.into(), format!("{m_per_s} m/s")));
            }
        }
        let reached = |drive: Drive| drive.is_good() && drive.speed_max_m_per_s >= REACHED * m_per_s;
        for repeat in 0..driving.drives {
            let drive = self.simulated(&workload, repeat, |simulated, _| Ok(Drive::of(&simulated.info)))?;
            if !drive.is_some_and(reached) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Plan {
    /// Up to which speeds the car drives safely, and in how many drives, in words; `None` if no goal is about that or
    /// the plan is safe at none.
    pub fn safe_speeds(&self) -> Option<String> {
        let planned = self.planned.safe_m_per_s?;
        let as_is = self.as_is.safe_m_per_s.map_or("at no speed".into(), |m_per_s| format!("up to {m_per_s:.1} m/s"));
        let drives = self.tuned.workload.run.repeats.max(OTHER_DRAWS);
        Some(format!("{as_is} as it is, up to {planned:.1} m/s planned ({drives} of {drives} drives, simulated)"))
    }
}
