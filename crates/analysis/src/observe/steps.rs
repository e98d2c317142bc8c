//! Steps of the client library between two events of one take. Each does the same work every time, whatever the
//! message is, so how long they take tells how fast their CPU is.

use tacho_events::Payload;
use tacho_tables::rows::Rows;

/// Length of a bin: each kind of step has one median a bin.
pub(crate) const BIN_NS: i64 = 250_000_000;
/// The median of a bin comes from so many of its last steps at most.
const KEPT: usize = 16;

/// An instant of a take, as an event tells it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instant {
    RmwTake,
    RclTake,
    RclcppTake,
    CallbackStart,
}

impl Instant {
    fn of(payload: &Payload) -> Option<Instant> {
        match payload {
            Payload::RmwTake { taken: true, .. } => Some(Instant::RmwTake),
            Payload::RclTake { .. } => Some(Instant::RclTake),
            Payload::RclcppTake { .. } => Some(Instant::RclcppTake),
            Payload::CallbackStart { .. } => Some(Instant::CallbackStart),
            _ => None,
        }
    }
}

/// Kinds of steps: from one of these instants to the next.
pub(crate) const KINDS: usize = 3;

/// How long the steps of one kind took on a thread in one bin.
#[derive(Clone, Copy, Default)]
pub(crate) struct StepTime {
    pub stream: u32,
    pub kind: u8,
    /// Number of the bin.
    pub bin: i64,
    pub median_ns: u32,
    pub count: u32,
}

/// The threads' steps.
#[derive(Default)]
pub(crate) struct Steps {
    streams: Vec<OfStream>,
    times: Rows<StepTime>,
}

#[derive(Default, Clone)]
struct OfStream {
    last: Option<(Instant, i64)>,
    kinds: [Bin; KINDS],
}

/// Steps of one kind.
#[derive(Default, Clone, Copy)]
struct Bin {
    number: i64,
    count: u32,
    times: [u32; KEPT],
}

impl Bin {
    fn close(&mut self, stream: usize, kind: usize) -> Option<StepTime> {
        let (kept, count) = (KEPT.min(self.count as usize), std::mem::take(&mut self.count));
        let times = &mut self.times[..kept];
        let median_ns = (kept > 0).then(|| *times.select_nth_unstable((kept - 1) / 2).1)?;
        Some(StepTime { stream: stream as u32, kind: kind as u8, bin: self.number, median_ns, count })
    }
}

impl Steps {
    /// Takes the next event of a thread.
    pub fn push(&mut self, stream: usize, payload: &Payload, now: i64) {
        if let Some(instant) = Instant::of(payload) {
            self.pass(stream, instant, now);
        }
    }

    fn pass(&mut self, stream: usize, instant: Instant, now: i64) {
        if self.streams.len() <= stream {
            self.streams.resize(stream + 1, OfStream::default());
        }
        let of = &mut self.streams[stream];
        let last = of.last.replace((instant, now));
        let Some((_, since)) = last.filter(|(before, _)| *before as usize + 1 == instant as usize) else { return };
        // In virtual time it takes none, which tells of no CPU.
        if now == since {
            return;
        }
        let kind = instant as usize - 1;
        let (bin, number) = (&mut of.kinds[kind], now.div_euclid(BIN_NS));
        if bin.number != number {
            self.times.extend(bin.close(stream, kind));
            bin.number = number;
        }
        bin.times[bin.count as usize % KEPT] = (now - since).try_into().unwrap_or(u32::MAX);
        bin.count += 1;
    }

    /// No more of them come.
    pub fn finish(&mut self) {
        for (stream, of) in self.streams.iter_mut().enumerate() {
            for (kind, bin) in of.kinds.iter_mut().enumerate() {
                self.times.extend(bin.close(stream, kind));
            }
        }
    }

    /// Of each thread and kind in the order of time.
    pub fn times(&self) -> &[StepTime] {
        &self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_from_one_instant_to_the_next_on_its_thread() {
        let mut steps = Steps::default();
        for take in 0..20 {
            let at = take * 10_000;
            steps.pass(0, Instant::RmwTake, at);
            steps.pass(1, Instant::RclTake, at + 7);
            steps.pass(0, Instant::RclTake, at + 100 + take);
            // The client library took nothing: no step from here.
            steps.pass(0, Instant::CallbackStart, at + 900);
        }
        steps.pass(0, Instant::RmwTake, BIN_NS);
        steps.pass(0, Instant::RclTake, BIN_NS + 50);
        steps.finish();
        let times: Vec<(u32, u8, i64, u32, u32)> =
            steps.times().iter().map(|of| (of.stream, of.kind, of.bin, of.median_ns, of.count)).collect();
        // Of 104 to 119, the last 16.
        assert_eq!(times, [(0, 0, 0, 111, 20), (0, 0, 1, 50, 1)]);
    }
}
