//! Makes a long run from a short one: it repeats the measured window, with later times and higher sequence numbers. So
//! you can measure what an hour costs without recording one: `cargo run --release -p tacho-events --example repeat_run
//! -- RUN TIMES OUT`.
//!
//! RUN must be recorded with `TACHO_EVENTS_CLOCK=monotonic`. If a message is on its way when the window ends, its other
//! end is in the next copy under another number. So a few messages at each joint are lost, or taken and never
//! published.

use std::error::Error;
use tacho_events::layout::{ChunkHeader, FileHeader, TickSource, CHUNK_SIZE, HEADER_SIZE};
use tacho_events::record::Records;
use tacho_events::{writer::EventFile, RunDirectory};

/// Kinds that have times among their words, with the positions of these words.
const TIMES: &[(u16, &[usize])] =
    &[(2, &[0, 1]), (23, &[2]), (28, &[2]), (66, &[3]), (67, &[3]), (129, &[3]), (133, &[2])];
/// Kinds that have sequence numbers among their words, with the positions of these words.
const SEQUENCES: &[(u16, &[usize])] =
    &[(66, &[2]), (67, &[2]), (68, &[4, 5]), (128, &[2]), (129, &[2]), (133, &[1]), (154, &[1])];
/// The distance of sequence numbers from one copy to the next.
const STRIDE: u64 = 1 << 32;

fn places(of: &[(u16, &'static [usize])], kind: u16) -> &'static [usize] {
    of.iter().find(|(k, _)| *k == kind).map_or(&[], |(_, places)| places)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, run, times, out] = args.as_slice() else { return Err("usage: repeat_run RUN TIMES OUT".into()) };
    let (run, out, times) = (RunDirectory::new(run), RunDirectory::new(out), times.parse::<u64>()?);
    let mut info = run.info()?;
    let (Some(from), Some(to)) = (info.measured_from_ns, info.measured_to_ns) else {
        return Err("run.json has no window".into());
    };
    let (from, to) = (from as u64, to as u64);
    let span = to - from;
    std::fs::create_dir_all(out.events())?;
    for entry in std::fs::read_dir(run.events())? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name == "clock.sync") {
            continue;
        }
        let bytes = std::fs::read(&path)?;
        let Ok(header) = FileHeader::read(&bytes) else { continue };
        if header.ticks != TickSource::Monotonic {
            return Err(
                format!("{}: its ticks are no ns; record with TACHO_EVENTS_CLOCK=monotonic", path.display()).into()
            );
        }
        let records = |head: &ChunkHeader| Records::new(&header.format, head.base_ticks);
        let mut file = EventFile::create(&out.events().join(path.file_name().ok_or("no name")?), header.clone())?;
        for copy in 0..times {
            for chunk in bytes[HEADER_SIZE..].chunks(CHUNK_SIZE) {
                let Ok(Some(head)) = ChunkHeader::read(chunk) else { continue };
                each_event(chunk, records(&head), |ticks, kind, words, texts| {
                    let wanted = if ticks < from { copy == 0 } else { ticks < to || copy == times - 1 };
                    if !wanted {
                        return Ok(());
                    }
                    places(TIMES, kind).iter().for_each(|at| words[*at] += copy * span);
                    places(SEQUENCES, kind).iter().for_each(|at| words[*at] += copy * STRIDE);
                    file.put(head.tid, ticks + copy * span, kind, words, texts)
                })?;
            }
        }
        file.finish()?;
    }
    info.measured_to_ns = Some((from + times * span) as i64);
    out.write_info(&info)?;
    if run.workload().is_file() {
        std::fs::copy(run.workload(), out.workload())?;
    }
    Ok(())
}

/// Reads each event of a chunk: ticks, kind, words, texts.
fn each_event(
    chunk: &[u8],
    mut records: Records,
    mut each: impl FnMut(u64, u16, &mut [u64], &[&str]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut texts = Vec::new();
    while let Some(record) = records.next(chunk) {
        if record.is_text() {
            texts.extend_from_slice(record.payload);
            continue;
        }
        let text = String::from_utf8_lossy(&texts).into_owned();
        let parts: Vec<&str> =
            if texts.is_empty() { Vec::new() } else { text.trim_end_matches('\0').split('\0').collect() };
        each(record.ticks, record.kind, &mut records.words(&record), &parts)?;
        texts.clear();
    }
    Ok(())
}
