//! Boards of a point (study C): their memories, their start by their own clock, and what lies between their messages'
//! ends, labelled for what it is.

use crate::figures::{elapsed_us, Repeat};
use tacho_events::run::Board;
use tacho_tables::summary::{BoardFigures, Distribution};

const NS_PER_US: f64 = 1e3;
const NS_PER_MS: f64 = 1e6;

/// Each board, in the order of the workload; of repeats the first's memories, every one's times.
pub(super) fn boards(repeats: &[Repeat<'_>]) -> Vec<BoardFigures> {
    let of_run = |repeat: &Repeat<'_>| -> Vec<(String, Board)> {
        let processes = repeat.info.map(|info| info.processes.as_slice()).unwrap_or_default();
        processes.iter().filter_map(|p| Some((p.name.clone(), p.board.clone()?))).collect()
    };
    let Some(first) = repeats.iter().map(of_run).find(|boards| !boards.is_empty()) else { return Vec::new() };
    let all: Vec<(String, Board)> = repeats.iter().flat_map(of_run).collect();
    let figures = |(node, board): (String, Board)| {
        let mine = || all.iter().filter(|(name, _)| *name == node).map(|(_, board)| board);
        let after_init = |mark: fn(&Board) -> Option<u64>| {
            Distribution::of(
                mine().filter_map(|b| Some(mark(b)?.checked_sub(b.init_ns?)? as f64 / NS_PER_MS)).collect(),
            )
        };
        let errors = repeats
            .iter()
            .flat_map(|r| &r.tables.processes)
            .filter(|p| p.board.is_some() && p.host == node)
            .map(|p| p.clock_error_ns);
        let worst = errors.collect::<Option<Vec<i64>>>().and_then(|errors| errors.into_iter().max());
        BoardFigures {
            machine: board.machine.clone(),
            emulated: board.emulated,
            network: board.network.clone(),
            rom_bytes: board.rom_bytes,
            ram_bytes: board.ram_bytes,
            stack_bytes: board.stack_bytes,
            clock_error_us: worst.map(|ns| ns as f64 / NS_PER_US),
            own_clock_matched_ms: after_init(|board| board.matched_ns),
            own_clock_first_message_ms: after_init(|board| board.first_message_ns),
            counters: board.counters.clone(),
            node,
        }
    };
    first.into_iter().map(figures).collect()
}

/// Publish call to first line, of messages with an end on an emulated board.
pub(super) fn emulated_us(repeats: &[Repeat<'_>]) -> Option<Distribution> {
    Distribution::of(
        repeats.iter().flat_map(|r| &r.tables.messages).filter(|m| m.emulated).filter_map(elapsed_us).collect(),
    )
}
