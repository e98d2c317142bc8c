//! Names of a twin: as recorded, made fit for a workload; or others, so that nobody learns the recorded ones.

use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::summary::Summary;
use tacho_tables::Tables;

/// Names of the twin by recorded name, of one kind each.
#[derive(Debug, Default)]
pub struct Names {
    anonymous: bool,
    nodes: BTreeMap<String, String>,
    topics: BTreeMap<String, String>,
    others: BTreeMap<(&'static str, String), String>,
    taken: BTreeSet<String>,
    /// Topics that a client of a service has for itself, by what chains of the recording have, and the client.
    of_clients: BTreeMap<(String, String), String>,
}

impl Names {
    /// Names as recorded, or anonymous.
    pub fn new(anonymous: bool) -> Names {
        Names { anonymous, ..Names::default() }
    }

    /// The name of a node with this full name.
    pub fn node(&mut self, recorded: &str) -> String {
        if let Some(known) = self.nodes.get(recorded) {
            return known.clone();
        }
        let name = self.new_name("node", recorded.trim_start_matches('/'), self.nodes.len());
        self.nodes.insert(recorded.into(), name.clone());
        name
    }

    /// The name of a topic.
    pub fn topic(&mut self, recorded: &str) -> String {
        if let Some(known) = self.topics.get(recorded) {
            return known.clone();
        }
        let name = if self.anonymous {
            format!("/topic_{:02}", self.topics.len() + 1)
        } else {
            let parts = recorded.split('/').filter(|part| !part.is_empty()).map(fit);
            let name: String = parts.map(|part| format!("/{part}")).collect();
            self.unique(if name.is_empty() { "/topic".into() } else { name })
        };
        self.topics.insert(recorded.into(), name.clone());
        name
    }

    /// The name of a process, thread, timer or chain.
    pub fn other(&mut self, kind: &'static str, recorded: &str) -> String {
        let key = (kind, recorded.to_owned());
        if let Some(known) = self.others.get(&key) {
            return known.clone();
        }
        let count = self.others.keys().filter(|(of, _)| *of == kind).count();
        let base = recorded.split(" pid ").next().unwrap_or(recorded);
        let name = self.new_name(kind, base, count);
        self.others.insert(key, name.clone());
        name
    }

    /// What chains of the recording call `way` between this client and a server is a topic of the client's own.
    pub fn of_client(&mut self, way: String, client: String, topic: String) {
        self.of_clients.insert((way, client), topic);
    }

    /// The twin's name of a recorded node, as events name it.
    pub fn of_node(&self, recorded: &str) -> Option<String> {
        self.nodes.get(recorded).map(|name| format!("/{name}"))
    }

    /// The twin's name of a recorded topic.
    pub fn of_topic(&self, recorded: &str) -> Option<&str> {
        self.topics.get(recorded).map(String::as_str)
    }

    /// The twin's name of a recorded node or topic; as recorded if the twin has no such thing.
    fn of_either(&self, recorded: &str) -> String {
        let twins = self.of_topic(recorded).map(str::to_owned).or_else(|| self.of_node(recorded));
        twins.unwrap_or_else(|| recorded.to_owned())
    }

    /// Gives nodes and topics of tables and figures the twin's names, so that they are those of a run of the twin.
    pub fn apply(&self, tables: &mut Tables, summary: &mut Summary) {
        tables.nodes.iter_mut().for_each(|node| node.name = self.of_either(&node.name));
        tables.endpoints.iter_mut().for_each(|endpoint| endpoint.topic = self.of_either(&endpoint.topic));
        for topic in tables.callbacks.iter_mut().filter_map(|callback| callback.topic.as_mut()) {
            *topic = self.of_either(topic);
        }
        let paths = tables.chains.iter_mut().map(|chain| &mut chain.path);
        for path in paths.chain(summary.chains.iter_mut().map(|chain| &mut chain.path)) {
            for at in (1..path.len()).step_by(2) {
                // The client asks, or hears.
                let topic = [at - 1, at + 1]
                    .into_iter()
                    .find_map(|client| self.of_clients.get(&(path[at].clone(), path.get(client)?.clone())));
                if let Some(topic) = topic {
                    path[at].clone_from(topic);
                }
            }
            path.iter_mut().for_each(|of| *of = self.of_either(of));
        }
        summary.topics.iter_mut().for_each(|topic| topic.topic = self.of_either(&topic.topic));
    }

    fn new_name(&mut self, kind: &str, recorded: &str, count: usize) -> String {
        if self.anonymous {
            return format!("{kind}_{:02}", count + 1);
        }
        self.unique(fit(recorded))
    }

    fn unique(&mut self, name: String) -> String {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !self.taken.contains(name));
        let free = free.unwrap_or(name);
        self.taken.insert(free.clone());
        free
    }
}

/// A name of letters, digits and underscores.
/// Whether somebody who says `asked` means a recorded chain: by the name that `tacho explain` prints, or its twin's.
pub fn is_chain(recorded: &str, asked: &str) -> bool {
    recorded == asked || fit(recorded) == asked
}

fn fit(recorded: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = recorded.chars().map(fits).take(200).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_fit_unique_and_stay() {
        let mut names = Names::new(false);
        assert_eq!((names.node("/car/ndt"), names.node("/car_ndt")), ("car_ndt".into(), "car_ndt_2".into()));
        assert_eq!(names.node("/car/ndt"), "car_ndt");
        assert_eq!((names.topic("/a/b-c"), names.topic("/9")), ("/a/b_c".into(), "/_9".into()));
        assert_eq!(names.of_node("/car/ndt").as_deref(), Some("/car_ndt"));
    }

    #[test]
    fn anonymous_names_say_nothing() {
        let mut names = Names::new(true);
        assert_eq!((names.node("/ndt"), names.topic("/points")), ("node_01".into(), "/topic_01".into()));
        assert_eq!(names.other("process", "secret"), "process_01");
    }
}
