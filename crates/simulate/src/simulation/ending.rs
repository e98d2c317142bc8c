//! When nodes end, and what they count then.

use super::Simulation;
use tacho_events::files::Failed;
use tacho_events::number;
use tacho_runner::window::{LINGERING_NS, LONGEST_LINGERING_NS};

impl Simulation {
    /// A node that took a message which was sent while sources ran waits for more of them.
    pub(super) fn linger(&mut self, node: usize, now: i64) {
        let of = &mut self.nodes[node];
        let longest_ns = self.window.end_ns + LONGEST_LINGERING_NS;
        of.end_ns = of.end_ns.max(longest_ns.min(now + LINGERING_NS));
        self.last_ns = self.last_ns.max(of.end_ns);
    }

    /// Counts what was due and not served at the end, as nodes do.
    pub(super) fn skip_rest(&mut self) -> Result<(), Failed> {
        let end_ns = self.last_ns;
        for node in 0..self.nodes.len() {
            let of = &self.nodes[node];
            let last_ns = match &of.wakes {
                // What a wake before the end would have sent.
                Some(wakes) => wakes.due_by(of.end_ns - 1).checked_sub(1).map(|last| wakes.due_ns(last)),
                None => Some(of.end_ns - 1),
            };
            let Some(last_ns) = last_ns else { continue };
            let mut skipped = Vec::new();
            for (index, (grid, served)) in of.grids.iter().zip(&of.served).enumerate() {
                let Some(grid) = grid else { continue };
                let count = grid.due_by(last_ns).saturating_sub(*served);
                match of.wakes {
                    Some(_) => skipped.push((index, count)),
                    None => {
                        let clocked = of.timers[index].serves.iter().filter(|of| of.is_clocked);
                        skipped.extend(clocked.map(|of| (of.answer.publication, count)));
                    }
                }
            }
            for (publisher, count) in skipped.into_iter().filter(|(_, count)| *count > 0) {
                let words = [self.nodes[node].publishers[publisher].handle, count];
                self.trace.put(self.stream_of(node), end_ns, number::node_skipped, &words)?;
            }
        }
        Ok(())
    }
}
