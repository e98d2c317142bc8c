//! Records of perf_event_open(2): calls of probed functions, and losses.

use tacho_events::run::EventGap;

const PERF_RECORD_LOST: u32 = 2;
const PERF_RECORD_SAMPLE: u32 = 9;

/// A record of the kernel.
pub(super) enum Record<'a> {
    Call { time: i64, pid: u32, tid: u32, raw: &'a [u8] },
    Lost { time: i64, count: u64 },
}

pub(super) const TOO_FAST: &str = "calls came faster than tacho could read them";

/// Joins gaps that follow each other directly, or overlap.
pub(super) fn add_gap(gaps: &mut Vec<EventGap>, gap: EventGap) {
    match gaps.last_mut().filter(|last| last.to_ns >= gap.from_ns && gap.to_ns >= last.from_ns) {
        Some(last) => {
            (last.from_ns, last.to_ns) = (last.from_ns.min(gap.from_ns), last.to_ns.max(gap.to_ns));
            last.events = last.events.zip(gap.events).map(|(a, b)| a + b);
        }
        None => gaps.push(gap),
    }
}

/// Parses a record of perf_event_open(2). Samples hold TID, TIME and RAW; all other records have these, except RAW, at
/// their end.
pub(super) fn parse(bytes: &[u8]) -> Option<Record<'_>> {
    let u32_at = |at: usize| bytes.get(at..)?.first_chunk::<4>().map(|word| u32::from_le_bytes(*word));
    let u64_at = |at: usize| bytes.get(at..)?.first_chunk::<8>().map(|word| u64::from_le_bytes(*word));
    match u32_at(0)? {
        PERF_RECORD_SAMPLE => {
            let size = u32_at(24)? as usize;
            Some(Record::Call {
                pid: u32_at(8)?,
                tid: u32_at(12)?,
                time: u64_at(16)? as i64,
                raw: bytes.get(28..28 + size)?,
            })
        }
        PERF_RECORD_LOST => Some(Record::Lost { count: u64_at(16)?, time: u64_at(32)? as i64 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_cut_short_is_none() {
        let mut bytes = vec![0; 40];
        bytes[0] = PERF_RECORD_SAMPLE as u8;
        bytes[24] = 12;
        assert!(matches!(parse(&bytes), Some(Record::Call { raw: [_, ..], .. })));
        let lost = [2u32, 40 << 16].map(u32::to_le_bytes).concat();
        let lost = [lost, [77u64, 12, 0, 5_000].map(u64::to_le_bytes).concat()].concat();
        assert!(matches!(parse(&lost), Some(Record::Lost { time: 5_000, count: 12 })));
        bytes[24] = 13;
        assert!(parse(&bytes).is_none());
        assert!(parse(&bytes[..3]).is_none());
    }

    #[test]
    fn gaps_that_touch_each_other_are_one() {
        let gap = |from_ns, to_ns| EventGap { boot_id: None, from_ns, to_ns, events: Some(1), cause: TOO_FAST.into() };
        let mut gaps = Vec::new();
        [gap(10, 20), gap(20, 25), gap(5, 12), gap(40, 50)].into_iter().for_each(|found| add_gap(&mut gaps, found));
        let told: Vec<_> = gaps.iter().map(|gap| (gap.from_ns, gap.to_ns, gap.events)).collect();
        assert_eq!(told, [(5, 25, Some(3)), (40, 50, Some(1))]);
    }
}
