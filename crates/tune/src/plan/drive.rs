//! The greatest speed at which the car of a workload drives safely, in virtual time.

use super::oracle::Oracle;
use anyhow::{bail, Context, Result};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tacho_events::run::RunDirectory;
use tacho_figures::drive::{Drive, VEHICLE};
use tacho_workload::model::Work;
use tacho_workload::tasks::{aiming_at_speed, TaskKind, SPEED};
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
    /// Fewest drives at each speed, each with other phases.
    pub drives: u32,
}

/// Refuses a workload that no car drives. Err says what it lacks.
pub(super) fn check(workload: &Workload, tasks: &[TaskKind]) -> Result<(), String> {
    let vehicles = workload.nodes.iter().filter(|node| node.work.task() == Some(VEHICLE)).count();
    if vehicles != 1 {
        return Err(format!("`drive`: found {vehicles} nodes of the task `{VEHICLE}`, expected one"));
    }
    match aiming_at_speed(workload, tasks).next() {
        Some(_) => Ok(()),
        None => Err(format!("`drive`: no task has a parameter `{SPEED}`, expected one such as `trajectory`")),
    }
}

/// The way of the workload's own drive: its duration at the speed that it aims at.
pub(super) fn way_m(workload: &Workload, tasks: &[TaskKind]) -> f64 {
    let aimed = |place: usize| match &workload.nodes[place].work {
        Work::Task { name, parameters } => {
            let kind = tasks.iter().find(|kind| kind.name == *name)?;
            let at = kind.parameters.iter().position(|parameter| parameter.name == SPEED)?;
            Some(kind.values(parameters).ok()?[at])
        }
        _ => None,
    };
    let m_per_s = aiming_at_speed(workload, tasks).filter_map(aimed).fold(0.0, f64::max);
    m_per_s * workload.run.duration.as_secs_f64()
}

impl Oracle<'_> {
    /// The greatest speed at which all drives keep their lane, touch nothing and reach that speed, found by bisection;
    /// `None` if there is none.
    pub(super) fn safe_m_per_s(&self, workload: &Workload, driving: Driving, repeats: u32) -> Result<Option<f64>> {
        let (mut safe, mut too_fast) = (0, (MOST_M_PER_S / STEP_M_PER_S) as u32 + 1);
        while safe + 1 < too_fast {
            let step = (safe + too_fast) / 2;
            match self.is_safe(workload, f64::from(step) * STEP_M_PER_S, driving, repeats)? {
                true => safe = step,
                false => too_fast = step,
            }
        }
        Ok((safe > 0).then(|| f64::from(safe) * STEP_M_PER_S))
    }

    fn is_safe(&self, workload: &Workload, m_per_s: f64, driving: Driving, repeats: u32) -> Result<bool> {
        let mut workload = workload.clone();
        let duration_s = driving.way_m / m_per_s + m_per_s / ACCELERATION_M_PER_S2;
        workload.run.duration = Duration::from_secs_f64(duration_s);
        let aiming: Vec<usize> = aiming_at_speed(&workload, self.simulator.tasks).collect();
        for place in aiming {
            if let Work::Task { parameters, .. } = &mut workload.nodes[place].work {
                parameters.retain(|(name, _)| name != SPEED);
                parameters.push((SPEED.into(), format!("{m_per_s} m/s")));
            }
        }
        for repeat in 0..repeats.max(driving.drives) {
            let folder = tempfile::Builder::new().prefix(".driven-").tempdir_in(self.folder);
            let folder = folder.with_context(|| self.folder.display().to_string())?;
            let driven = self.simulator.repeat(&workload, repeat, &RunDirectory::new(folder.path()), &mut |_| {})?;
            if self.simulator.interrupted.load(Ordering::Relaxed) {
                bail!("interrupted");
            }
            let reached = |drive: Drive| drive.is_good() && drive.speed_max_m_per_s >= REACHED * m_per_s;
            if !Drive::of(&driven).is_some_and(reached) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
