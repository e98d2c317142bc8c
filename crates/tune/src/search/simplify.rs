//! Takes back changes that buy too little.

use super::memory::Memory;
use super::{changes, Choice, Move, Value};
use anyhow::Result;

/// Most simpler candidates that are looked at.
const SIMPLER: usize = 8;

/// Takes changes back as long as no goal gets worse than `from` by more than its margin.
pub(super) fn simplify(memory: &mut Memory<'_>, from: Choice, simpler: Vec<Choice>, margins: &[f64]) -> Result<Choice> {
    let batch = [vec![from.clone()], simpler].concat();
    let mut begun = memory.values(&batch, Move::Simplification)?.into_iter();
    let Some(best) = begun.next().and_then(|(_, value)| value) else { return Ok(from) };
    let serves = |(choice, value): (Choice, Option<Value>)| loss(&value?, &best, margins).map(|_| choice);
    let mut at = begun.find_map(serves).unwrap_or(from);
    loop {
        let turned: Vec<usize> = (0..at.len()).filter(|knob| at[*knob] > 0).collect();
        let batch: Vec<Choice> = turned.iter().map(|knob| without(&at, &[*knob])).collect();
        let values = memory.values(&batch, Move::Simplification)?;
        let mut little: Vec<(usize, f64)> = turned
            .into_iter()
            .zip(values)
            .filter_map(|(knob, (_, value))| Some((knob, loss(&value?, &best, margins)?)))
            .collect();
        little.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        let knobs: Vec<usize> = little.into_iter().map(|(knob, _)| knob).collect();
        if knobs.is_empty() {
            return Ok(at);
        }
        // As many at once as stay within the margins together.
        let mut count = knobs.len();
        loop {
            let fewer = without(&at, &knobs[..count]);
            let value = memory.values(std::slice::from_ref(&fewer), Move::Simplification)?.remove(0).1;
            if value.is_some_and(|value| loss(&value, &best, margins).is_some()) {
                at = fewer;
                break;
            }
            count = count.div_ceil(2).min(count - 1);
        }
    }
}

/// Candidates with fewer changes that are worse by at most the margins: those with the fewest first, some.
pub(super) fn simpler(memory: &Memory<'_>, than: &Choice, margins: &[f64]) -> Vec<Choice> {
    let Some(best) = memory.value(than) else { return Vec::new() };
    let fewer = memory.all().filter(|(choice, _)| changes(choice) < changes(than));
    let mut found: Vec<(usize, f64, &Choice)> =
        fewer.filter_map(|(choice, value)| Some((changes(choice), loss(value, best, margins)?, choice))).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    found.into_iter().take(SIMPLER).map(|(.., choice)| choice.clone()).collect()
}

fn without(choice: &[usize], knobs: &[usize]) -> Choice {
    let mut choice = choice.to_vec();
    knobs.iter().for_each(|knob| choice[*knob] = 0);
    choice
}

/// How much worse it is than the best, as a part of the margins; `None`: more than a margin allows.
fn loss(value: &Value, best: &Value, margins: &[f64]) -> Option<f64> {
    if !value.is_possible() {
        return None;
    }
    let goals = value.goals.iter().zip(&best.goals).zip(margins);
    let worse = goals.map(|((value, best), margin)| (value - best, margin * best.abs()));
    let within = |(worse, most): (f64, f64)| (worse <= most).then(|| worse.max(0.0) / most.max(f64::MIN_POSITIVE));
    worse.map(within).try_fold(0.0, |sum, part| Some(sum + part?))
}
