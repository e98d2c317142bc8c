//! `tacho tune RUN --promised TUNING`: a run of the changed system beside what the plan promised.

use crate::exit::{Failure, Outcome};
use crate::{analysis, runs, tuning};
use std::path::Path;
use tacho_model::{name_chains, Names};
use tacho_printing::Lines;
use tacho_report::{Column, Table};
use tacho_tune::plan::Kept;

/// Columns of a line.
const WIDTH: usize = 100;

pub fn run(changed: &Path, tuned: &Path, json: bool) -> Outcome {
    let plan = tuning::plan_of(tuned)?;
    let run = runs::open(changed)?;
    let mut summary = analysis::shown(|progress| tacho_figures::read_figures(&run, None, None, progress))?;
    // The plan may be that of a twin, whose nodes have names that fit a workload.
    let mut names = Names::new(false);
    for chain in &mut summary.chains {
        // Another system's chain may have the same name by chance.
        chain.name.clear();
        chain.path.iter_mut().step_by(2).for_each(|node| *node = names.node(node));
    }
    name_chains(&plan.tuned.workload, summary.chains.iter_mut().map(|chain| (&mut chain.name, &chain.path)));
    let kept = plan.kept(&summary);
    if kept.iter().all(|goal| goal.measured.is_none()) {
        let chain = plan.tuned.workload.chain(&plan.chain).map(|chain| chain.nodes.join(", ")).unwrap_or_default();
        return Err(Failure::Usage(format!(
            "{}: shows nothing of what was promised; expected a run in which messages pass the chain {} ({chain})",
            changed.display(),
            plan.chain
        )));
    }
    if json {
        runs::print_json(&kept)?;
    } else {
        runs::print(&Lines::composed(&table(&kept)))?;
    }
    match kept.iter().any(|goal| goal.is_kept == Some(false)) {
        true => Err(Failure::Code(1)),
        false => Ok(()),
    }
}

fn table(kept: &[Kept]) -> String {
    let numbers = ["as it was", "promised", "at most", "measured"].map(Column::number);
    let columns = [Column::text("goal")].into_iter().chain(numbers).chain([Column::text("the promise is")]);
    let mut table = Table::new(columns);
    for goal in kept {
        let number =
            |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.2} {}", goal.goal.figure.unit()));
        let is_kept = match goal.is_kept {
            Some(true) => "kept",
            Some(false) => "not kept",
            None => "not measured",
        };
        let values = [goal.as_is, Some(goal.promised), Some(goal.at_most), goal.measured].map(number);
        let mut cells = vec![goal.goal.to_string()];
        cells.extend(values);
        cells.push(is_kept.into());
        table.row(cells);
    }
    table.render(WIDTH)
}
