//! The same events as a run, in virtual time.
//!
//! [`simulate`] builds the nodes of a workload, lets them run on the CPUs of a modelled [`kernel`], and writes a run
//! directory that analysis, figures and reports read like any other. What callbacks compute is drawn by the workload's
//! seed, as on real middleware; what middleware and machine take is drawn from [`Costs`], which [`fit`] takes from
//! runs.

mod awake;
pub mod costs;
mod executor;
pub mod fit;
pub mod kernel;
mod node;
pub mod prediction;
mod queue;
pub mod reach;
mod simulation;
pub mod spread;
mod system;
mod task;
mod trace;
pub mod transfer;
pub mod warmth;
mod way;

pub use awake::NodeCost;
pub use costs::Costs;

use anyhow::{bail, Context, Result};
use kernel::Settings;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use tacho_events::run::{CpuSample, CpuTimes, Machine, ProcessExit, RunDirectory, RunInfo};
use tacho_runner::bench::write_workload;
use tacho_runner::window::Window;
use tacho_workload::tasks::TaskKind;
use tacho_workload::Workload;
use trace::Trace;

/// Virtual time at which the processes of a simulation begin, ns.
const BEGIN_NS: i64 = 1_000_000_000;

/// What to simulate on.
pub struct Simulator<'a> {
    /// Costs of middleware and machine.
    pub costs: &'a Costs,
    /// The same on other transports, for workloads that use one of them.
    pub other_transports: &'a [Costs],
    /// The scheduler.
    pub settings: Settings,
    /// Whether to write the kernel's scheduler events.
    pub scheduler: bool,
    /// The command line, for `run.json`.
    pub command: Vec<String>,
    /// Set by ^C.
    pub interrupted: &'a AtomicBool,
    /// Tasks that nodes may have.
    pub tasks: &'a [TaskKind],
    /// What it has done so far.
    pub spent: Spent,
}

/// A repeat that was simulated.
#[derive(Debug)]
pub struct Simulated {
    /// Its `run.json`.
    pub info: RunInfo,
    /// CPU time of the nodes and their middleware, percent of one CPU, until sources stop; absent if it was cut short.
    pub cpu_percent: Option<f64>,
}

/// What simulations took, without the analysis of their events.
#[derive(Debug, Default)]
pub struct Spent {
    /// Events written.
    pub events: AtomicU64,
    /// Wall time, ns.
    pub wall_ns: AtomicU64,
}

impl<'a> Simulator<'a> {
    /// On so many CPUs, with scheduler events, for workloads without tasks.
    pub fn new(costs: &'a Costs, cpus: usize, interrupted: &'a AtomicBool) -> Simulator<'a> {
        Simulator {
            costs,
            other_transports: &[],
            settings: Settings::linux(cpus),
            scheduler: true,
            command: vec![],
            interrupted,
            tasks: &[],
            spent: Spent::default(),
        }
    }
}

impl Simulator<'_> {
    /// The costs of the transport that a workload uses.
    fn costs_of(&self, workload: &Workload) -> &Costs {
        let is_of = |costs: &&Costs| costs.middleware == workload.middleware && costs.transport == workload.transport;
        let others = || self.other_transports.iter().find(is_of);
        Some(self.costs).filter(is_of).or_else(others).unwrap_or(self.costs)
    }

    /// Simulates one repeat of a workload into `run`, and returns its `run.json`. `progress` gets the part that is
    /// done.
    pub fn repeat(
        &self,
        workload: &Workload,
        repeat: u32,
        run: &RunDirectory,
        progress: &mut dyn FnMut(f64),
    ) -> Result<RunInfo> {
        Ok(self.simulated(workload, repeat, run, progress)?.info)
    }

    /// The same with what it used of the CPUs.
    pub fn simulated(
        &self,
        workload: &Workload,
        repeat: u32,
        run: &RunDirectory,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Simulated> {
        self.check(workload)?;
        let begun = Instant::now();
        write_workload(workload, run)?;
        std::fs::create_dir_all(run.events()).with_context(|| run.events().display().to_string())?;
        let window = Window::together(workload, BEGIN_NS);
        let failed = |(path, error): tacho_events::files::Failed| anyhow::anyhow!("{}: {error}", path.display());
        let trace = Trace::new(run.events());
        let tasks = task::tasks(workload, self.tasks, repeat)?;
        let built = system::build(self, workload, tasks, repeat, window, BEGIN_NS, trace);
        let system::System { mut simulation, phases, mut doubts } = built.map_err(failed)?;
        let whole = (window.end_ns - window.start_ns).max(1) as f64;
        let mut told = |now: i64| {
            progress(((now - window.start_ns) as f64 / whole).clamp(0.0, 1.0));
            !self.interrupted.load(Ordering::Relaxed)
        };
        let done = simulation.run(&mut told).map_err(failed)?;
        if let Some(failure) = simulation.failure {
            bail!("{failure}");
        }
        let mean_pause_ns = simulation.pause.mean_ns();
        doubts.extend(mean_pause_ns.and_then(|mean_ns| self.costs_of(workload).beyond_pause(mean_ns)));
        let processes = simulation.processes.iter().map(|process| ProcessExit {
            name: process.name.clone(),
            pid: process.pid,
            code: Some(0),
            ..ProcessExit::default()
        });
        let used_ns = simulation.used_ns.unwrap_or_default();
        let samples = |used_ns: i64| {
            let sample = |(at_ns, cpu_ns)| CpuSample { at_ns, cpu_ns };
            [(window.start_ns, 0), (window.stop_ns, used_ns as u64)].map(sample).to_vec()
        };
        let of_processes = simulation.processes.iter().zip(&used_ns);
        let cpu_times = of_processes.map(|(of, used_ns)| CpuTimes { pid: of.pid, samples: samples(*used_ns) });
        let info = RunInfo {
            verb: "simulate".into(),
            command: self.command.clone(),
            tacho_version: env!("CARGO_PKG_VERSION").into(),
            duration_s: (simulation.last_ns - BEGIN_NS) as f64 / 1e9,
            machine: Some(Machine {
                host: "simulated".into(),
                cpu: "simulated".into(),
                cpus: self.settings.cpus as u32,
                kernel: "Linux 6.12 to 6.18, as modelled".into(),
                preemption: "lazy".into(),
                clocksource: "virtual".into(),
                ..Machine::default()
            }),
            processes: processes.collect(),
            cpu_times: cpu_times.collect(),
            measured_from_ns: Some(window.from_ns),
            measured_to_ns: Some(window.stop_ns),
            repeat: (workload.run.repeats > 1).then_some(repeat),
            phases,
            missing: doubts,
            quality: task::quality(&mut simulation.nodes),
            cut_short: !done,
            ..RunInfo::default()
        };
        let events = simulation.trace.finish().map_err(failed)?;
        self.spent.events.fetch_add(events, Ordering::Relaxed);
        self.spent.wall_ns.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        run.write_info(&info)?;
        Ok(Simulated { cpu_percent: prediction::cpu_percent(&info), info })
    }

    /// Refuses what is not modelled.
    pub fn check(&self, workload: &Workload) -> Result<()> {
        if let Some(node) = workload.nodes.iter().find(|node| node.is_on_board()) {
            bail!("node {} runs on a board, which is not modelled; expected nodes of this machine", node.name);
        }
        let of_cpus = workload.run.cpus.iter().flat_map(|(node, cpus)| cpus.iter().map(move |cpu| (node, *cpu)));
        if let Some((node, cpu)) = of_cpus.into_iter().find(|(_, cpu)| *cpu as usize >= self.settings.cpus) {
            let last = self.settings.cpus - 1;
            bail!("node {node} may use CPU {cpu}, but the simulated machine has CPUs 0 to {last} (--cpus)");
        }
        Ok(())
    }
}
