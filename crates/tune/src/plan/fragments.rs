//! Fragments to apply a plan with: for launch files, systemd, parameters and the environment.

use super::{code, Key, Plan};
use std::fmt::Write;
use std::path::PathBuf;
use tacho_workload::model::{Node, Scheduling, Workload};

/// A launch file's part with no process yet.
const COMPOSITION: &str = include_str!("composition.py");

/// A file to apply changes with.
pub(super) struct Fragment {
    /// Its path in the folder of the plan.
    pub path: PathBuf,
    /// What it is, for the page of the plan.
    pub about: &'static str,
    /// Its content.
    pub text: String,
}

impl Fragment {
    fn new(path: impl Into<PathBuf>, about: &'static str, text: String) -> Fragment {
        Fragment { path: path.into(), about, text }
    }
}

/// The fragments that the changes of a plan need.
pub(super) fn of(plan: &Plan) -> Vec<Fragment> {
    let mut fragments = Vec::new();
    let threads = of_threads(plan);
    if !threads.is_empty() {
        let about = "`launch_prefix.py`: prefixes of nodes for a launch file.";
        fragments.push(Fragment::new("launch_prefix.py", about, launch_prefix(&threads)));
        let about = "`systemd/NODE.service.d/tacho.conf`: drop-ins for nodes that systemd starts.";
        let unit = |thread: &Thread<'_>| {
            Fragment::new(format!("systemd/{}.service.d/tacho.conf", thread.node), about, thread.unit())
        };
        fragments.extend(threads.iter().map(unit));
    }
    let about = "`parameters.yaml`: depths of queues as QoS overrides of ROS 2.";
    fragments.extend(parameters(plan).map(|text| Fragment::new("parameters.yaml", about, text)));
    let about = "`composition.py`: containers of nodes that share a process, for a launch file.";
    fragments.extend(composition(plan).map(|text| Fragment::new("composition.py", about, text)));
    let about = "`code.md`: where the recorded code changes, with sketches.";
    fragments.extend(code::page(plan).map(|text| Fragment::new("code.md", about, text)));
    let about = "`environment.sh`: the transport, as environment of all processes.";
    fragments.extend(environment(plan).map(|text| Fragment::new("environment.sh", about, text)));
    fragments
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

/// Prefixes of nodes for a launch file.
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

/// Containers of the processes that nodes join; `None` if none does.
fn composition(plan: &Plan) -> Option<String> {
    let workload = &plan.tuned.workload;
    let joining =
        |node: &&Node| plan.steps.iter().any(|step| step.turned.key == Key::Process && step.turned.of == node.name);
    let mut processes: Vec<&str> = workload.nodes.iter().filter(joining).map(|node| node.process.as_str()).collect();
    processes.sort_unstable();
    processes.dedup();
    if processes.is_empty() {
        return None;
    }
    let of = |process: &&str| {
        let nodes: Vec<&Node> = workload.nodes.iter().filter(|node| node.process == *process).collect();
        let names: Vec<String> = nodes.iter().map(|node| format!("\"{}\"", node.name)).collect();
        format!("    \"{process}\": (\"{}\", [{}]),\n", container(workload, &nodes), names.join(", "))
    };
    let processes: String = processes.iter().map(of).collect();
    Some(COMPOSITION.replace("PROCESSES = {}", &format!("PROCESSES = {{\n{processes}}}")))
}

/// The container that has threads as these nodes have.
fn container(workload: &Workload, nodes: &[&Node]) -> &'static str {
    let first = nodes.first().filter(|first| nodes.iter().all(|node| node.thread == first.thread));
    match first.and_then(|first| first.thread.is_some().then(|| workload.threads_of(first))) {
        Some(1) => "component_container",
        Some(_) => "component_container_mt",
        None => "component_container_isolated",
    }
}

/// The transport as environment of Fast DDS; `None` if it does not change or has no such variable.
fn environment(plan: &Plan) -> Option<String> {
    let Workload { middleware, transport, .. } = &plan.tuned.workload;
    let is_turned = plan.steps.iter().any(|step| step.turned.key == Key::Transport);
    let built_in = match (middleware.as_str(), transport.as_str()) {
        ("ros2" | "fastdds", "udp") => "UDPv4",
        ("ros2" | "fastdds", "shm") => "SHM",
        ("ros2" | "fastdds", "default") => "DEFAULT",
        _ => return None,
    };
    is_turned.then(|| {
        let whose = "# For all processes, also those on other machines (Fast DDS).";
        format!("{whose}\nexport FASTDDS_BUILTIN_TRANSPORTS={built_in}\n")
    })
}
