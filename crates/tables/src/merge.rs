//! The tables of several repeats as one.

use crate::row::{self, Column, Row};
use crate::{Chain, Tables};

impl Tables {
    /// Appends the rows of another repeat of the same workload. A chain of the same name and path is the same chain,
    /// and its losses add up; everything else is a row of its own, as each repeat has processes of its own. Which chain
    /// is critical over all repeats is for the figures to say, so the mark of the first repeat stays.
    pub fn append(&mut self, other: Tables) {
        let processes = self.processes.len() as u32;
        let nodes = self.nodes.len() as u32;
        let endpoints = self.endpoints.len() as u32;
        let callbacks = self.callbacks.len() as u32;
        let executions = self.executions.len() as u32;
        let instances = self.instances.len() as u32;
        let chains: Column<Chain, Row<Chain>> = Column::of(other.chains.into_iter().map(|chain| self.chain_row(chain)));

        let bag_topics = self.bag_topics.len() as u32;
        self.bag_topics.extend(other.bag_topics);
        self.bag_messages.extend(other.bag_messages.into_iter().map(|mut row| {
            row.topic += bag_topics;
            row
        }));
        let clocks = self.clocks.len() as u32;
        self.clocks.extend(other.clocks);
        self.processes.extend(other.processes.into_iter().map(|mut row| {
            row.clock = row.clock.map(|clock| clock + clocks);
            row
        }));
        self.nodes.extend(other.nodes.into_iter().map(|mut row| {
            row.process = row.process.moved(processes);
            row
        }));
        self.endpoints.extend(other.endpoints.into_iter().map(|mut row| {
            row.node = row.node.moved(nodes);
            row
        }));
        self.callbacks.extend(other.callbacks.into_iter().map(|mut row| {
            row.process = row.process.moved(processes);
            row.node = row.node.map(|node| node.moved(nodes));
            row
        }));
        self.executions.extend(other.executions.into_iter().map(|mut row| {
            row.callback = row.callback.moved(callbacks);
            row.resumes = row.resumes.map(|execution| execution.moved(executions));
            row
        }));
        let messages = self.messages.len() as u32;
        self.layers.extend(other.layers.into_iter().map(|mut row| {
            row.message = row.message.moved(messages);
            row
        }));
        self.publications.extend(other.publications.into_iter().map(|mut row| {
            row.publisher = row.publisher.moved(endpoints);
            row.execution = row.execution.map(|execution| execution.moved(executions));
            row
        }));
        self.messages.extend(other.messages.into_iter().map(|mut row| {
            row.publisher = row.publisher.map(|publisher| publisher.moved(endpoints));
            row.subscription = row.subscription.moved(endpoints);
            row.execution = row.execution.map(|execution| execution.moved(executions));
            row.published_in = row.published_in.map(|execution| execution.moved(executions));
            row
        }));
        self.services.extend(other.services.into_iter().map(|mut row| {
            row.client = row.client.map(|node| node.moved(nodes));
            row.server = row.server.map(|node| node.moved(nodes));
            row.execution = row.execution.map(|execution| execution.moved(executions));
            row
        }));
        self.goals.extend(other.goals.into_iter().map(|mut row| {
            row.client = row.client.map(|node| node.moved(nodes));
            row.server = row.server.map(|node| node.moved(nodes));
            row.execution = row.execution.map(|execution| execution.moved(executions));
            row
        }));
        self.states.extend(other.states.into_iter().map(|mut row| {
            row.node = row.node.moved(nodes);
            row
        }));
        self.instances.extend(other.instances.into_iter().map(|mut row| {
            row.chain = chains[row.chain];
            row
        }));
        self.hops.extend(other.hops.into_iter().map(|mut row| {
            row.instance = row.instance.moved(instances);
            row.execution = row.execution.map(|execution| execution.moved(executions));
            row
        }));
        self.preemptions.extend(other.preemptions.into_iter().map(|mut row| {
            row.process = row.process.moved(processes);
            row.execution = row.execution.map(|execution| execution.moved(executions));
            row
        }));
        let executors = self.executors.iter().filter_map(|row| row.executor).max().map_or(0, |last| last + 1);
        self.executors.extend(other.executors.into_iter().map(|mut row| {
            row.process = row.process.moved(processes);
            row.executor = row.executor.map(|executor| executor + executors);
            row
        }));
        self.slowdowns.extend(other.slowdowns.into_iter().map(|mut row| {
            row.process = row.process.moved(processes);
            row
        }));
        self.links.extend(other.links.into_iter().map(|mut row| {
            row.node = row.node.moved(nodes);
            row
        }));
        let signals = self.signals.len() as u32;
        self.signals.extend(other.signals.into_iter().map(|mut row| {
            row.node = row.node.moved(nodes);
            row
        }));
        self.samples.extend(other.samples.into_iter().map(|mut row| {
            row.signal = row.signal.moved(signals);
            row.execution = row.execution.map(|execution| execution.moved(executions));
            row
        }));
        self.inputs.extend(other.inputs.into_iter().map(|mut row| {
            row.chain = chains[row.chain];
            row
        }));
        self.causes.extend(other.causes.into_iter().map(|mut row| {
            row.chain = chains[row.chain];
            row.instance = row.instance.map(|instance| instance.moved(instances));
            row.execution = row.execution.map(|execution| execution.moved(executions));
            row
        }));
        for note in other.notes {
            match self.notes.iter_mut().find(|known| known.name == note.name && known.text == note.text) {
                Some(known) => known.count += note.count,
                None => self.notes.push(note),
            }
        }
    }

    fn chain_row(&mut self, mut chain: Chain) -> Row<Chain> {
        match self.chain(&chain.name, &chain.path) {
            Some(row) => {
                self.chains[row].lost += chain.lost;
                row
            }
            None => {
                chain.critical &= !self.chains.iter().any(|known| known.critical);
                row::add(&mut self.chains, chain)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::*;

    fn repeat(path: &[&str], lost: u64) -> Tables {
        Tables {
            chains: vec![Chain {
                name: "c".into(),
                path: path.iter().map(|s| s.to_string()).collect(),
                critical: true,
                lost,
                evidence: String::new(),
                deadline_ns: None,
                until_ns: None,
                guessed_at: Vec::new(),
                callbacks: Vec::new(),
            }],
            instances: vec![Instance {
                chain: Row::new(0),
                start_ns: 0,
                end_ns: 4,
                end_to_end_ns: 4,
                computation_ns: 1,
                off_cpu_ns: MaybeNs::NONE,
                preemption_ns: MaybeNs::NONE,
                alignment_ns: 1.into(),
                queueing_ns: 1,
                kept_ns: MaybeNs::NONE,
                transport_ns: 1,
            }]
            .into(),
            hops: vec![Hop {
                instance: Row::new(0),
                position: 0,
                execution: None,
                published_ns: MaybeNs::NONE,
                arrival_ns: MaybeNs::NONE,
                start_ns: 0,
                output_ns: 4,
                queueing_ns: 0,
                alignment_ns: MaybeNs::NONE,
                kept_ns: MaybeNs::NONE,
                off_cpu_ns: MaybeNs::NONE,
                preemption_ns: MaybeNs::NONE,
            }]
            .into(),
            ..Tables::default()
        }
    }

    #[test]
    fn instances_of_the_same_path_belong_to_one_chain_and_losses_add_up() {
        let mut tables = repeat(&["a", "/t", "b"], 1);
        tables.append(repeat(&["a", "/t", "b"], 2));
        assert_eq!((tables.chains.len(), tables.chains[0].lost), (1, 3));
        assert_eq!(tables.instances.iter().map(|i| i.chain.number()).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(tables.hops.iter().map(|h| h.instance.number()).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn another_path_is_another_chain_and_only_one_stays_critical() {
        let mut tables = repeat(&["a", "/t", "b"], 0);
        tables.append(repeat(&["a", "/t", "c"], 0));
        assert_eq!(tables.instances[1].chain.number(), 1);
        assert_eq!(tables.chains.iter().filter(|c| c.critical).count(), 1);
    }
}
