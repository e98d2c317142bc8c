//! Describes in words what the recorder had to do differently in a process.

use crate::recorded::RecordedProcess;
use tacho_events::layout::{remark, TickSource};

impl RecordedProcess {
    /// Why events of it were dropped.
    pub(crate) fn why_dropped(&self) -> String {
        let nested = self.dropped_nested.min(self.dropped_events);
        let mut causes = Vec::new();
        if nested > 0 {
            causes.push(format!("{nested} by signal handlers inside the writing of another event"));
        }
        if nested < self.dropped_events {
            causes.extend(self.storage_error.clone());
            if self.remarks & remark::STRICT_SECCOMP != 0 {
                causes.push("a thread entered seccomp's strict mode, where a system call would end it".into());
            }
            if self.remarks & remark::NO_TSC != 0 && self.ticks != TickSource::Monotonic {
                causes.push("a thread may not read the TSC (PR_SET_TSC)".into());
            }
            if causes.len() == usize::from(nested > 0) {
                causes.push("more than --max-mib (TACHO_EVENTS_MAX_BYTES), or faster than storage could grow".into());
            }
        }
        causes.join("; ")
    }

    /// Returns further remarks about its recording.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let who = format!("process {} ({})", self.pid, self.command);
        let mut remarks = Vec::new();
        if self.remarks & remark::FEW_DESCRIPTORS != 0 {
            remarks.push(format!(
                "{who} had hardly any descriptor left (RLIMIT_NOFILE): none was kept for its events, whose file was \
                 opened anew each time it grew; raise `ulimit -n`"
            ));
        }
        if self.remarks & remark::NO_TSC != 0 && self.ticks == TickSource::Monotonic {
            remarks.push(format!(
                "{who} may not read the TSC (PR_SET_TSC): its clock was read by a system call at each event"
            ));
        }
        if self.remarks & remark::SHARED_THREAD != 0 {
            remarks.push(format!(
                "in {who} another process or thread wrote with the memory of one of its threads (vfork, or clone with \
                 CLONE_VM): events of both stand under that thread"
            ));
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::layout::FileHeader;

    fn process(header: FileHeader) -> RecordedProcess {
        RecordedProcess::of("1-2.events".into(), header, false)
    }

    #[test]
    fn each_cause_of_a_drop_is_named_and_no_other() {
        let why = |dropped, dropped_nested, remarks| {
            process(FileHeader { dropped, dropped_nested, remarks, ticks: TickSource::Tsc, ..FileHeader::default() })
                .why_dropped()
        };
        assert_eq!(why(3, 3, 0), "3 by signal handlers inside the writing of another event");
        assert!(why(3, 0, 0).starts_with("more than --max-mib"));
        assert!(why(3, 1, 0).contains("1 by signal handlers") && why(3, 1, 0).contains("--max-mib"));
        assert!(
            why(3, 0, remark::STRICT_SECCOMP).contains("seccomp")
                && !why(3, 0, remark::STRICT_SECCOMP).contains("--max-mib")
        );
        assert!(why(3, 0, remark::NO_TSC).contains("PR_SET_TSC"));
    }

    #[test]
    fn what_was_done_otherwise_is_said_and_an_older_file_says_nothing() {
        let said = |remarks| process(FileHeader { remarks, ..FileHeader::default() }).remarks();
        assert!(said(0).is_empty());
        assert!(said(remark::FEW_DESCRIPTORS)[0].contains("RLIMIT_NOFILE"));
        assert!(said(remark::NO_TSC)[0].contains("system call"));
        assert!(said(remark::SHARED_THREAD)[0].contains("CLONE_VM"));
    }
}
