//! Lints on the kernel.

use crate::{Finding, Kernel};
use tacho_recording::preemption::Preemption;

pub(crate) fn findings(facts: &Kernel) -> Vec<Finding> {
    vec![preemption(facts), huge_pages(facts), run_delay(facts)]
}

/// Study B, finding 5: a real-time kernel lowers latency and jitter.
fn preemption(facts: &Kernel) -> Finding {
    let release = facts.release.as_deref().unwrap_or("release unknown");
    let found = |model: &str| format!("Linux {release}, {model}");
    let worst =
        |part: &str| format!("{part}: jitter and worst case of latency and of end-to-end time (study B, finding 5)");
    let boot_full = "add preempt=full to the kernel's command line, if it has PREEMPT_DYNAMIC, then boot";
    let real_time = "apt-get install linux-image-rt-amd64   # or another PREEMPT_RT kernel; then boot it";
    let costs = |model, part| Finding::costs("preemption", found(model), worst(part));
    match facts.preemption {
        Some(Preemption::RealTime) => Finding::ok("preemption", found("real time (PREEMPT_RT)")),
        Some(Preemption::Full) => {
            costs("full", "a woken node waits while the kernel holds a spin lock or serves an interrupt")
                .mend(real_time)
        }
        Some(Preemption::Lazy) => {
            costs("lazy", "a woken node of normal priority may wait for the next tick").mend(boot_full).mend(real_time)
        }
        Some(Preemption::Voluntary) => {
            costs("voluntary", "a woken node waits until kernel code gets to a point where it may be left")
                .mend(boot_full)
                .mend(real_time)
        }
        Some(Preemption::None) => {
            costs("none", "a woken node waits until a system call of another ends").mend(boot_full).mend(real_time)
        }
        Some(Preemption::DynamicUnknown) => {
            Finding::unknown("preemption", found("dynamic; which model is chosen can only root read"))
                .mend("cat /sys/kernel/debug/sched/preempt")
        }
        None => Finding::unknown(
            "preemption",
            found("the model is neither in uname -v nor in a configuration that can be read"),
        ),
    }
}

fn huge_pages(facts: &Kernel) -> Finding {
    let name = "transparent-hugepages";
    match facts.transparent_hugepages.as_deref() {
        Some("always") => Finding::costs(
            name,
            "always",
            "a page fault may compact memory before it returns: outliers of callback time (study D) and memory figures \
             (study C)",
        )
        .mend("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"),
        Some(found) => Finding::ok(name, found),
        None => Finding::unknown(name, "/sys/kernel/mm/transparent_hugepage/enabled cannot be read"),
    }
}

fn run_delay(facts: &Kernel) -> Finding {
    let name = "run-delay";
    match facts.counts_run_delay {
        Some(true) => Finding::ok(name, "the kernel counts for how long a thread has no CPU"),
        Some(false) => Finding::costs(
            name,
            "the kernel does not count for how long a thread has no CPU",
            "whether a callback that was off the CPU slept or lacked a CPU is not known without scheduler events",
        )
        .mend("add delayacct to the kernel's command line, if it has CONFIG_TASK_DELAY_ACCT, then boot")
        .mend("tacho record --scheduler on"),
        None => Finding::unknown(name, "/proc/thread-self/schedstat cannot be read"),
    }
}

/// The text of /proc/PID/schedstat (sched-stats.rst of the kernel): a kernel that does not count prints zeros, even for
/// the number of times that a thread got a CPU.
pub(crate) fn counts_run_delay(text: &str) -> bool {
    text.split_whitespace().nth(2).and_then(|times| times.parse::<u64>().ok()).is_some_and(|times| times > 0)
}

/// `always [madvise] never`: the word in brackets.
pub(crate) fn chosen(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn only_a_real_time_kernel_costs_nothing() {
        let of = |model| preemption(&Kernel { preemption: Some(model), ..Kernel::default() }).verdict;
        assert_eq!(of(Preemption::RealTime), Verdict::Ok);
        for model in [Preemption::Full, Preemption::Lazy, Preemption::Voluntary, Preemption::None] {
            assert_eq!(of(model), Verdict::Costs, "{model:?}");
        }
        assert_eq!(of(Preemption::DynamicUnknown), Verdict::Unknown);
    }

    #[test]
    fn huge_pages_for_all_cost() {
        let of = |text| {
            huge_pages(&Kernel { transparent_hugepages: chosen(text).map(str::to_owned), ..Kernel::default() }).verdict
        };
        assert_eq!(of("[always] madvise never"), Verdict::Costs);
        assert_eq!(of("always [madvise] never"), Verdict::Ok);
        assert_eq!(of(""), Verdict::Unknown);
    }

    #[test]
    fn a_kernel_that_prints_zeros_does_not_count() {
        let of = |counts| run_delay(&Kernel { counts_run_delay: counts, ..Kernel::default() }).verdict;
        assert_eq!(of(Some(counts_run_delay("943437 0 1\n"))), Verdict::Ok);
        assert_eq!(of(Some(counts_run_delay("0 0 0\n"))), Verdict::Costs);
        assert_eq!(of(Some(counts_run_delay(""))), Verdict::Costs);
        assert_eq!(of(None), Verdict::Unknown);
    }
}
