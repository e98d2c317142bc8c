//! Whether a node frees what it keeps once it has made an output of it, as addresses of messages show.
//!
//! Two messages that exist at one time have different addresses. If another message has the address of a kept message
//! before its successor is taken, the kept one has been freed. If that happens only after an output, the output used it
//! up.

use super::{Output, Ties, TIMES};
use crate::observe::{TakeSeen, Topic};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use tacho_tables::row::Row;
use tacho_tables::Node;

/// How likely a node that keeps no message (it copies them) may look like one that frees them after outputs.
const CHANCE: f64 = 0.01;
/// Messages looked at, evenly spread over the run.
const KEPT: usize = 512;

/// Messages at which an address could have been used again, by how many such came before since the message was taken.
#[derive(Default, Clone, Copy)]
struct Times {
    before_output: u32,
    after_output: u32,
    reused: u32,
}

impl Ties<'_> {
    /// Whether the addresses of an input's messages are used again after the outputs that followed them, and never
    /// before. An allocator that gives back addresses late shows that, too, of messages that are not kept; so what
    /// happened after outputs is compared with what happened before others, after as many messages each.
    pub(super) fn frees(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> bool {
        let seen = self.seen;
        let takes = self.usage.takes(node, input);
        let addresses: HashSet<u64> =
            takes.iter().map(|take| seen.takes[*take].message).filter(|message| *message != 0).collect();
        let mut times: HashMap<u32, Times> = HashMap::default();
        let step = takes.len().div_ceil(KEPT).max(1);
        for pair in takes.windows(2).step_by(step) {
            let (kept, next) = (&seen.takes[pair[0]], &seen.takes[pair[1]]);
            let held_from = kept.execution.map_or(Some(kept.time), |e| seen.executions[e].end_ns.get());
            let Some(held_from) = held_from.filter(|_| kept.message != 0 && !seen.lacks(kept.time, next.time)) else {
                continue;
            };
            let output = outputs.get(outputs.partition_point(|o| o.time <= held_from));
            let execution = output.map(|o| (&seen.executions[o.execution], o.time));
            let (begins, ends) =
                execution.map_or((i64::MAX, i64::MAX), |(e, time)| (e.start_ns, e.end_ns.get().unwrap_or(time)));
            let mut number = 0;
            for row in pair[0].index() + 1..=pair[1].index() {
                let other = &seen.takes[Row::<TakeSeen>::behind(row)];
                let after = other.time >= ends;
                if !addresses.contains(&other.message)
                    || seen.nodes[seen.endpoints[other.endpoint].node].process != seen.nodes[node].process
                    || other.time <= held_from
                    || other.time > begins && !after
                {
                    continue;
                }
                let reused = other.message == kept.message;
                if reused && !after {
                    return false;
                }
                let of = times.entry(number).or_default();
                *(if after { &mut of.after_output } else { &mut of.before_output }) += 1;
                of.reused += u32::from(reused);
                if reused {
                    break;
                }
                number += 1;
            }
        }
        let reused: u32 = times.values().map(|of| of.reused).sum();
        let share = |of: &Times| f64::from(of.after_output) / f64::from(of.after_output + of.before_output);
        let chance: f64 = times.values().map(|of| share(of).powi(of.reused as i32)).product();
        reused as usize >= TIMES && chance < CHANCE
    }
}
