//! What to try, in one sentence, for recorded systems on rclcpp, rclpy and ROS 1.

use super::asked::Asked;
use super::callback::Named;
use super::late::Late;
use super::pool;
use crate::lints::POOL_DELAYS;
use tacho_tables::{Cause, CauseKind};

/// Part of the wall time that is CPU time from which on a callback computes.
const COMPUTES: f64 = 0.5;

/// What a callback took of the clock and of its CPU.
#[derive(Default)]
pub(super) struct Took {
    pub wall_ms: f64,
    pub cpu_ms: Option<f64>,
    /// Ready to run and without a CPU, where that is known.
    pub runnable_ms: Option<f64>,
    /// The system call that it was blocked in, where that is known.
    pub waits_in: Option<String>,
    /// The service that it waited for.
    pub asked: Option<Asked>,
    /// What waited for it were its own messages.
    pub is_own_queue: bool,
}

/// Against a callback that delays others, or itself.
pub(super) fn of_callback(late: &Late<'_>, kind: CauseKind, (named, name): (&Named, &str), took: &Took) -> String {
    let who = named.in_short(name);
    let Took { wall_ms, cpu_ms, runnable_ms, is_own_queue, ref waits_in, ref asked } = *took;
    if let Some(asked) = asked {
        return asked.advice(who);
    }
    let lacked_a_cpu = runnable_ms.is_some_and(|runnable| runnable >= COMPUTES * wall_ms);
    if let Some(node) = named.node.as_ref().filter(|_| lacked_a_cpu) {
        return a_cpu_of_its_own(late, node);
    }
    let waits_for = waits_in.as_deref().unwrap_or("a lock, a service, the disk, a sleep");
    let computes = cpu_ms.is_some_and(|cpu| cpu >= COMPUTES * wall_ms);
    let is_off_cpu = kind == CauseKind::OffCpu || cpu_ms.is_some_and(|cpu| cpu < COMPUTES * wall_ms);
    // What took the CPU from it may be what took it from all.
    let is_known = waits_in.is_some() || runnable_ms.is_some();
    let others = late.others.as_ref().filter(|_| is_off_cpu && !is_known);
    let advice = match kind {
        CauseKind::ExecutorBusy | CauseKind::GroupBusy if is_own_queue => format!(
            "Make {who} do less a call, have it take the newest message alone (a depth of 1), or publish its input \
             less often."
        ),
        CauseKind::InterpreterBusy => compute_in_turn(who),
        CauseKind::ExecutorBusy | CauseKind::GroupBusy if computes && named.is_python() => compute_in_turn(who),
        CauseKind::ExecutorBusy | CauseKind::GroupBusy if named.is_python() => {
            format!("Run {who} on a thread or in a process of its own: {POOL_DELAYS}.")
        }
        CauseKind::ExecutorBusy if late.is_ros1 => {
            format!("Give {who} a callback queue and spinner of its own, or a process of its own.")
        }
        CauseKind::ExecutorBusy => {
            format!("Give {who} a callback group of its own on a multi-threaded executor, or a process of its own.")
        }
        CauseKind::GroupBusy => format!("Give {who} a callback group of its own: its executor has a thread to spare."),
        CauseKind::Blocked => {
            format!("Move what {who} waits for ({waits_for}) out of it.")
        }
        _ if is_off_cpu => {
            let says = "; tacho record --scheduler on says whether it slept or was kept from its CPU";
            let says = if others.is_some() || is_known { "" } else { says };
            format!("Move what {who} waits for (a lock, a service, the disk, a sleep) out of it{says}.")
        }
        _ => format!("Make {who} do less a call, or move the seldom part of its work to a callback of its own."),
    };
    match others {
        Some(others) => format!(
            "{advice} But first see with tacho record --scheduler on whether {who} slept or was kept from its CPU: \
             {others}."
        ),
        None => advice,
    }
}

/// Against a callback in Python that computes while others should.
fn compute_in_turn(who: &str) -> String {
    format!("Move {who} to a process of its own: threads of one Python process compute in turn.")
}

/// Against callbacks that occupy all threads.
pub(super) fn more_threads(node: &str) -> String {
    format!("Give the executor of {node} another thread, or move its long callbacks to a process of their own.")
}

/// Against programs that have the CPU and are not named.
pub(super) fn a_cpu_of_its_own(late: &Late<'_>, node: &str) -> String {
    let cure = format!("{node} CPUs of its own (taskset) or a real-time priority (chrt), or end the others.");
    match late.has_scheduler {
        true => format!("Give {cure}"),
        false => format!("See with tacho record --scheduler on who has the CPU meanwhile; give {cure}"),
    }
}

/// Against what is no callback's.
pub(super) fn of_kind(late: &Late<'_>, kind: CauseKind, by: &str, node: &str) -> String {
    match kind {
        CauseKind::Preemption | CauseKind::NoCpu if by == Cause::BY_UNKNOWN => a_cpu_of_its_own(late, node),
        CauseKind::Preemption | CauseKind::NoCpu | CauseKind::Interrupt => {
            format!("Keep {by} off the CPU of {node} (taskset), or give {node} a real-time priority (chrt).")
        }
        CauseKind::Transport => {
            "Compare the size and rate of its messages with what the middleware carries (tacho bench); try shared \
             memory, or nodes composed in one process."
                .into()
        }
        CauseKind::WakeUp if pool::is_of_rclpy(late, node) => pool::advice(node),
        CauseKind::WakeUp | CauseKind::TickLate => {
            let others = late.others.as_ref().map_or(String::new(), |others| format!("; {others}"));
            format!(
                "See what the executor of {node} does between callbacks (spin() in place of polling), and how busy \
                 the machine is (tacho record --scheduler on){others}."
            )
        }
        CauseKind::UsedAgain => format!("Run {node} when a message comes, or its timer no faster than {by} comes."),
        CauseKind::NoNewer => format!("See why {by} comes late: the callbacks of its publisher stand below."),
        CauseKind::NotDue | CauseKind::Kept => {
            format!("Run {node} when its input comes, not by timer, or shift the phase of its timer (tacho tune).")
        }
        _ => String::new(),
    }
}
