//! The files of a plan: what a user changes, why, and fragments to apply it with.

use super::{Figure, Key, Plan, PlanStep, SystemFigures};
use std::fmt::Write;
use std::io;
use std::path::Path;
use tacho_workload::model::{Scheduling, Workload};

/// Folder of the files, in the directory of a tuning.
pub const PLAN_FOLDER: &str = "plan";

/// Writes the files of a plan into a folder, which it creates. It writes a fragment only if a change needs it.
pub fn write_files(plan: &Plan, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("workload.yaml"), tacho_workload::write(&plan.tuned.workload))?;
    let threads = of_threads(plan);
    if !threads.is_empty() {
        std::fs::write(folder.join("launch_prefix.py"), launch_prefix(&threads))?;
        for thread in &threads {
            let unit = folder.join("systemd").join(format!("{}.service.d", thread.node));
            std::fs::create_dir_all(&unit)?;
            std::fs::write(unit.join("tacho.conf"), thread.unit())?;
        }
    }
    let parameters = parameters(plan);
    if let Some(parameters) = &parameters {
        std::fs::write(folder.join("parameters.yaml"), parameters)?;
    }
    std::fs::write(folder.join("plan.md"), page(plan, !threads.is_empty(), parameters.is_some()))
}

/// What changes of a node's thread.
struct Thread<'p> {
    node: &'p str,
    cpus: &'p [u32],
    scheduling: Option<Scheduling>,
}

fn of_threads(plan: &Plan) -> Vec<Thread<'_>> {
    let run = &plan.tuned.workload.run;
    let turns = |node: &str, key: Key| plan.steps.iter().any(|step| step.turned.of == node && step.turned.key == key);
    let thread =
        |node: &'_ tacho_workload::model::Node| (turns(&node.name, Key::Cpus), turns(&node.name, Key::Priority));
    let of_node = |node| match thread(node) {
        (false, false) => None,
        (cpus, priority) => Some(Thread {
            node: &node.name,
            cpus: if cpus { run.cpus_of(&node.name) } else { &[] },
            scheduling: run.priority_of(&node.name).filter(|_| priority),
        }),
    };
    plan.tuned.workload.nodes.iter().filter_map(of_node).collect()
}

fn list(cpus: &[u32], between: &str) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(between)
}

impl Thread<'_> {
    /// The words before its command.
    fn prefix(&self) -> String {
        let cpus = (!self.cpus.is_empty()).then(|| format!("taskset --cpu-list {}", list(self.cpus, ",")));
        let scheduling = self.scheduling.map(|scheduling| match scheduling {
            Scheduling::Nice(nice) => format!("nice -n {nice}"),
            Scheduling::Fifo(priority) => format!("chrt --fifo {priority}"),
            Scheduling::RoundRobin(priority) => format!("chrt --rr {priority}"),
        });
        cpus.into_iter().chain(scheduling).collect::<Vec<_>>().join(" ")
    }

    /// A drop-in of its systemd unit.
    fn unit(&self) -> String {
        let mut unit = "[Service]\n".to_owned();
        if !self.cpus.is_empty() {
            let _ = writeln!(unit, "CPUAffinity={}", list(self.cpus, " "));
        }
        let real_time =
            |policy: &str, priority: u32| format!("CPUSchedulingPolicy={policy}\nCPUSchedulingPriority={priority}\n");
        unit.push_str(&match self.scheduling {
            Some(Scheduling::Nice(nice)) => format!("Nice={nice}\n"),
            Some(Scheduling::Fifo(priority)) => real_time("fifo", priority),
            Some(Scheduling::RoundRobin(priority)) => real_time("rr", priority),
            None => String::new(),
        });
        unit
    }
}

fn launch_prefix(threads: &[Thread<'_>]) -> String {
    let mut text = "\"\"\"CPUs and priorities of nodes, for ROS 2 launch files.\n\n\
        from launch_prefix import PREFIX\n\
        Node(package=..., executable=..., name=\"NAME\", prefix=PREFIX.get(\"NAME\"))\n\"\"\"\n\n\
        # A prefix is for all threads of a process; tacho sets that of the executor's thread alone.\nPREFIX = {\n"
        .to_owned();
    for thread in threads {
        let _ = writeln!(text, "    \"{}\": \"{}\",", thread.node, thread.prefix());
    }
    text.push_str("}\n");
    text
}

/// Depths of queues as QoS overrides of ROS 2; `None` if no depth changes or the middleware has no such parameters.
fn parameters(plan: &Plan) -> Option<String> {
    let Workload { nodes, middleware, .. } = &plan.tuned.workload;
    let topics: Vec<&str> =
        plan.steps.iter().filter(|step| step.turned.key == Key::Depth).map(|step| step.turned.of.as_str()).collect();
    if topics.is_empty() || middleware != "ros2" {
        return None;
    }
    let mut text = "# Nodes take these if their subscriptions were made with QosOverridingOptions.\n".to_owned();
    for node in nodes {
        let own = || node.subscribes.iter().filter(|s| topics.contains(&s.topic.as_str()) && !s.qos.keep_all);
        if own().next().is_none() {
            continue;
        }
        let _ = writeln!(text, "{}:\n  ros__parameters:\n    qos_overrides:", node.name);
        for subscription in own() {
            let _ = writeln!(text, "      {}:\n        subscription:", subscription.topic);
            let _ = writeln!(text, "          history: keep_last\n          depth: {}", subscription.qos.depth);
        }
    }
    Some(text)
}

fn why(key: Key) -> &'static str {
    match key {
        Key::Spin => "The node sleeps between its wakes while its message is there, and checks in vain at other wakes.",
        Key::Period => "The node uses a new input at the next activation of its timer.",
        Key::Thread => "Callbacks of other nodes no longer keep the thread of the node.",
        Key::Group => "Callbacks of one group wait for each other. In a group of its own, it keeps no other waiting.",
        Key::Threads => "Callbacks of different nodes run beside each other.",
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
        Key::Cpus | Key::Priority => "`launch_prefix.py`, or `systemd/`.",
        Key::Depth => "`parameters.yaml`, or the depth in the code.",
    }
}

fn number(value: Option<f64>, unit: &str) -> String {
    value.map_or("unknown".into(), |value| format!("{value:.2} {unit}"))
}

fn page(plan: &Plan, has_threads: bool, has_parameters: bool) -> String {
    let mut text = format!("# Plan for the chain {}\n\n", plan.chain);
    if plan.steps.is_empty() {
        text.push_str("No change buys more than the simulation is off, so nothing changes.\n\n");
    } else {
        changes(&mut text, plan);
    }
    promise(&mut text, plan);
    costs(&mut text, plan);
    trust(&mut text, plan);
    searched(&mut text, plan);
    text.push_str("## Files\n\n- `workload.yaml`: the tuned workload; `tacho bench` runs it.\n");
    if has_threads {
        text.push_str("- `launch_prefix.py`: prefixes of nodes for a launch file.\n");
        text.push_str("- `systemd/NODE.service.d/tacho.conf`: drop-ins for nodes that systemd starts.\n");
    }
    if has_parameters {
        text.push_str("- `parameters.yaml`: depths of queues as QoS overrides of ROS 2.\n");
    }
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
        "In other phases than those of the search, the best candidate differs by {:.1} %.\n",
        plan.phases_percent
    );
    plan.doubts.iter().for_each(|doubt| {
        let _ = writeln!(text, "- {doubt}");
    });
}

fn searched(text: &mut String, plan: &Plan) {
    let log = &plan.search;
    let all = if log.exhaustive { ", which are all" } else { "" };
    let _ = writeln!(
        text,
        "## How it was found\n\n{} of {:.3e} candidates were simulated{all}, each in {} draws of {:.2} s. Each \
         line was better than all before it.\n\n| simulated | goal | figure | by | changes |\n\
         | --- | --- | --- | --- | --- |",
        log.evaluations, log.candidates, log.draws, log.draw_s
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
