//! A node process: reads its plan from stdin, makes its nodes, runs each on a thread of its own, and reports.

use crate::instant::StopTime;
use crate::micro;
use crate::node::executor::{NodeExecutor, SharedThread, Whole};
use crate::node::signal::Interrupt;
use crate::node::trace::Trace;
use crate::protocol::{Answer, Command, NodeFigures, NodePlan, Plan};
use crate::scheduling;
use anyhow::{anyhow, Context, Result};
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::FromRawFd;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, TryRecvError};
use std::sync::Arc;
use std::time::Duration;
use tacho_middleware::Middleware;
use tacho_recording::clock::monotonic_ns;

/// Interval between two counts of peers, until all are found.
const MATCHING_PERIOD: Duration = Duration::from_millis(10);

/// Interval between interrupts of nodes whose end has come, until they have ended.
const RAISED_AGAIN_NS: i64 = 1_000_000_000;

/// Runs this process, which entered main at `main_ns`; returns whether it succeeded.
pub fn run(main_ns: i64) -> bool {
    let served = Runner::take_stdout().and_then(|mut runner| {
        serve(&mut runner, main_ns).or_else(|error| {
            runner.say(&Answer::Failed { cause: format!("{error:#}") })?;
            Err(error)
        })
    });
    served.inspect_err(|error| eprintln!("tacho-node: {error:#}")).unwrap_or(false)
}

/// The connection to the runner, by stdout. What a library prints there goes to stderr instead, which is the log, so
/// that it cannot garble an answer.
struct Runner(File);

impl Runner {
    fn take_stdout() -> Result<Runner> {
        // SAFETY: descriptors of this process; the copy is owned by the File alone.
        let file = unsafe {
            let copy = libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3);
            if copy < 0 || libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) < 0 {
                return Err(io::Error::last_os_error()).context("stdout");
            }
            File::from_raw_fd(copy)
        };
        Ok(Runner(file))
    }

    fn say(&mut self, answer: &Answer) -> Result<()> {
        let mut line = serde_json::to_vec(answer)?;
        line.push(b'\n');
        self.0.write_all(&line).context("the runner does not listen any more")
    }
}

/// Returns whether all nodes came to their end.
fn serve(runner: &mut Runner, main_ns: i64) -> Result<bool> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("stdin")?;
    let plan: Plan = serde_json::from_str(&line).context("the plan on stdin")?;
    let commands = commands();
    if let Some(board) = &plan.board {
        return micro::keep(&plan, board, commands, &mut |answer| runner.say(answer)).map(|()| true);
    }

    // Refuse now what would be refused later, when all others run.
    plan.nodes.iter().try_for_each(scheduling::check)?;
    let stop = Arc::new(StopTime::never());
    let middleware = Middleware::load(&plan.libraries, &plan.middleware)?;
    let session = middleware.open(plan.domain, &plan.transport, &plan.address)?;
    let trace = Trace::find();
    let (mut nodes, mut threads): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for plans in by_thread(&plan.nodes) {
        let thread = SharedThread::of(&session, &plans)?;
        let mut groups = Vec::new();
        for of in &plans {
            let whole = Whole::new(&session, of, &trace)?;
            // On one thread, callbacks run one at a time whatever their groups.
            for group in if thread.threads() > 1 { of.by_group() } else { vec![(*of).clone()] } {
                let (stop, clocked) = (stop.clone(), plan.clock.is_some());
                nodes.push(NodeExecutor::new(&session, &whole, &group, stop, trace, clocked, &thread)?);
                groups.push(group);
            }
        }
        threads.push((plans, groups, thread.threads()));
    }
    let ready_ns = monotonic_ns();
    runner.say(&Answer::Ready {
        version: middleware.version()?,
        main_ns: Some(main_ns),
        ready_ns: Some(ready_ns),
        transports: middleware.transports(),
    })?;

    let Some((start_ns, stop_ns, end_ns)) = wait_for_start(&mut nodes, &commands, runner)? else { return Ok(true) };
    let start_ns = start_ns.max(ready_ns);
    let interrupts: Vec<_> = nodes.iter().map(NodeExecutor::interrupt).collect();
    let mut nodes = nodes.into_iter();
    let run = |(plans, groups, threads): (Vec<&NodePlan>, Vec<NodePlan>, usize)| {
        let plans: Vec<NodePlan> = plans.into_iter().cloned().collect();
        let (first, mut nodes) = (plans[0].clone(), nodes.by_ref().take(groups.len()).collect::<Vec<_>>());
        let name = first.node.thread.as_ref().unwrap_or(&first.node.name).clone();
        std::thread::Builder::new().name(name).spawn(move || -> Result<_> {
            scheduling::apply(&first)?;
            let (figures, ended) = NodeExecutor::run(&mut nodes, threads, start_ns, stop_ns, end_ns);
            let failure = ended.err().map(|(node, error)| format!("node {node}: {error}"));
            Ok((nodes, of_nodes(&plans, groups, figures), failure))
        })
    };
    let threads: Vec<_> = threads.into_iter().map(run).collect::<io::Result<_>>()?;
    let listening = std::thread::spawn(move || {
        let raise_all = || interrupts.iter().for_each(Interrupt::raise);
        let stop_now = || {
            stop.set(stop.ns().min(monotonic_ns()));
            raise_all();
        };
        // Interrupt nodes at their end, because some wait without reading the clock. Repeat it, because a wake-up may
        // need a network that is gone.
        let mut raise_ns = end_ns;
        loop {
            match commands.recv_timeout(Duration::from_nanos((raise_ns - monotonic_ns()).max(0) as u64)) {
                Ok(Command::Stop) => {
                    stop_now();
                    raise_ns = monotonic_ns() + RAISED_AGAIN_NS;
                }
                Ok(Command::Start { .. }) => {}
                Err(RecvTimeoutError::Timeout) => {
                    raise_all();
                    raise_ns = monotonic_ns() + RAISED_AGAIN_NS;
                }
                Err(RecvTimeoutError::Disconnected) => return stop_now(), // the runner has ended, or needs no more
            }
        }
    });

    let (mut figures, mut ended, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for thread in threads {
        let (nodes, of_nodes, failure) = thread.join().map_err(|_| anyhow!("a node panicked; see its log"))??;
        for (at, node) in nodes.iter().enumerate() {
            if let (Some(log), Some(folder)) = (&node.log, &plan.clock) {
                // The second group of a node has a file of its own, and so on.
                let name = match nodes[..at].iter().filter(|before| before.name() == node.name()).count() {
                    0 => node.name().to_owned(),
                    before => format!("{}.{}", node.name(), before + 1),
                };
                log.write(folder, &name).with_context(|| format!("clock of node {name}"))?;
            }
        }
        figures.extend(of_nodes);
        failures.extend(failure);
        ended.extend(nodes);
    }
    let is_whole = failures.is_empty();
    runner.say(&Answer::Done { nodes: figures, board: None, failures })?;
    listening.join().map_err(|_| anyhow!("the thread that listens to the runner panicked"))?;
    Ok(is_whole)
}

/// The figures of nodes from those of their groups.
fn of_nodes(plans: &[NodePlan], groups: Vec<NodePlan>, figures: Vec<NodeFigures>) -> Vec<NodeFigures> {
    if groups.len() == plans.len() {
        return figures;
    }
    let all: Vec<(NodePlan, NodeFigures)> = groups.into_iter().zip(figures).collect();
    let own =
        |plan: &NodePlan| all.iter().filter(|(of, _)| of.node.name == plan.node.name).cloned().collect::<Vec<_>>();
    plans.iter().map(|plan| NodeFigures::of_groups(plan, &own(plan))).collect()
}

/// The nodes of each thread, in the order of the first of them.
fn by_thread(nodes: &[NodePlan]) -> Vec<Vec<&NodePlan>> {
    let mut threads: Vec<Vec<&NodePlan>> = Vec::new();
    for plan in nodes {
        let of_thread = |of: &&mut Vec<&NodePlan>| plan.node.thread.is_some() && of[0].node.thread == plan.node.thread;
        match threads.iter_mut().find(of_thread) {
            Some(of) => of.push(plan),
            None => threads.push(vec![plan]),
        }
    }
    threads
}

/// Receives commands; the channel closes when stdin does.
fn commands() -> Receiver<Command> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lines() {
            let Ok(command) = line.map_err(anyhow::Error::from).and_then(|line| Ok(serde_json::from_str(&line)?))
            else {
                return;
            };
            if sender.send(command).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Reports an endpoint that lacks peers until none does, then waits for the start. If the start has already come, does
/// not wait for peers. `None`: there will be no start.
fn wait_for_start(
    nodes: &mut [NodeExecutor],
    commands: &Receiver<Command>,
    runner: &mut Runner,
) -> Result<Option<(i64, i64, i64)>> {
    // A start that has already come waits for no peers.
    match commands.try_recv() {
        Ok(Command::Start { start_ns, stop_ns, end_ns }) => return Ok(Some((start_ns, stop_ns, end_ns))),
        Ok(Command::Stop) | Err(TryRecvError::Disconnected) => return Ok(None),
        Err(TryRecvError::Empty) => {}
    }
    let mut matched = false;
    let mut said = None;
    loop {
        if !matched {
            let mut lacking = None;
            for node in nodes.iter_mut() {
                if let Some(unmatched) = node.unmatched()? {
                    lacking = Some((node.name().to_owned(), unmatched));
                    break;
                }
            }
            match lacking {
                None => {
                    matched = true;
                    runner.say(&Answer::Matched)?;
                }
                lacking if lacking != said => {
                    if let Some((node, u)) = &lacking {
                        runner.say(&Answer::Unmatched {
                            node: node.clone(),
                            topic: u.topic.clone(),
                            found: u.found,
                            expected: u.expected,
                        })?;
                    }
                    said = lacking;
                }
                _ => {}
            }
        }
        let limit = if matched { Duration::from_secs(3600) } else { MATCHING_PERIOD };
        match commands.recv_timeout(limit) {
            Ok(Command::Start { start_ns, stop_ns, end_ns }) => return Ok(Some((start_ns, stop_ns, end_ns))),
            Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
