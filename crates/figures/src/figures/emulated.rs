//! What is not told of emulated boards: durations. An emulator's time is not that of the hardware, so what lies in it
//! is no measured figure.

use crate::figures::Repeat;
use std::collections::BTreeSet;
use tacho_tables::summary::{CallbackFigures, ChainFigures};

/// Full names of nodes on emulated boards.
fn nodes<'a>(repeats: &[Repeat<'a>]) -> BTreeSet<&'a str> {
    let of = |repeat: &Repeat<'a>| {
        let tables = repeat.tables;
        tables.nodes.iter().filter(|node| tables.processes[node.process].is_emulated()).map(|node| node.name.as_str())
    };
    repeats.iter().flat_map(of).collect()
}

/// Takes durations away that emulated time lies in: all of a callback on a board and of a chain that begins or ends
/// there, the parts of one that passes through. Counts stay.
pub(crate) fn withhold(callbacks: &mut [CallbackFigures], chains: &mut [ChainFigures], repeats: &[Repeat<'_>]) {
    let nodes = nodes(repeats);
    if nodes.is_empty() {
        return;
    }
    let emulated = |name: &String| nodes.contains(name.as_str());
    for callback in callbacks.iter_mut().filter(|callback| callback.node.as_ref().is_some_and(emulated)) {
        (callback.duration_us, callback.off_cpu_us, callback.queue_wait_us) = (None, None, None);
    }
    for chain in chains.iter_mut() {
        let on_boards: Vec<bool> = chain.path.iter().step_by(2).map(emulated).collect();
        if !on_boards.contains(&true) {
            continue;
        }
        let whole = !(on_boards[0] || on_boards[on_boards.len() - 1]);
        *chain = ChainFigures {
            name: std::mem::take(&mut chain.name),
            path: std::mem::take(&mut chain.path),
            guessed_at: std::mem::take(&mut chain.guessed_at),
            callbacks: std::mem::take(&mut chain.callbacks),
            evidence: std::mem::take(&mut chain.evidence),
            instances: chain.instances,
            lost: chain.lost,
            end_to_end_ms: chain.end_to_end_ms.take().filter(|_| whole),
            repeat_means_ms: chain.repeat_means_ms.take().filter(|_| whole),
            ..ChainFigures::default()
        };
    }
    let rank = |chain: &ChainFigures| Some((chain.guessed_at.is_empty(), chain.end_to_end_ms.as_ref()?.max));
    let most = chains.iter().filter_map(rank).max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let critical = most.and_then(|most| chains.iter().position(|chain| rank(chain) == Some(most)));
    chains.iter_mut().enumerate().for_each(|(index, chain)| chain.critical = critical == Some(index));
}
