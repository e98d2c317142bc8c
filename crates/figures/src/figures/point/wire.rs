//! Bytes on the wire (study C 1.2), from what was counted at the bridge that joins the hosts.

use crate::figures::Repeat;
use tacho_events::run::WireCount;

/// Of every repeat; absent where one was not counted, or where frames were missed.
fn counted<'a>(repeats: &'a [Repeat<'_>]) -> Option<Vec<&'a WireCount>> {
    let of = |repeat: &'a Repeat<'_>| repeat.info?.wire.as_ref().filter(|wire| wire.missed == 0);
    repeats.iter().map(of).collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())
}

/// All frames, a message sent.
pub(super) fn bytes_per_message(repeats: &[Repeat<'_>], sent: u64) -> Option<f64> {
    let bytes: u64 = counted(repeats)?.iter().map(|wire| wire.bytes).sum();
    (sent > 0).then(|| bytes as f64 / sent as f64)
}

/// Mean of the frames that carry messages.
pub(super) fn data_frame_bytes(repeats: &[Repeat<'_>]) -> Option<f64> {
    let counted = counted(repeats)?;
    let (bytes, frames) =
        counted.iter().fold((0, 0), |(bytes, frames), wire| (bytes + wire.data_bytes, frames + wire.data_frames));
    (frames > 0).then(|| bytes as f64 / frames as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_analysis::Options;
    use tacho_events::run::RunInfo;
    use tacho_tables::Tables;

    #[test]
    fn repeats_are_pooled_and_a_missed_frame_makes_all_absent() {
        let tables = Tables::default();
        let info = |missed| RunInfo {
            wire: Some(WireCount { frames: 30, bytes: 4_000, data_frames: 10, data_bytes: 1_060, missed }),
            ..RunInfo::default()
        };
        let infos = [info(0), info(0), info(1)];
        let repeats: Vec<_> = infos
            .iter()
            .map(|info| Repeat { tables: &tables, options: Options::default(), info: Some(info) })
            .collect();
        assert_eq!((bytes_per_message(&repeats[..2], 20), data_frame_bytes(&repeats[..2])), (Some(400.0), Some(106.0)));
        assert_eq!((bytes_per_message(&repeats, 30), data_frame_bytes(&repeats)), (None, None));
        assert_eq!((bytes_per_message(&repeats[..1], 0), data_frame_bytes(&[])), (None, None));
    }
}
