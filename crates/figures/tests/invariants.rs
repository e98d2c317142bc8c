//! What must hold of every run, on small systems by chance: tables against what truly happened, and against each other.

mod simulated;

use simulated::{analysed, figures, name, topic, Simulation, Taken, Truth};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use tacho_events::testing::FileBuilder;
use tacho_tables::row::{Column, Row};
use tacho_tables::{CauseKind, Delivery, Endpoint, EndpointKind, Node, OffCpu, Parts, Process, Tables};

const SYSTEMS: u64 = 40;

fn system(seed: u64) -> (FileBuilder, Truth) {
    Simulation::run(seed, |node| 100 + node as u32)
}

fn for_each_system(check: impl Fn(u64, &Tables, &Truth)) {
    for seed in 0..SYSTEMS {
        let (builder, truth) = system(seed);
        let folder = tempfile::tempdir().expect("folder");
        let run = builder.write(folder.path()).expect("write");
        check(seed, &analysed(&run), &truth);
    }
}

/// Node by its row.
fn nodes(tables: &Tables) -> Column<Node, usize> {
    Column::of(tables.nodes.iter().map(|node| node.name[2..].parse().expect("a number")))
}

fn node_of(tables: &Tables, endpoint: Row<Endpoint>) -> usize {
    nodes(tables)[tables.endpoints[endpoint].node]
}

/// What became of each message at each node that subscribes to it, as the definitions in docs/figures.md say, one
/// message at a time.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum End {
    Received,
    Lost,
    Unmatched,
    Ended,
    Pending,
    NeverTaken,
}

fn ends(truth: &Truth) -> BTreeMap<(usize, usize, u64), End> {
    let times: HashMap<(usize, u64), i64> =
        truth.sent.iter().map(|s| ((s.publisher, s.sequence), s.publish_ns)).collect();
    let mut ends = BTreeMap::new();
    for (node, inputs) in truth.inputs.iter().enumerate() {
        for publisher in inputs {
            let taken: BTreeMap<u64, i64> = truth
                .taken
                .iter()
                .filter(|t| (t.node, t.publisher) == (node, *publisher))
                .map(|t| (t.sequence, t.take_ns))
                .collect();
            let sent: Vec<(u64, i64)> =
                truth.sent.iter().filter(|s| s.publisher == *publisher).map(|s| (s.sequence, s.publish_ns)).collect();
            let (Some(first), Some(last)) = (sent.first(), sent.last()) else { continue };
            let interval = if sent.len() > 1 { (last.1 - first.1) / (sent.len() as i64 - 1) } else { 0 };
            let worst = taken.iter().map(|(sequence, at)| at - times[&(*publisher, *sequence)]).max().unwrap_or(0);
            // A killed process is there until its last event, one that shuts down until its executor ends; the others
            // until their recorder's last reading.
            let alive = truth.alive_until(node);
            for (sequence, time) in &sent {
                let overtaken = taken.keys().any(|t| t > sequence);
                let end = if taken.contains_key(sequence) {
                    End::Received
                } else if taken.is_empty() && !truth.ours {
                    End::NeverTaken
                } else if !truth.ours && taken.keys().all(|t| t > sequence) {
                    End::Unmatched
                } else if *time > alive {
                    End::Ended
                } else if !overtaken && *time >= alive - worst.max(interval) {
                    End::Pending
                } else {
                    End::Lost
                };
                ends.insert((node, *publisher, *sequence), end);
            }
        }
    }
    ends
}

#[test]
fn every_message_ends_as_it_truly_did_and_sent_is_the_sum_of_all_ends() {
    for_each_system(|seed, tables, truth| {
        let number: HashMap<(usize, i64), u64> =
            truth.sent.iter().map(|s| ((s.publisher, s.publish_ns), s.sequence)).collect();
        let sent: BTreeSet<(usize, i64)> =
            tables.publications.iter().map(|p| (node_of(tables, p.publisher), p.publish_ns)).collect();
        assert_eq!(sent, number.keys().copied().collect(), "seed {seed}");
        let expected = ends(truth);
        let (mut taken, mut found) = (Vec::new(), BTreeMap::new());
        for message in &tables.messages {
            let (node, publisher) =
                (node_of(tables, message.subscription), message.publisher.expect("all publications are recorded"));
            let publisher = node_of(tables, publisher);
            let sequence = number[&(publisher, message.publish_ns.get().expect("published"))];
            if let Some(take_ns) = message.take_ns.get() {
                taken.push(Taken { node, publisher, sequence, take_ns });
            }
            let end = if message.delivery == Delivery::Lost { End::Lost } else { End::Received };
            assert_eq!(found.insert((node, publisher, sequence), end), None, "seed {seed}: one row a message");
        }
        taken.sort_unstable();
        let mut truly = truth.taken.clone();
        truly.sort_unstable();
        assert_eq!(taken, truly, "seed {seed}");
        for endpoint in tables.endpoints.iter().filter(|e| e.kind == EndpointKind::Publisher) {
            let (node, subscribers) =
                (nodes(tables)[endpoint.node], |end: &&(usize, usize)| end.1 == nodes(tables)[endpoint.node]);
            let refused = truth.ours.then(|| truth.refused.get(&node).copied().unwrap_or(0));
            assert_eq!(endpoint.refused, refused, "seed {seed}");
            // To each subscriber, of all publish calls: received, lost, pending, before and after the two knew each
            // other, refused.
            let tried = endpoint.count + endpoint.refused.unwrap_or(0);
            let pairs: BTreeSet<(usize, usize)> = expected.keys().map(|(to, from, _)| (*to, *from)).collect();
            for (to, from) in pairs.iter().filter(subscribers) {
                let of_pair = expected.keys().filter(|key| (key.0, key.1) == (*to, *from)).count() as u64;
                assert_eq!(
                    of_pair + truth.refused.get(from).copied().unwrap_or(0),
                    tried,
                    "seed {seed}: {from} to {to}"
                );
            }
        }
        // What has no row is counted with its subscriptions.
        for endpoint in tables.endpoints.iter().filter(|e| e.kind == EndpointKind::Subscription) {
            let node = nodes(tables)[endpoint.node];
            let told = |(to, from, _): &(usize, usize, u64)| *to == node && topic(*from) == endpoint.topic;
            let count =
                |ends: &[End]| Some(expected.iter().filter(|(key, of)| told(key) && ends.contains(of)).count() as u64);
            // A system that is cut off between two events of an executor looks as if that had ended: what it was sent
            // from then on came after its end, or may have been taken later.
            let (after, pending) = (endpoint.after.expect("known"), endpoint.pending.expect("known"));
            let found = [endpoint.before, Some(after + pending), endpoint.unknown];
            let expected = [&[End::Unmatched][..], &[End::Ended, End::Pending], &[End::NeverTaken]].map(count);
            assert_eq!(found, expected, "seed {seed}: {} at {node}", endpoint.topic);
        }
        let with_rows = |end: &End| matches!(end, End::Received | End::Lost);
        let rows: BTreeMap<_, _> = expected.iter().filter(|(_, end)| with_rows(end)).map(|(k, v)| (*k, *v)).collect();
        assert_eq!(found, rows, "seed {seed}");
    });
}

#[test]
fn no_time_of_a_message_turns_back_and_layers_add_up_to_its_latency() {
    for_each_system(|seed, tables, _| {
        for message in &tables.messages {
            let times =
                [message.publish_ns.get(), message.arrival_ns.get(), message.take_ns.get(), message.callback_ns.get()];
            let times: Vec<i64> = times.into_iter().flatten().collect();
            assert!(times.is_sorted(), "seed {seed}: {message:?}");
        }
        let taken = tables.messages.iter().filter(|m| m.take_ns.get().is_some()).count();
        assert_eq!(tables.layers.len(), taken, "seed {seed}");
        for layers in &tables.layers {
            let message = &tables.messages[layers.message];
            let latency = message
                .callback_ns
                .get()
                .or(message.take_ns.get())
                .zip(message.publish_ns.get())
                .map(|(end, start)| end - start);
            assert_eq!(Some(layers.parts_ns().iter().flatten().sum()), latency, "seed {seed}: {layers:?} {message:?}");
            assert!(layers.parts_ns().iter().flatten().all(|ns| *ns >= 0), "seed {seed}: {layers:?}");
        }
    });
}

#[test]
fn callbacks_have_their_wall_and_cpu_time_to_the_nanosecond() {
    for_each_system(|seed, tables, truth| {
        let mut found = Vec::new();
        for execution in tables.executions.iter() {
            let node = tables.callbacks[execution.callback].node.expect("a node");
            let Some(end_ns) = execution.end_ns.get() else { continue };
            let cpu_ns = truth
                .scheduled
                .then(|| execution.cpu_ns.get().unwrap_or_else(|| panic!("seed {seed}: CPU time of {execution:?}")));
            found.push((nodes(tables)[node], execution.start_ns, end_ns, cpu_ns));
        }
        found.sort_unstable();
        let mut truly: Vec<_> =
            truth.ran.iter().map(|r| (r.node, r.start_ns, r.end_ns, truth.scheduled.then_some(r.cpu_ns))).collect();
        truly.sort_unstable();
        assert_eq!(found, truly, "seed {seed}");
    });
}

#[test]
fn the_time_of_a_thread_is_the_sum_of_its_states() {
    for_each_system(|seed, tables, truth| {
        for thread in &tables.executors {
            let span = thread.to_ns - thread.from_ns;
            let states = [thread.waiting_ns.expect("waits"), thread.ready_ns.expect("waits"), thread.executing_ns];
            assert_eq!(states.iter().sum::<i64>(), span, "seed {seed}: {thread:?}");
            assert!(states.iter().all(|ns| *ns >= 0), "seed {seed}: {thread:?}");
            assert_eq!(thread.running_ns.is_some(), truth.scheduled, "seed {seed}: {thread:?}");
            if let (Some(running), Some(runnable), Some(blocked)) =
                (thread.running_ns, thread.runnable_ns, thread.blocked_ns)
            {
                assert_eq!(running + runnable + blocked, span, "seed {seed}");
                assert!(running >= 0 && runnable >= 0 && blocked >= 0, "seed {seed}: {thread:?}");
            }
        }
        let mut until: HashMap<(Row<Process>, u32), i64> = HashMap::new();
        for row in &tables.preemptions {
            assert!(row.from_ns < row.to_ns, "seed {seed}: {row:?}");
            let before = until.insert((row.process, row.tid), row.to_ns);
            assert!(before.is_none_or(|before| before <= row.from_ns), "seed {seed}: two states at once: {row:?}");
            assert!(row.execution.is_some() || row.state == OffCpu::Runnable, "seed {seed}: {row:?}");
        }
    });
}

fn words(path: &[usize]) -> Vec<String> {
    let mut words = vec![name(path[0])];
    path.windows(2).for_each(|pair| words.extend([topic(pair[0]), name(pair[1])]));
    words
}

#[test]
fn instances_of_chains_are_the_true_descents_and_their_parts_add_up() {
    for_each_system(|seed, tables, truth| {
        let mut found: Vec<(Vec<String>, i64, i64)> = Vec::new();
        let mut hops = tables.hops.iter();
        for (row, instance) in tables.instances.iter().enumerate() {
            let path = &tables.chains[instance.chain].path;
            found.push((path.clone(), instance.start_ns, instance.end_ns));
            let parts = instance.parts();
            assert_eq!(parts.whole_ns(), instance.end_to_end_ns, "seed {seed}: {instance:?}");
            assert!(parts.each().into_iter().flatten().all(|ns| *ns >= 0), "seed {seed}: {instance:?}");
            let mut of_hops = Parts::default();
            let mut at = instance.start_ns;
            for position in 0..path.len().div_ceil(2) as u32 {
                let hop = hops.next().expect("a hop a node");
                assert_eq!((hop.instance.number(), hop.position), (row as u32, position), "seed {seed}");
                let times =
                    [Some(at), hop.published_ns.get(), hop.arrival_ns.get(), Some(hop.start_ns), Some(hop.output_ns)];
                assert!(times.iter().flatten().is_sorted(), "seed {seed}: {hop:?}");
                assert!(
                    (0..=hop.start_ns - hop.arrival_ns.get().or(hop.published_ns.get()).unwrap_or(hop.start_ns))
                        .contains(&hop.queueing_ns),
                    "seed {seed}: {hop:?}"
                );
                let parts = hop.parts();
                assert_eq!(
                    parts.whole_ns(),
                    hop.output_ns - hop.published_ns.get().unwrap_or(hop.start_ns),
                    "seed {seed}: {hop:?}"
                );
                of_hops = [of_hops, parts].into_iter().sum();
                at = hop.output_ns;
            }
            assert_eq!(of_hops, parts, "seed {seed}: {instance:?}");
            assert_eq!(at, instance.end_ns, "seed {seed}");
        }
        found.sort_unstable();
        let told: BTreeSet<&Vec<String>> = tables.chains.iter().map(|chain| &chain.path).collect();
        let mut truly: Vec<_> = truth.outputs.iter().map(|(path, start, end)| (words(path), *start, *end)).collect();
        truly.retain(|(path, ..)| told.contains(path));
        truly.sort_unstable();
        assert_eq!(found, truly, "seed {seed}");
        let untold: BTreeSet<_> =
            truth.outputs.iter().map(|(path, ..)| words(path)).filter(|path| !told.contains(path)).collect();
        assert!(untold.is_empty(), "seed {seed}: paths without a chain: {untold:?}; links {:?}", tables.links);
    });
}

#[test]
fn causes_of_an_instance_add_up_to_it() {
    for_each_system(|seed, tables, _| {
        let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
        for cause in &tables.causes {
            if let Some(instance) = cause.instance {
                let ns = cause.duration_ns.get().expect("a duration");
                assert!(ns > 0, "seed {seed}: {cause:?}");
                *sums.entry(instance.number()).or_default() += ns;
            }
        }
        for (instance, sum) in sums {
            assert_eq!(sum, tables.instances[instance as usize].end_to_end_ns, "seed {seed}");
        }
        for (row, chain) in tables.chains.iter().enumerate() {
            let ends = tables.causes.iter().filter(|c| c.chain.number() == row as u32 && c.instance.is_none());
            let (pending, ended): (Vec<_>, Vec<_>) = ends.partition(|c| c.kind == CauseKind::Pending);
            let [pending, ended] = [pending, ended].map(|of| of.iter().map(|c| c.count).sum::<u64>());
            // Of those that are pending some count as lost: they are older than the slowest instance took.
            assert!((ended..=ended + pending).contains(&chain.lost), "seed {seed}: each lost input has one end");
        }
    });
}

#[test]
fn reaction_time_and_data_age_are_those_of_the_true_descents() {
    for_each_system(|seed, tables, truth| {
        for (row, chain) in tables.chains.iter().enumerate() {
            let path: Vec<usize> =
                chain.path.iter().step_by(2).map(|node| node[2..].parse().expect("a number")).collect();
            let descents: Vec<(i64, i64)> =
                truth.outputs.iter().filter(|(of, ..)| *of == path).map(|(_, start, end)| (*start, *end)).collect();
            let outputs =
                &truth.last_outputs.get(&(path[path.len() - 1], path[path.len() - 2])).cloned().unwrap_or_default();
            let starts: Vec<i64> =
                tables.inputs.iter().filter(|i| i.chain.number() == row as u32).map(|i| i.start_ns).collect();
            for input in tables.inputs.iter().filter(|i| i.chain.number() == row as u32) {
                let of_it = |d: &&(i64, i64)| d.0 == input.start_ns;
                let reflected = descents.iter().filter(|d| d.0 >= input.start_ns).map(|d| d.1).min();
                let last_used = descents.iter().filter(of_it).map(|d| d.1).max();
                let replaced = last_used.and_then(|last| outputs.iter().copied().filter(|o| *o > last).min());
                let previous = starts.iter().copied().filter(|s| *s < input.start_ns).max();
                let expected = (previous, reflected, last_used, replaced);
                assert_eq!(
                    (
                        input.previous_ns.get(),
                        input.reflected_ns.get(),
                        input.last_used_ns.get(),
                        input.replaced_ns.get()
                    ),
                    expected,
                    "seed {seed}: {input:?}"
                );
            }
        }
    });
}

#[test]
fn figures_do_not_depend_on_the_order_of_the_files() {
    for seed in 0..SYSTEMS {
        let (builder, _) = system(seed);
        let mut told = Vec::new();
        for turned in [false, true] {
            let folder = tempfile::tempdir().expect("folder");
            let run = builder.write(folder.path()).expect("write");
            if turned {
                turn(&run.events());
            }
            told.push(figures(&analysed(&run)));
        }
        assert_eq!(told[0], told[1], "seed {seed}");
    }
}

/// Files whose names stand in the opposite order.
fn turn(events: &Path) {
    let mut files: Vec<_> =
        std::fs::read_dir(events).expect("events").map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    for (place, file) in files.iter().rev().enumerate() {
        std::fs::rename(file, events.join(format!("turned-{place:03}.events"))).expect("rename");
    }
}

#[test]
fn systems_differ_enough_to_show_what_may_go_wrong() {
    let (mut lost, mut pending, mut ended, mut unmatched, mut left, mut kinds) = (0, 0, 0, 0, 0, BTreeSet::new());
    for seed in 0..SYSTEMS {
        let truth = system(seed).1;
        for end in ends(&truth).values() {
            lost += usize::from(*end == End::Lost);
            pending += usize::from(*end == End::Pending);
            ended += usize::from(*end == End::Ended);
            unmatched += usize::from(*end == End::Unmatched);
        }
        kinds.insert((truth.ours, truth.scheduled, truth.killed.is_empty()));
        left += usize::from(!truth.left.is_empty());
    }
    assert!(
        lost > 100 && pending > 10 && ended > 10 && unmatched > 2 && left > 10,
        "{lost} {pending} {ended} {unmatched} {left}"
    );
    assert_eq!(kinds.len(), 8);
    let (builder, _) = system(1);
    let folder = tempfile::tempdir().expect("folder");
    let tables = analysed(&builder.write(folder.path()).expect("write"));
    assert!(tables.endpoints.iter().any(|e| e.kind == EndpointKind::Publisher));
}
