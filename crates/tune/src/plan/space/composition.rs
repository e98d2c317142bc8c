//! Nodes that could share a process (composition): the middleware then hands over their messages without its transport.

use tacho_workload::model::{Node, Workload};

/// Name of the process, if there is none that nodes share already.
const NAME: &str = "together";

/// The process that a node could join: of the nodes of its host, the one that most of them share. Nodes in Python stay
/// apart, because threads of one Python process compute in turn. `None`: it is there, or no other node could.
pub(super) fn process_to_join(workload: &Workload, node: &Node, python: &[String]) -> Option<String> {
    let can_share = |of: &&Node| !of.is_on_board() && of.middleware.is_none() && !python.contains(&of.name);
    let could: Vec<&Node> = workload.nodes.iter().filter(can_share).filter(|of| of.host == node.host).collect();
    let is_among = could.iter().any(|of| of.name == node.name);
    if !is_among || could.len() < 2 {
        return None;
    }
    let members = |process: &str| could.iter().filter(|of| of.process == process).count();
    // Of equal ones the first.
    let largest = could.iter().rev().max_by_key(|of| members(&of.process))?;
    if members(&largest.process) > 1 {
        return (largest.process != node.process).then(|| largest.process.clone());
    }
    let name = if node.host.is_empty() { NAME.to_owned() } else { format!("{NAME}_on_{}", node.host) };
    Some(super::unused(&name, |name| workload.nodes.iter().any(|of| of.process == name)))
}

/// Moves a node into a process, with all nodes of its thread.
pub(super) fn join(workload: &mut Workload, node: &str, process: &str) {
    let thread = workload.node(node).and_then(|node| node.thread.clone());
    let moves = |of: &&mut Node| of.name == node || thread.is_some() && of.thread == thread;
    workload.nodes.iter_mut().filter(moves).for_each(|of| of.process = process.to_owned());
}

/// The workload whose nodes share a process as far as they can; `None` if none could join another.
pub fn together(workload: &Workload, python: &[String]) -> Option<Workload> {
    let could = |node: &Node| Some((node.name.clone(), process_to_join(workload, node, python)?));
    let joining: Vec<(String, String)> = workload.nodes.iter().filter_map(could).collect();
    let mut joined = workload.clone();
    joining.iter().for_each(|(node, process)| join(&mut joined, node, process));
    (!joining.is_empty()).then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processes(text: &str, python: &[&str]) -> Option<Vec<String>> {
        let (workload, _) = tacho_workload::parse(text, "test.yaml").unwrap_or_else(|e| panic!("{e}"));
        let python: Vec<String> = python.iter().map(|name| (*name).to_owned()).collect();
        let joined = together(&workload, &python)?;
        tacho_workload::parse(&tacho_workload::write(&joined), "joined.yaml").unwrap_or_else(|e| panic!("{e}"));
        Some(joined.nodes.into_iter().map(|node| node.process).collect())
    }

    const THREE: &str = "
nodes:
  lidar:     {publishes: {/points: {rate: 10 Hz}}}
  localiser: {subscribes: [/points], publishes: [/pose]}
  planner:   {subscribes: [/pose]}
";

    #[test]
    fn nodes_of_a_host_can_share_a_process_but_those_in_python() {
        assert_eq!(processes(THREE, &[]).expect("joined"), ["together"; 3]);
        assert_eq!(processes(THREE, &["planner"]).expect("joined"), ["together", "together", "planner"]);
        assert_eq!(processes(THREE, &["planner", "lidar"]), None, "one alone");
        let taken = THREE.replace("lidar:     {", "lidar:     {process: together, ");
        assert_eq!(processes(&taken, &[]).expect("joined"), ["together_2"; 3]);
        let hosts = THREE.replace("{publishes", "{host: a, publishes").replace("{subscribes", "{host: b, subscribes");
        let hosts = format!("hosts: {{a: {{}}, b: {{}}}}\n{hosts}");
        assert_eq!(processes(&hosts, &[]).expect("joined"), ["lidar", "together_on_b", "together_on_b"]);
    }

    #[test]
    fn who_shares_a_process_already_stays_there_and_nodes_of_a_thread_move_together() {
        let shared = THREE.replace("{subscribes", "{process: stack, subscribes");
        assert_eq!(processes(&shared, &[]).expect("joined"), ["stack"; 3]);
        assert_eq!(processes(&shared.replace("{publishes", "{process: stack, publishes"), &[]), None);
        let (mut workload, _) =
            tacho_workload::parse(&THREE.replace("{subscribes", "{process: p, thread: t, subscribes"), "test.yaml")
                .unwrap_or_else(|e| panic!("{e}"));
        join(&mut workload, "planner", "lidar");
        assert!(workload.nodes.iter().all(|node| node.process == "lidar"));
    }
}
