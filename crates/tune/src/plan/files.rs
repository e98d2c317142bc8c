//! The files of a plan: what a user changes, why, and fragments to apply it with.

use super::{fragments, Figure, Key, Plan, PlanStep, SearchLog, SystemFigures};
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Folder of the files, in the directory of a tuning.
pub const PLAN_FOLDER: &str = "plan";

/// Writes the files of a plan into a folder, which it creates. It writes a fragment only if a change needs it.
pub fn write_files(plan: &Plan, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("workload.yaml"), tacho_workload::write(&plan.tuned.workload))?;
    let fragments = fragments::of(plan);
    for fragment in &fragments {
        let path = folder.join(&fragment.path);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, &fragment.text)?;
    }
    let mut about: Vec<&str> = fragments.iter().map(|fragment| fragment.about).collect();
    about.dedup();
    std::fs::write(folder.join("plan.md"), page(plan, &about))
}

fn why(key: Key) -> &'static str {
    match key {
        Key::Spin => "The node sleeps between its wakes while its message is there, and checks in vain at other wakes.",
        Key::Period => "The node uses a new input at the next activation of its timer.",
        Key::Phase => "The node wakes when its input has come, instead of up to a period later.",
        Key::Fusion => "Messages that are joined wait less for each other.",
        Key::Process => "The middleware hands messages of nodes in one process over without its transport.",
        Key::Transport => "Messages take another way through the middleware.",
        Key::Thread => "Callbacks of other nodes no longer keep the thread of the node.",
        Key::Group => "Callbacks of one group wait for each other. In a group of its own, it keeps no other waiting.",
        Key::Threads => "Callbacks of different nodes run beside each other.",
        Key::Executor => "The thread runs callbacks in the order in which their messages and timers came.",
        Key::Cpus => "On this CPU the node competes with fewer others.",
        Key::Priority => "The node gets a CPU earlier or later than others that are ready.",
        Key::Depth => "A queue keeps old messages, or overwrites new ones.",
    }
}

fn how(step: &PlanStep) -> &'static str {
    match step.turned.key {
        Key::Spin => {
            "Replace the loop that sleeps and calls `spin_some` by `spin` (on arrival), or change its rate. A source \
             keeps its rate with a timer."
        }
        Key::Period => "Change the period of the timer.",
        Key::Phase => {
            "Start both timers at instants of the clock that they share: wait for a multiple of the period, or this \
             time after one, then create the timer."
        }
        Key::Fusion => {
            "Compute in the callback of the input that is named, with the latest message of the others; or, for \
             `newest`, in whichever callback completes a set of one message of each."
        }
        Key::Process => {
            "Load the nodes as components into one container: `composition.py`. Or create them in one program, each \
             with an executor and a thread of its own. If one node crashes, all of them end."
        }
        Key::Transport => {
            "`environment.sh`, or the configuration of the middleware. All processes that share topics need it."
        }
        Key::Thread => {
            "Give the node a single-threaded executor and a thread of its own. `component_container_isolated` does \
             this for each of its components."
        }
        Key::Group if step.is_python => {
            "Run it on a thread of its own (`threading.Thread`), or move it to a node with a single-threaded executor \
             and a thread of its own; rclpy's `MultiThreadedExecutor` may delay every callback by milliseconds. If it \
             computes and does not wait, move it to another process. What the callbacks share then needs a lock."
        }
        Key::Group => {
            "Create a callback group (`create_callback_group`, mutually exclusive) and give it to this timer or \
             subscription. Run the node on a `MultiThreadedExecutor` with so many threads. What its callbacks share \
             then needs a lock."
        }
        Key::Threads => {
            "Run the nodes on a `MultiThreadedExecutor` with so many threads; each node keeps its default callback \
             group. `component_container_mt` with the parameter `thread_num` does this for its components."
        }
        Key::Executor => {
            "Run the node, or the nodes of this thread, on an events executor. What it takes itself is not known from \
             a run of another executor: it mostly takes less CPU time."
        }
        Key::Cpus | Key::Priority => "`launch_prefix.py`, or `systemd/`.",
        Key::Depth => "`parameters.yaml`, or the depth in the code.",
    }
}

fn number(value: Option<f64>, unit: &str) -> String {
    value.map_or("unknown".into(), |value| format!("{value:.2} {unit}"))
}

/// `about`: a line on each kind of fragment.
fn page(plan: &Plan, about: &[&str]) -> String {
    let mut text = format!("# Plan for the chain {}\n\n", plan.chain);
    if plan.steps.is_empty() {
        text.push_str("No change buys more than the simulation is off, so nothing changes.\n\n");
    } else {
        changes(&mut text, plan);
    }
    promise(&mut text, plan);
    costs(&mut text, plan);
    trust(&mut text, plan);
    measured_first(&mut text, plan);
    searched(&mut text, plan);
    text.push_str("## Files\n\n- `workload.yaml`: the tuned workload; `tacho bench` runs it.\n");
    about.iter().for_each(|line| {
        let _ = writeln!(text, "- {line}");
    });
    text
}

fn changes(text: &mut String, plan: &Plan) {
    let goals: Vec<String> = plan.goals.iter().map(ToString::to_string).collect();
    let _ =
        writeln!(text, "## Changes\n\n| change | why | how | buys: {} |\n| --- | --- | --- | --- |", goals.join(", "));
    for step in &plan.steps {
        let buys = step.buys.iter().zip(&plan.goals).map(|(buys, goal)| {
            if buys.is_finite() {
                format!("{buys:.2} {}", goal.figure.unit())
            } else {
                "the figure itself".into()
            }
        });
        let (why, how) = (why(step.turned.key), how(step));
        let _ = writeln!(text, "| {} | {why} | {how} | {} |", step.turned, buys.collect::<Vec<_>>().join(", "));
    }
    text.push_str("\nWhat a change buys is what the plan would lack without this change alone, as simulated.\n\n");
}

fn promise(text: &mut String, plan: &Plan) {
    let _ =
        writeln!(text, "## What it promises\n\n| figure | as it is | planned | at most |\n| --- | --- | --- | --- |");
    for goal in &plan.goals {
        let [as_is, planned] = [&plan.as_is, &plan.planned].map(|figures| figures.of(goal, &plan.chain));
        let most = planned.map(|planned| plan.at_most(goal.figure, planned));
        let cells = [as_is, planned, most].map(|value| number(value, goal.figure.unit()));
        let _ = writeln!(text, "| {goal} | {} |", cells.join(" | "));
    }
    if let Some((speeds, planned)) = plan.safe_speeds().zip(plan.planned.safe_m_per_s) {
        let _ = writeln!(
            text,
            "\n`drive` is the time for 100 m at the greatest speed at which all drives are safe: {speeds}. To see it: \
             `tacho drive planned.yaml --speed {planned:.1}m/s`."
        );
    }
    let percent = |part: f64| 100.0 * part;
    let _ = writeln!(
        text,
        "\nBoth are simulated. The last column adds what the simulation may be off. That is {:.1} %, as the next but \
         one section shows for the system as it is; but at least {:.0} % of a mean, {:.0} % of CPU time and {:.0} % of \
         a tail, because a changed system is another one, and simulations of most systems are off by no more.\n",
        percent(plan.margin),
        percent(Figure::Mean.usual_error()),
        percent(Figure::Cpu.usual_error()),
        percent(Figure::P99.usual_error())
    );
}

fn costs(text: &mut String, plan: &Plan) {
    let cpu = |figures: &SystemFigures| number(figures.cpu_percent, "%");
    let _ = writeln!(text, "## What it costs\n\n| figure | as it is | planned |\n| --- | --- | --- |");
    let _ = writeln!(text, "| CPU, percent of one | {} | {} |", cpu(&plan.as_is), cpu(&plan.planned));
    for (name, as_is) in plan.as_is.chains.iter().filter(|(name, _)| **name != plan.chain) {
        let planned = plan.planned.chains.get(name).copied().unwrap_or_default();
        let (as_is, planned) = (number(as_is.mean_ms, "ms"), number(planned.mean_ms, "ms"));
        let _ = writeln!(text, "| {} {name} | {as_is} | {planned} |", Figure::Mean.name());
    }
    text.push('\n');
}

fn trust(text: &mut String, plan: &Plan) {
    text.push_str("## How far the simulation is off\n\n");
    if plan.errors.is_empty() {
        text.push_str("The run that was measured has none of these figures, so the error is not known.\n\n");
    } else {
        text.push_str("| figure of the system as it is | measured | simulated | error |\n| --- | --- | --- | --- |\n");
        for error in &plan.errors {
            let (measured, simulated) = (error.measured, error.simulated);
            let _ =
                writeln!(text, "| {} | {measured:.2} | {simulated:.2} | {:+.1} % |", error.figure, error.error_percent);
        }
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "In other phases than those of the search, the best candidate differs by {:.1} %. Changes that buy less than \
         {:.1} % are not in the plan: the simulation is off by as much, or the figure and its gain differ by \
         as much in other phases.\n",
        plan.phases_percent,
        100.0 * plan.least_gain
    );
    plan.doubts.iter().for_each(|doubt| {
        let _ = writeln!(text, "- {doubt}");
    });
    if !plan.doubts.is_empty() {
        text.push('\n');
    }
}

fn measured_first(text: &mut String, plan: &Plan) {
    if plan.alternatives.is_empty() {
        return;
    }
    let chain = &plan.chain;
    let _ = writeln!(
        text,
        "## What was measured before the search\n\n| run | mean {chain} | p99 {chain} | CPU, percent of one |\n\
         | --- | --- | --- | --- |"
    );
    for seen in &plan.alternatives {
        let times = seen.figures.chains.get(chain).copied().unwrap_or_default();
        let cells = [number(times.mean_ms, "ms"), number(times.p99_ms, "ms"), number(seen.figures.cpu_percent, "%")];
        let _ = writeln!(text, "| {} | {} |", seen.name, cells.join(" | "));
    }
    text.push_str("\n`together`: all nodes that can share a process do.\n\n");
}

impl SearchLog {
    /// `48`, or `1.2e13` if nobody would count so far.
    pub fn candidates_in_words(&self) -> String {
        match self.candidates {
            few if few < 1e6 => few.to_string(),
            many => format!("{many:.1e}"),
        }
    }
}

fn searched(text: &mut String, plan: &Plan) {
    let log = &plan.search;
    let all = if log.exhaustive { ", all of which were simulated" } else { "" };
    let _ = writeln!(
        text,
        "## How it was found\n\nThere are {} candidates{all}. {} simulations were made, each of {} draws of \
         {:.2} s. Each line was better than all before it.\n\n| simulated | goal | figure | by | changes |\n\
         | --- | --- | --- | --- | --- |",
        log.candidates_in_words(),
        log.evaluations,
        log.draws,
        log.draw_s
    );
    for step in &log.trail {
        let value = number(Some(step.value), step.goal.figure.unit());
        let by = format!("{:?}", step.by).to_lowercase();
        let _ = writeln!(text, "| {} | {} | {value} | {by} | {} |", step.evaluations, step.goal, step.changes.len());
    }
    text.push('\n');
    if log.front.len() > 1 {
        let goals: Vec<String> = plan.goals.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "No candidate is better than one of these in every goal ({}):\n", goals.join(", "));
        for considered in &log.front {
            let value: Vec<String> = considered
                .value
                .iter()
                .zip(&plan.goals)
                .map(|(v, goal)| number(Some(*v), goal.figure.unit()))
                .collect();
            let _ = writeln!(text, "- {}: {}", value.join(", "), considered.changes.join("; "));
        }
        text.push('\n');
    }
}
