//! Makes the twin: nodes with their callbacks, threads, chains.

use crate::names::Names;
use crate::seen::{is_of_library, CallbackSeen, Seen};
use crate::work;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tacho_events::run::RunInfo;
use tacho_tables::row::{numbered, Row};
use tacho_tables::{CallbackKind, EndpointKind, Link, LinkRule, Tables};
use tacho_workload::model::*;

/// Longest run of a twin.
const LONGEST_S: f64 = 60.0;

/// A workload made from a run.
pub struct Twin {
    /// The workload.
    pub workload: Workload,
    /// What concerns all of it, and what it cannot express, in words.
    pub remarks: Vec<String>,
    /// The same of each node.
    pub of_nodes: Vec<Vec<String>>,
    /// What it cannot express: those of the remarks that are to be told at once.
    pub lacks: Vec<String>,
    /// Its names.
    pub names: Names,
}

/// What is being made.
struct Maker<'a> {
    tables: &'a Tables,
    known: Option<&'a Workload>,
    seen: Seen,
    names: Names,
    nodes: Vec<(Node, Vec<String>)>,
    /// Topics that the twin publishes, by recorded name.
    published: BTreeSet<String>,
    lacks: Vec<String>,
}

/// Makes the twin of a run. `known`: the workload that ran, if it was one of ours.
pub fn twin(tables: &Tables, info: &RunInfo, known: Option<&Workload>, names: Names) -> Twin {
    let seen = Seen::of(tables, info);
    let mut maker = Maker { tables, known, seen, names, nodes: vec![], published: BTreeSet::new(), lacks: vec![] };
    let rows: Vec<Row<tacho_tables::Node>> = numbered(&tables.nodes).map(|(row, _)| row).collect();
    for row in rows.iter().copied() {
        maker.node(row);
    }
    maker.sources();
    maker.threads(&rows);
    maker.elsewhere();
    let chains = maker.chains();
    let duration_s = (maker.seen.span_s.clamp(1.0, LONGEST_S) * 10.0).round() / 10.0;
    let mut run = RunOptions { duration: Duration::from_secs_f64(duration_s), ..RunOptions::default() };
    if let Some(known) = known {
        let twin = |name: &String| maker.names.of_node(&format!("/{name}")).map(|name| name[1..].to_owned());
        run.cpus = known.run.cpus.iter().filter_map(|(node, of)| Some((twin(node)?, of.clone()))).collect();
        run.priority = known.run.priority.iter().filter_map(|(node, of)| Some((twin(node)?, *of))).collect();
        run.background_cpu = known.run.background_cpu;
    }
    let mut remarks = vec![format!(
        "Twin of a recorded system, made by tacho model from {:.1} s of it. Work is CPU time as measured, at evenly \
         spaced quantiles.",
        maker.seen.span_s
    )];
    let untold = match known {
        Some(_) => "Types, sizes, QoS, CPUs and priorities are those of the workload that ran.",
        None => {
            "Not recorded: types and sizes (64 B here), QoS except the depth, CPUs and priorities. Set them where you \
             know them."
        }
    };
    remarks.push(untold.into());
    remarks.extend(maker.lacks.iter().map(|lack| format!("Not expressed: {lack}")));
    let (middleware, transport) =
        known.map_or(("ros2".into(), String::new()), |known| (known.middleware.clone(), known.transport.clone()));
    let (nodes, of_nodes) = maker.nodes.into_iter().unzip();
    let hosts = known.map(|known| known.hosts.clone()).unwrap_or_default();
    let workload = Workload { middleware, transport, nodes, chains, hosts, run, ..Workload::default() };
    Twin { workload, remarks, of_nodes, lacks: maker.lacks, names: maker.names }
}

impl Maker<'_> {
    fn known_node(&self, recorded: &str) -> Option<&Node> {
        self.known.and_then(|known| known.nodes.iter().find(|node| is_called(recorded, &node.name)))
    }

    fn links(&self, node: Row<tacho_tables::Node>) -> Vec<&Link> {
        self.tables.links.iter().filter(|link| link.node == node).collect()
    }

    fn node(&mut self, row: Row<tacho_tables::Node>) {
        let tables = self.tables;
        let recorded = tables.nodes[row].name.clone();
        let callbacks: Vec<_> = numbered(&tables.callbacks).filter(|(_, of)| of.node == Some(row)).collect();
        let topics = |kind: EndpointKind| -> Vec<(Row<tacho_tables::Endpoint>, &tacho_tables::Endpoint)> {
            let of = numbered(&tables.endpoints).filter(|(_, e)| e.node == row && e.kind == kind);
            let mut seen = BTreeSet::new();
            of.filter(|(_, e)| !is_of_library(&e.topic) && seen.insert(e.topic.clone())).collect()
        };
        let (inputs, outputs) = (topics(EndpointKind::Subscription), topics(EndpointKind::Publisher));
        let has_timers = callbacks.iter().any(|(row, of)| of.kind == CallbackKind::Timer && self.runs(*row) > 0);
        if inputs.is_empty() && outputs.is_empty() && !has_timers {
            return;
        }
        let name = self.names.node(&recorded);
        let known = self.known_node(&recorded).cloned();
        let mut remarks: Vec<String> = self.ties(row);
        self.others(&name, &callbacks);
        if let Some(known) = known.filter(|known| known.executor != Executor::Arrival || known.matching.is_some()) {
            self.as_it_ran(row, name, known, remarks);
            return;
        }
        let known = self.known_node(&recorded).cloned();
        let mut node = Node { process: name.clone(), name, ..Node::default() };
        if let Some(known) = &known {
            (node.host, node.middleware) = (known.host.clone(), known.middleware.clone());
        }
        let callback_of = |topic: &str| {
            let is_of = |of: &tacho_tables::Callback| {
                of.kind == CallbackKind::Subscription && of.topic.as_deref() == Some(topic)
            };
            callbacks.iter().find(|(_, of)| is_of(of)).map(|(row, _)| *row)
        };
        // Which callbacks publish each topic.
        let mut causes: BTreeMap<String, Vec<(String, u64, u64)>> = BTreeMap::new();
        for (_, input) in &inputs {
            let Some(of) = callback_of(&input.topic).and_then(|row| self.seen.callbacks.get(&row)) else { continue };
            for (topic, count) in &of.topics {
                causes.entry(topic.clone()).or_default().push((self.names.topic(&input.topic), *count, of.runs));
            }
        }
        let mut timers = Vec::new();
        for (row, callback) in callbacks.iter().filter(|(_, of)| of.kind == CallbackKind::Timer) {
            let Some(period_ns) = callback.period_ns.filter(|ns| *ns >= 1_000) else { continue };
            let Some(of) = self.seen.callbacks.get(row).filter(|of| of.runs > 0) else { continue };
            let hz = rate_of(period_ns);
            let timer = format!("timer_{}", timers.len() + 1);
            let due = self.seen.span_s * hz;
            if (of.runs as f64) < 0.9 * due - 1.0 {
                let text = format!("{timer} ran {} times, though {due:.0} were due: the system fell behind.", of.runs);
                remarks.push(text);
            }
            for (topic, count) in &of.topics {
                causes.entry(topic.clone()).or_default().push((timer.clone(), *count, of.runs));
            }
            timers.push((timer, hz, *row, of.topics.keys().cloned().collect::<Vec<_>>()));
        }
        let links = self.links(row);
        let is_matched = |input: &str, output: &str| {
            links.iter().any(|l| l.input == input && l.output.as_deref() == Some(output) && l.rule == LinkRule::Match)
        };
        let all_matched: Vec<String> = inputs
            .iter()
            .filter(|(_, i)| outputs.iter().any(|(_, o)| is_matched(&i.topic, &o.topic)))
            .map(|(_, i)| i.topic.clone())
            .collect();
        let by_inputs = |of: &[(String, u64, u64)]| of.iter().all(|(name, ..)| name.starts_with('/'));
        let matches = all_matched.len() > 1 && timers.is_empty() && causes.values().all(|of| by_inputs(of));
        let held = |input: &str| {
            let of_rule = |l: &&&Link| matches!(l.rule, LinkRule::Latest | LinkRule::LatestOnce | LinkRule::Match);
            links.iter().filter(of_rule).any(|l| l.input == input && l.output.is_some())
        };
        let held: BTreeSet<String> =
            inputs.iter().filter(|(_, i)| held(&i.topic)).map(|(_, i)| i.topic.clone()).collect();
        for (_, input) in &inputs {
            let own_row = callback_of(&input.topic);
            let of = own_row.and_then(|row| self.seen.callbacks.get(&row));
            let publishes = of.is_some_and(|of| !of.topics.is_empty());
            let matched = matches && all_matched.contains(&input.topic);
            let latest = !matched && !publishes && held.contains(&input.topic) && !outputs.is_empty();
            if publishes && held.contains(&input.topic) && !matched {
                remarks.push(format!(
                    "{} is also kept for the output of another callback, which is not expressed.",
                    self.names.topic(&input.topic)
                ));
            }
            let own = if matched { Own::default() } else { of.map(own).unwrap_or_default() };
            let known = known.as_ref().and_then(|k| k.subscribes.iter().find(|s| s.topic == input.topic));
            let qos = known.map_or_else(|| qos(input.depth), |known| known.qos);
            let topic = self.names.topic(&input.topic);
            remarks.extend(of.and_then(|of| doubts(&topic, of)));
            node.subscribes.push(Subscription { topic, qos, latest, own });
        }
        if matches {
            node.matching = Some(Matching { policy: Policy::Newest, ..Matching::default() });
            let of = all_matched.iter().filter_map(|topic| self.seen.callbacks.get(&callback_of(topic)?));
            let mut both = CallbackSeen::default();
            for of in of {
                let published = of.published.iter().enumerate().filter(|(_, published)| **published);
                for (index, _) in published {
                    both.work_ns.push(of.work_ns[index]);
                    both.off_ns.extend(of.off_ns.get(index));
                }
            }
            (node.work, node.sleep) = (work::of(both.work_ns), work::sleep(both.off_ns));
            remarks
                .push("Work is that of callbacks which published; those that only kept a message are left out.".into());
        }
        let mut rated: BTreeSet<String> = BTreeSet::new();
        for (endpoint, output) in &outputs {
            let known = known.as_ref().and_then(|k| k.publishes.iter().find(|p| p.topic == output.topic));
            let topic = self.names.topic(&output.topic);
            let mut publication = Publication {
                topic: topic.clone(),
                size_bytes: known.map_or(64, |known| known.size_bytes),
                message_type: known.map(|known| known.message_type.clone()).unwrap_or_default(),
                deadline: known.and_then(|known| known.deadline),
                qos: known.map_or_else(|| qos(output.depth), |known| known.qos),
                ..Publication::default()
            };
            let of = causes.get(&output.topic).map_or(&[][..], Vec::as_slice);
            let alone = |timer: &&(String, f64, Row<tacho_tables::Callback>, Vec<String>)| {
                matches!(of, [(name, count, runs)] if *name == timer.0 && share(*count, *runs) == 100.0)
                    && timer.3.len() == 1
            };
            match (of, timers.iter().find(alone)) {
                (_, Some((timer, hz, row, _))) => {
                    publication.rate_hz = Some(*hz);
                    publication.own = self.seen.callbacks.get(row).map(own).unwrap_or_default();
                    remarks.extend(self.seen.callbacks.get(row).and_then(|of| doubts(&topic, of)));
                    rated.insert(timer.clone());
                }
                ([], None) => match self.outside_hz(*endpoint) {
                    Some(hz) => {
                        publication.rate_hz = Some(hz);
                        publication.own = Own { work: Some(Work::Fixed(Duration::ZERO)), sleep: None };
                        remarks.push(format!(
                            "{topic} was not seen to be published by a callback: a timer of its mean rate stands for it."
                        ));
                    }
                    None => {
                        remarks.push(format!("{topic} was never published, and is left out."));
                        continue;
                    }
                },
                _ if matches => {}
                (of, None) => {
                    publication.from = of
                        .iter()
                        .map(|(name, count, runs)| Cause { name: name.clone(), share_percent: share(*count, *runs) })
                        .collect();
                    for (name, count, runs) in of.iter().filter(|(_, count, runs)| *count as f64 > 1.05 * *runs as f64)
                    {
                        let times = *count as f64 / *runs as f64;
                        let text = format!("{name} published {topic} {times:.1} times an activation, here once.");
                        remarks.push(text);
                    }
                }
            }
            self.published.insert(output.topic.clone());
            node.publishes.push(publication);
        }
        for (name, hz, row, _) in timers.into_iter().filter(|(name, ..)| !rated.contains(name)) {
            let of = self.seen.callbacks.get(&row);
            remarks.extend(of.and_then(|of| doubts(&name, of)));
            node.timers.push(NodeTimer { name, hz, own: of.map(own).unwrap_or_default() });
        }
        simplify(&mut node);
        self.nodes.push((node, remarks));
    }

    fn runs(&self, row: Row<tacho_tables::Callback>) -> u64 {
        self.seen.callbacks.get(&row).map_or(0, |of| of.runs)
    }

    /// A node whose executor the events do not show: as its workload says, with the work that was measured.
    fn as_it_ran(&mut self, row: Row<tacho_tables::Node>, name: String, known: Node, mut remarks: Vec<String>) {
        let of_node = numbered(&self.tables.callbacks).filter(|(_, of)| of.node == Some(row));
        let mut all = CallbackSeen::default();
        for of in of_node.filter_map(|(row, _)| self.seen.callbacks.get(&row)) {
            let is_used = |index: usize| known.publishes.is_empty() || of.published[index];
            let indices: Vec<usize> = (0..of.work_ns.len()).filter(|index| is_used(*index)).collect();
            all.work_ns.extend(indices.iter().map(|index| of.work_ns[*index]));
            all.off_ns.extend(indices.iter().filter_map(|index| of.off_ns.get(*index)));
            all.is_wall |= of.is_wall;
        }
        remarks.push("Executor and rates are those of the workload that ran; work is as measured.".into());
        remarks.extend(doubts("work", &all));
        let mut node = Node { process: name.clone(), name, thread: None, ..known };
        (node.work, node.sleep) = (work::of(all.work_ns), work::sleep(all.off_ns));
        self.published.extend(node.publishes.iter().map(|p| p.topic.clone()));
        for s in &mut node.subscribes {
            s.topic = self.names.topic(&s.topic);
        }
        for p in &mut node.publishes {
            p.topic = self.names.topic(&p.topic);
        }
        if let Some(matching) = &mut node.matching {
            matching.lower_bounds.iter_mut().for_each(|(topic, _)| *topic = self.names.topic(topic));
        }
        self.nodes.push((node, remarks));
    }

    /// What made what, with how sure that is.
    fn ties(&mut self, row: Row<tacho_tables::Node>) -> Vec<String> {
        let links: Vec<Link> = self.links(row).into_iter().cloned().collect();
        let mut told = BTreeSet::new();
        let mut remarks = Vec::new();
        for link in links {
            let Some(output) = &link.output else { continue };
            if link.rule == LinkRule::Unrelated || !told.insert((link.input.clone(), output.clone())) {
                continue;
            }
            remarks.push(format!(
                "{} -> {}: {}, {}, confidence {:.2}, {} of {} outputs.",
                self.names.topic(&link.input),
                self.names.topic(output),
                link.rule.word(),
                link.evidence.word(),
                link.confidence,
                link.followed,
                link.outputs
            ));
        }
        remarks
    }

    /// Callbacks of a node that a workload does not have.
    fn others(&mut self, name: &str, callbacks: &[(Row<tacho_tables::Callback>, &tacho_tables::Callback)]) {
        let mut of_kinds: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
        for (row, callback) in callbacks {
            let Some(of) = self.seen.callbacks.get(row) else { continue };
            let is_of_library =
                callback.kind == CallbackKind::Subscription && callback.topic.as_deref().is_some_and(is_of_library);
            if matches!(callback.kind, CallbackKind::Subscription | CallbackKind::Timer) && !is_of_library {
                continue;
            }
            let kind = if is_of_library { "client library" } else { callback.kind.word() };
            let (runs, ns) = of_kinds.entry(kind).or_default();
            (*runs, *ns) = (*runs + of.runs, *ns + of.work_ns.iter().sum::<i64>());
        }
        for (kind, (runs, ns)) in of_kinds {
            let percent = ns as f64 / 1e7 / self.seen.span_s.max(1e-9);
            self.lacks.push(format!("{kind} callbacks of {name}: {runs} executions, {percent:.2} % of a CPU."));
        }
    }

    fn outside_hz(&self, endpoint: Row<tacho_tables::Endpoint>) -> Option<f64> {
        let times = self.seen.outside.get(&endpoint);
        let count = times.map_or(self.tables.endpoints[endpoint].count, |times| times.len() as u64);
        (count > 0).then(|| rounded_hz(count as f64 / self.seen.span_s.max(1e-9)))
    }

    /// Nodes that stand for publishers which were not recorded; subscriptions of which nothing came are left out.
    fn sources(&mut self) {
        let topics: BTreeMap<String, String> = self
            .tables
            .endpoints
            .iter()
            .filter_map(|e| Some((self.names.of_topic(&e.topic)?.to_owned(), e.topic.clone())))
            .collect();
        let mut wanted: BTreeSet<String> = BTreeSet::new();
        for (node, _) in &self.nodes {
            wanted.extend(node.subscribes.iter().map(|s| s.topic.clone()));
        }
        let mut source = Node::default();
        for topic in wanted {
            let Some(recorded) = topics.get(&topic).filter(|recorded| !self.published.contains(*recorded)) else {
                continue;
            };
            let takes =
                self.tables.endpoints.iter().filter(|e| e.topic == *recorded && e.kind == EndpointKind::Subscription);
            match takes.map(|e| e.count).max().unwrap_or(0) {
                0 => {
                    for (node, remarks) in &mut self.nodes {
                        let before = node.subscribes.len();
                        node.subscribes.retain(|s| s.topic != topic);
                        node.publishes.iter_mut().for_each(|p| p.from.retain(|cause| cause.name != topic));
                        if node.subscribes.len() < before {
                            remarks.push(format!("{topic} had no message, and is left out."));
                        }
                    }
                }
                count => source.publishes.push(Publication {
                    topic,
                    size_bytes: 64,
                    rate_hz: Some(rounded_hz(count as f64 / self.seen.span_s.max(1e-9))),
                    ..Publication::default()
                }),
            }
        }
        if !source.publishes.is_empty() {
            source.name = self.names.node("outside");
            source.process = source.name.clone();
            let remark = "Stands for publishers that were not recorded, at their mean rates.".to_owned();
            self.nodes.push((source, vec![remark]));
        }
    }

    /// Processes and threads that nodes share.
    fn threads(&mut self, rows: &[Row<tacho_tables::Node>]) {
        let tables = self.tables;
        let mut places = Vec::new();
        for row in rows.iter().copied() {
            let Some(name) = self.names.of_node(&tables.nodes[row].name) else { continue };
            let of_node = numbered(&tables.callbacks).filter(|(_, of)| of.node == Some(row));
            let tids: BTreeSet<u32> =
                of_node.filter_map(|(row, _)| self.seen.callbacks.get(&row)).flat_map(|of| of.tids.clone()).collect();
            places.push((name[1..].to_owned(), tables.nodes[row].process, tids));
        }
        for (name, process, tids) in &places {
            let beside = places.iter().filter(|(_, of, _)| of == process).count();
            let shares = tids.len() == 1
                && places.iter().any(|(other, of, their)| other != name && of == process && their == tids);
            let recorded = &tables.processes[*process];
            let file = recorded.executable.rsplit('/').next().filter(|file| !file.is_empty()).unwrap_or("process");
            let key = format!("{file} pid {}", recorded.pid);
            let process_name = (beside > 1).then(|| self.names.other("process", &key));
            let thread = shares.then(|| {
                let tid = tids.first().copied().unwrap_or(0);
                self.names.other("thread", &format!("{file}_thread pid {} {tid}", recorded.pid))
            });
            let Some((node, remarks)) = self.nodes.iter_mut().find(|(node, _)| node.name == *name) else { continue };
            if let Some(process_name) = process_name {
                node.process = process_name;
            }
            let spins = matches!(node.executor, Executor::Spin { .. });
            node.thread = thread.filter(|_| !spins);
            if tids.len() > 1 {
                remarks.push(format!("Its callbacks ran on {} threads, here on one.", tids.len()));
                self.lacks.push(format!("{name} ran on a multi-threaded executor ({} threads seen).", tids.len()));
            }
        }
    }

    /// What no node of the twin has.
    fn elsewhere(&mut self) {
        if !self.tables.services.is_empty() {
            self.lacks.push(format!("{} service calls.", self.tables.services.len()));
        }
        if !self.tables.goals.is_empty() {
            self.lacks.push(format!("{} goals of actions.", self.tables.goals.len()));
        }
        if self.tables.executions.is_empty() {
            self.lacks.push("no callback was recorded: work is not known, and is none here.".into());
        }
        let unlinked = numbered(&self.tables.callbacks).filter(|(row, of)| of.node.is_none() && self.runs(*row) > 0);
        match unlinked.count() {
            0 => {}
            count => self.lacks.push(format!("{count} callbacks whose node is not known.")),
        }
    }

    /// Chains that the run named; otherwise the critical one. Those that are no path of the twin are told.
    fn chains(&mut self) -> Vec<Chain> {
        let named: Vec<String> =
            self.known.map(|k| k.chains.iter().map(|c| c.name.clone()).collect()).unwrap_or_default();
        let is_wanted =
            |chain: &&tacho_tables::Chain| named.contains(&chain.name) || named.is_empty() && chain.critical;
        let mut chains: Vec<Chain> = Vec::new();
        for chain in self.tables.chains.iter().filter(is_wanted) {
            let name = self.names.other("chain", &chain.name);
            let nodes: Option<Vec<String>> =
                chain.path.iter().step_by(2).map(|of| Some(self.names.of_node(of)?[1..].to_owned())).collect();
            let of = |name: &String| self.nodes.iter().find(|(node, _)| node.name == *name).map(|(node, _)| node);
            let joined = |pair: &[String]| match (of(&pair[0]), of(&pair[1])) {
                (Some(from), Some(to)) => {
                    from.publishes.iter().any(|p| to.subscribes.iter().any(|s| s.topic == p.topic))
                }
                _ => false,
            };
            let is_path = |nodes: &Vec<String>| {
                let distinct: BTreeSet<&String> = nodes.iter().collect();
                nodes.len() > 1 && distinct.len() == nodes.len() && nodes.windows(2).all(joined)
            };
            match nodes.filter(is_path) {
                Some(nodes) if chains.iter().all(|known| known.name != name) => chains.push(Chain { name, nodes }),
                Some(_) => {}
                None => self.lacks.push(format!("chain {name}, which is no path of distinct nodes of the twin.")),
            }
        }
        chains
    }
}

/// What a callback does by itself.
fn own(of: &CallbackSeen) -> Own {
    let written = |work: Work| if work.is_none() { Work::Fixed(Duration::ZERO) } else { work };
    let sleep = work::sleep(of.off_ns.clone());
    Own { work: Some(written(work::of(of.work_ns.clone()))), sleep: (!sleep.is_none()).then_some(sleep) }
}

/// Why the work of a callback may be other than what it says.
fn doubts(name: &str, of: &CallbackSeen) -> Option<String> {
    if of.work_ns.is_empty() {
        return None;
    }
    let mean = |times: &[i64]| times.iter().sum::<i64>() as f64 / times.len().max(1) as f64;
    let (work_ns, off_ns) = (mean(&of.work_ns), mean(&of.off_ns));
    if of.is_wall {
        return Some(format!(
            "{name}: {} executions; CPU time was not recorded, so work is wall time, with waits for a CPU.",
            of.work_ns.len()
        ));
    }
    let waits = work::sleep(of.off_ns.clone()).is_none() && off_ns > 0.05 * (work_ns + off_ns) && off_ns > 50_000.0;
    waits.then(|| {
        format!(
            "{name}: off the CPU for {:.2} ms on the average, which is no steady sleep and is left out.",
            off_ns / 1e6
        )
    })
}

/// Moves the load of an only callback to its node.
fn simplify(node: &mut Node) {
    let (subscriptions, publications) =
        (node.subscribes.iter_mut().map(|s| (s.latest, &mut s.own)), node.publishes.iter_mut());
    let rated = publications.filter(|p| p.rate_hz.is_some()).map(|p| (false, &mut p.own));
    let timers = node.timers.iter_mut().map(|timer| (false, &mut timer.own));
    let mut all: Vec<(bool, &mut Own)> = subscriptions.chain(rated).chain(timers).collect();
    let zero = Some(Work::Fixed(Duration::ZERO));
    match all.as_mut_slice() {
        [(false, own)] if node.matching.is_none() => {
            let Own { work, sleep } = std::mem::take(*own);
            node.work = work.filter(|_| true).unwrap_or_default();
            node.sleep = sleep.unwrap_or_default();
            if Some(&node.work) == zero.as_ref() {
                node.work = Work::None;
            }
        }
        // What is none by default need not be written.
        all => {
            for (_, own) in all.iter_mut().filter(|(_, own)| own.work == zero) {
                own.work = None;
            }
        }
    }
    // A publication of the only triggering input needs no cause.
    let inputs: Vec<&String> = node.subscribes.iter().filter(|s| !s.latest).map(|s| &s.topic).collect();
    if let [input] = inputs.as_slice() {
        let is_plain = |p: &Publication| matches!(p.from.as_slice(), [only] if only.name == **input && only.share_percent == 100.0);
        node.publishes.iter_mut().filter(|p| is_plain(p)).for_each(|p| p.from.clear());
    }
}

/// Part of the activations that publish, percent; one more or less is where the window cuts.
fn share(count: u64, runs: u64) -> f64 {
    if count + 1 >= runs {
        100.0
    } else {
        (count as f64 / runs as f64 * 1000.0).round() / 10.0
    }
}

fn qos(depth: Option<u64>) -> Qos {
    let depth =
        depth.filter(|depth| (1..=1_000_000).contains(depth)).map_or(Qos::default().depth, |depth| depth as u32);
    Qos { depth, ..Qos::default() }
}

/// The rate of a timer with this period: a whole number of Hz, or of a thousandth, if that is its period.
fn rate_of(period_ns: i64) -> f64 {
    let hz = 1e9 / period_ns as f64;
    let near = rounded_hz(hz);
    if (1e9 / near - period_ns as f64).abs() < 1.0 {
        near
    } else {
        hz
    }
}

/// To a thousandth of a Hz.
fn rounded_hz(hz: f64) -> f64 {
    ((hz * 1000.0).round() / 1000.0).clamp(0.001, 1e6)
}
