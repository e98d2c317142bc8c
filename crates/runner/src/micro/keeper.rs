//! The keeper of a board: a node process to the runner, which controls the emulator.

use super::collector::{Collector, BEACON};
use super::console::{self, Line, COUNTERS};
use super::emulator::{self, Emulator};
use super::event_file::{BoardEvents, Marks, Who};
use super::image;
use super::plan::{told, Row};
use crate::board_wire::BoardWire;
use crate::protocol::{Answer, BoardPlan, Command, NodeFigures, OutputFigures, Plan};
use crate::scheduling;
use anyhow::{bail, Context, Result};
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::time::Duration;
use tacho_events::run::Board;
use tacho_middleware::Middleware;
use tacho_recording::clock::monotonic_ns;

/// The middleware of boards, with which the keeper listens to one.
const MIDDLEWARE: &str = "micro";
/// How often the keeper reads messages of the board.
const LOOKING: Duration = Duration::from_millis(10);
/// Longest time from the request to end until the board's last report.
const ENDING_NS: i64 = 10_000_000_000;

/// Input of a keeper.
enum Heard {
    Console(Option<String>),
    Command(Command),
    /// The runner has closed its side.
    Closed,
}

/// What the board has reported.
#[derive(Debug, Default)]
struct Report {
    messages: Vec<u64>,
    skipped: Vec<u64>,
    counters: Vec<(usize, u32)>,
    arena_bytes: u64,
}

/// Runs the board of a plan. `say` answers the runner.
pub fn keep(
    plan: &Plan,
    board: &BoardPlan,
    commands: Receiver<Command>,
    say: &mut dyn FnMut(&Answer) -> Result<()>,
) -> Result<()> {
    let [node_plan] = plan.nodes.as_slice() else { bail!("{} nodes on one board; expected one", plan.nodes.len()) };
    if plan.clock.is_some() {
        bail!(
            "in_node_clock on a board: its clock is not this machine's; expected no `in_node_clock` with `host: micro`"
        );
    }
    let told = told(node_plan, board.at_once)?;
    let sizes = image::sizes(&board.image)?;
    let version = emulator::version()?;
    let wire = BoardWire::here()?;
    // The emulator inherits both settings.
    scheduling::apply(node_plan)?;

    let node = node_plan.node.name.clone();
    let middleware = Middleware::load(&plan.libraries, MIDDLEWARE)?;
    let who = Who {
        node: node.clone(),
        rows: told.rows.clone(),
        timers: told.timers.clone(),
        machine: emulator::machine(&version),
        image: board.image.display().to_string(),
    };
    let file = std::env::var_os("TACHO_EVENTS_DIR")
        .map(|folder| PathBuf::from(folder).join(format!("{}-{}.events", std::process::id(), monotonic_ns())));
    let collector = Collector::new(&middleware, plan.domain, &plan.address, &node, BoardEvents::new(who, file))?;

    let mut block = tempfile::NamedTempFile::new().context("the board's plan")?;
    block.write_all(&told.bytes)?;
    let (sender, heard) = channel();
    let from_console = sender.clone();
    let emulator = Emulator::start(board, wire, plan.domain, block.path(), move |line| {
        drop(from_console.send(Heard::Console(line)))
    })?;
    std::thread::spawn(move || {
        commands.iter().for_each(|command| drop(sender.send(Heard::Command(command))));
        drop(sender.send(Heard::Closed));
    });

    let is_source = node_plan.inputs.is_empty();
    let mut keeper = Keeper {
        emulator,
        collector,
        heard,
        rows: told.rows,
        node,
        is_source,
        report: Report::default(),
        steps: Vec::new(),
        ready: false,
    };
    keeper.run(
        say,
        &format!("tacho-micro {}, qemu {version}", middleware.version()?.trim_start_matches("tacho-micro ")),
    )?;
    let Keeper { mut emulator, collector, heard, report, rows, node, .. } = keeper;
    let events = collector.finish()?;
    let Marks { init_ns, matched_ns, first_message_ns } = events.marks;
    let lost_events = events.finish()?;
    let named = |(index, value): &(usize, u32)| {
        Some((COUNTERS.get(*index)?.to_string(), *value)).filter(|(_, value)| *value > 0)
    };
    let said = Board {
        machine: emulator::machine(&version),
        emulated: true,
        network: emulator::network(wire).into(),
        rom_bytes: sizes.rom_bytes,
        ram_bytes: sizes.ram_bytes + report.arena_bytes,
        stack_bytes: sizes.stack_bytes,
        init_ns,
        matched_ns,
        first_message_ns,
        counters: report
            .counters
            .iter()
            .filter_map(named)
            .chain((lost_events > 0).then(|| ("events_lost".into(), lost_events as u32)))
            .collect(),
    };
    say(&Answer::Done { nodes: vec![figures(&node, &rows, &report)], board: Some(said), failures: vec![] })?;
    // Its endpoints stay until all others have ended.
    while !matches!(heard.recv(), Ok(Heard::Closed | Heard::Console(None)) | Err(_)) {}
    emulator.tell(b'q');
    let status = emulator.end()?;
    if !status.success() {
        bail!("the board of node {node}: the emulator ended with {status}");
    }
    Ok(())
}

fn figures(node: &str, rows: &[Row], report: &Report) -> NodeFigures {
    let count = |counts: &[u64], index: usize| counts.get(index).copied().unwrap_or(0);
    let indexed = || rows.iter().enumerate();
    NodeFigures {
        node: node.to_owned(),
        callbacks: indexed().filter(|(_, row)| row.reads).map(|(index, _)| count(&report.messages, index)).sum(),
        outputs: indexed()
            .filter(|(_, row)| !row.reads)
            .map(|(index, row)| OutputFigures {
                topic: row.topic.clone(),
                sent: count(&report.messages, index),
                skipped: row.timer.map(|_| count(&report.skipped, index)),
                refused: vec![],
            })
            .collect(),
        taken: indexed().filter(|(_, row)| row.reads).map(|(index, _)| count(&report.messages, index)).collect(),
        ..NodeFigures::default()
    }
}

struct Keeper {
    emulator: Emulator,
    collector: Collector,
    heard: Receiver<Heard>,
    rows: Vec<Row>,
    node: String,
    is_source: bool,
    report: Report,
    /// Letters for the board's console, and when to send them.
    steps: Vec<(i64, u8)>,
    ready: bool,
}

impl Keeper {
    /// Runs until the board has reported.
    fn run(&mut self, say: &mut dyn FnMut(&Answer) -> Result<()>, version: &str) -> Result<()> {
        let mut beacon_ns = 0;
        let mut last_word_ns = i64::MAX;
        loop {
            self.collector.take_in()?;
            let now = monotonic_ns();
            if now >= beacon_ns {
                beacon_ns = now + BEACON.as_nanos() as i64;
                self.collector.send_beacon()?;
            }
            while let Some(step) = self.steps.iter().position(|(at, _)| *at <= now) {
                let (_, letter) = self.steps.remove(step);
                self.emulator.tell(letter);
                if letter == b'e' {
                    last_word_ns = now + ENDING_NS;
                }
            }
            if now > last_word_ns {
                bail!(
                    "the board of node {} did not report within {} s of the request to end",
                    self.node,
                    ENDING_NS / 1_000_000_000
                );
            }
            let next_ns = self.steps.iter().map(|(at, _)| *at).min().unwrap_or(i64::MAX);
            let wait = LOOKING.min(Duration::from_nanos((next_ns - now).max(0) as u64));
            match self.heard.recv_timeout(wait) {
                Ok(Heard::Console(Some(line))) => {
                    if self.console(&line, say, version)? {
                        return Ok(());
                    }
                }
                Ok(Heard::Console(None)) => {
                    bail!("the board of node {} stopped: the emulator ended with {}", self.node, self.emulator.end()?)
                }
                Ok(Heard::Command(Command::Start { start_ns, stop_ns, end_ns })) => {
                    self.steps.push((start_ns, b's'));
                    self.steps.extend(self.is_source.then_some((stop_ns, b'p')));
                    self.steps.push((end_ns, b'e'));
                }
                Ok(Heard::Command(Command::Stop)) => self.steps = vec![(now, b'e')],
                // The runner has ended, or has cancelled the run.
                Ok(Heard::Closed) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Handles one line of the console; returns whether it was the last.
    fn console(&mut self, line: &str, say: &mut dyn FnMut(&Answer) -> Result<()>, version: &str) -> Result<bool> {
        let count = |counts: &mut Vec<u64>, row: usize, count: u64| {
            counts.resize(counts.len().max(row + 1), 0);
            counts[row] = count;
        };
        match console::read(line) {
            Line::Up if !self.ready => {
                self.ready = true;
                say(&Answer::Ready { version: version.into(), main_ns: None, ready_ns: None, transports: vec![] })?;
            }
            Line::Unmatched { row, found } => {
                let Some(row) = self.rows.get(row) else { bail!("the board of node {} spoke of row {row}", self.node) };
                say(&Answer::Unmatched {
                    node: self.node.clone(),
                    topic: row.topic.clone(),
                    found,
                    expected: row.expected,
                })?;
            }
            Line::Matched => say(&Answer::Matched)?,
            Line::Messages { row, count: messages } => count(&mut self.report.messages, row, messages),
            Line::Skipped { row, count: skipped } => count(&mut self.report.skipped, row, skipped),
            Line::Counter { index, value } => self.report.counters.push((index, value)),
            Line::Arena { bytes } => self.report.arena_bytes = bytes,
            Line::Done => return Ok(true),
            Line::Failed(cause) => bail!("the board of node {}: {cause}", self.node),
            Line::Up | Line::Other => eprintln!("{line}"),
        }
        Ok(false)
    }
}
