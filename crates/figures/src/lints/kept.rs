//! Wall time of callbacks that was no CPU time of their thread: then it is not their work that took long, and a lint
//! says so.

use super::facts::{time, Facts, Ran};
use tacho_tables::row::Row;
use tacho_tables::Callback;

/// Part of the wall time without CPU time beyond which the work is not what took most of it.
const MOST: f64 = 0.5;

/// What a lint says in place of advice to work less.
pub struct Doubt {
    /// Follows its evidence.
    pub evidence: String,
    /// What to try instead.
    pub next: String,
}

impl Facts<'_> {
    /// Whether most of what these executions took was something else than their work, or may have been. `None`: it was
    /// their work, or nothing speaks against that. `what` are they: `them`, `/ndt /points`.
    pub fn doubt<'r>(&self, ran: impl Iterator<Item = &'r Ran>, what: &str) -> Option<Doubt> {
        let (mut wall, mut off, mut known, mut callbacks) = (0, 0, false, std::collections::BTreeSet::new());
        for ran in ran {
            let Some(cpu_ns) = ran.cpu_ns else { continue };
            known = true;
            wall += ran.end_ns - ran.start_ns;
            off += (ran.end_ns - ran.start_ns - cpu_ns).max(0);
            callbacks.insert(ran.callback);
        }
        if !known {
            return self.others().map(|much| Doubt {
                evidence: format!("; CPU time is not recorded, and {much}: how much of this time was work is not known"),
                next: "the same with less beside it, or with --cpu-time or --scheduler on, which tell its work from what it was kept for".into(),
            });
        }
        if off as f64 <= MOST * wall as f64 {
            return None;
        }
        let part = format!(
            "; of {} inside {what} {} ({:.0} %) was wall time without CPU time",
            time(wall),
            time(off),
            100.0 * off as f64 / wall as f64
        );
        let of = |callback: &Row<Callback>| self.off_cpu.get(callback).copied().unwrap_or_default();
        let (runnable, blocked) = callbacks.iter().map(of).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let meanwhile = self.others().map_or(String::new(), |much| format!("; {much}"));
        Some(match (runnable, blocked) {
            (0, 0) => Doubt {
                evidence: format!("{part}: whether its thread was kept from its CPU or slept cannot be told without scheduler events{meanwhile}"),
                next: "--scheduler on tells whether the thread was kept from its CPU (then a CPU of its own, SCHED_FIFO, or less beside it) or slept \
                       in the callback (then what it waits for, moved out of it)"
                    .into(),
            },
            (runnable, blocked) if runnable >= blocked => Doubt {
                evidence: format!("{part}: its thread was kept from its CPU{meanwhile}"),
                next: "a CPU of its own (taskset), SCHED_FIFO, or less beside it".into(),
            },
            _ => Doubt {
                evidence: format!("{part}: its thread slept or was blocked in the callback"),
                next: "what it waits for inside the callback (a lock, a device, a reply, a sleep), moved out of it".into(),
            },
        })
    }

    /// What others took of the machine, in words, where that was much.
    fn others(&self) -> Option<String> {
        self.load.and_then(|load| load.much())
    }
}
