//! Service calls as messages: the request, which the server's callback takes, and the response, which the client's
//! does.
//!
//! As rmw does it, a service has a topic for either way. A client takes no responses to others, so where a service has
//! several clients, each has two topics of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use tacho_tables::row::Row;
use tacho_tables::{
    action_of, Delivery, Endpoint, EndpointKind, Execution, MaybeNs, Message, Node, Publication, ServiceCall, Tables,
};

/// All service calls.
#[derive(Default)]
pub struct Calls {
    /// Publishers and subscriptions of requests and responses. Their rows are those behind the run's.
    pub endpoints: Vec<Endpoint>,
    /// The requests and responses.
    messages: Vec<Message>,
    /// Of services with several clients, what chains call a way, the client, and the topic that it has for itself.
    pub of_clients: Vec<[String; 3]>,
    /// What the twin does not have of them, in words.
    pub lacks: Vec<String>,
}

/// A client of a service, and its server.
type Pair<'a> = (&'a str, Row<Node>, Row<Node>);

impl Calls {
    /// Those of a run. Goals of actions are no calls.
    pub fn of(tables: &Tables) -> Calls {
        let mut pairs: BTreeMap<Pair<'_>, Vec<&ServiceCall>> = BTreeMap::new();
        let mut unknown = 0;
        for call in tables.services.iter().filter(|call| action_of(&call.service).is_none()) {
            match (call.client, call.server) {
                (Some(client), Some(server)) if !call.service.is_empty() => {
                    pairs.entry((call.service.as_str(), client, server)).or_default().push(call);
                }
                _ => unknown += 1,
            }
        }
        let mut made = Calls::default();
        if unknown > 0 {
            made.lacks.push(format!("{unknown} service calls whose client or server was not recorded."));
        }
        let mut clients: BTreeMap<&str, BTreeSet<Row<Node>>> = BTreeMap::new();
        for (service, client, _) in pairs.keys() {
            clients.entry(service).or_default().insert(*client);
        }
        for ((service, client, server), calls) in &pairs {
            let name = &tables.nodes[*client].name;
            let mut topic = |way: &str| {
                let way = format!("{service} {way}");
                if clients[service].len() == 1 {
                    return way;
                }
                let own = format!("{way} of {}", name.trim_start_matches('/').replace('/', "_"));
                made.of_clients.push([way, name.clone(), own.clone()]);
                own
            };
            let (request, response) = (topic("request"), topic("response"));
            let [asks, takes] = made.topic(tables, request, *client, *server);
            for call in calls {
                let sent = (call.requested_ns(), call.requested_in);
                made.message(tables, [asks, takes], sent, (call.request_taken_ns, call.execution));
            }
            if waits(tables, calls) {
                let text = "waits in its callback for the response of";
                made.lacks.push(format!("{name} {text} {service}: it sleeps as long as that took."));
                continue;
            }
            let [answers, hears] = made.topic(tables, response, *server, *client);
            for call in calls {
                let taken = (call.response_taken_ns, call.response_taken_in);
                made.message(tables, [answers, hears], (call.answered_ns(), call.execution), taken);
            }
        }
        made
    }

    /// A topic with a publisher and a subscription.
    fn topic(&mut self, tables: &Tables, topic: String, from: Row<Node>, to: Row<Node>) -> [Row<Endpoint>; 2] {
        [(EndpointKind::Publisher, from), (EndpointKind::Subscription, to)].map(|(kind, node)| {
            self.endpoints.push(Endpoint {
                node,
                kind,
                topic: topic.clone(),
                message_type: None,
                depth: None,
                reliable: None,
                transient_local: None,
                keep_all: None,
                created_ns: 0,
                count: 0,
                skipped: None,
                refused: None,
                pending: None,
                before: None,
                after: None,
                unknown: None,
                linked: None,
            });
            Row::behind(tables.endpoints.len() + self.endpoints.len() - 1)
        })
    }

    fn message(&mut self, tables: &Tables, ends: [Row<Endpoint>; 2], sent: End, taken: End) {
        let [publisher, subscription] = ends;
        let (sent_ns, published_in) = sent;
        let (take_ns, execution) = taken;
        // rclcpp sends a response when the callback has ended.
        let end_ns = published_in.and_then(|row| tables.executions[row].end_ns.get());
        let publish_ns = sent_ns.map(|ns| end_ns.map_or(ns, |end_ns| ns.min(end_ns)));
        for (end, ns) in [(publisher, publish_ns), (subscription, take_ns)] {
            self.endpoints[end.index() - tables.endpoints.len()].count += u64::from(ns.is_some());
        }
        self.messages.push(Message {
            publisher: Some(publisher),
            subscription,
            sequence: None,
            publish_ns: publish_ns.into(),
            arrival_ns: MaybeNs::NONE,
            take_ns: take_ns.into(),
            callback_ns: execution.map(|row| tables.executions[row].start_ns).into(),
            execution,
            published_in,
            delivery: Delivery::InTime,
            lost_in: None,
            emulated: false,
        });
    }

    /// When each was sent, by whom and in which execution.
    pub fn sent(&self) -> impl Iterator<Item = (i64, Row<Endpoint>, Option<Row<Execution>>)> + '_ {
        self.messages.iter().filter_map(|of| Some((of.publish_ns.get()?, of.publisher?, of.published_in)))
    }

    /// The executions that took them, with the subscription.
    pub fn taken_in(&self) -> HashMap<Row<Execution>, Row<Endpoint>> {
        self.messages.iter().filter_map(|of| Some((of.execution?, of.subscription))).collect()
    }

    /// Puts them into the tables of the run as messages.
    pub fn join(&self, tables: &mut Tables) {
        tables.endpoints.extend(self.endpoints.iter().cloned());
        for (publish_ns, publisher, execution) in self.sent() {
            let (due_ns, sequence, size_bytes) = (MaybeNs::NONE, None, None);
            tables.publications.push(Publication { publisher, publish_ns, due_ns, sequence, size_bytes, execution });
        }
        tables.messages.extend(self.messages.iter().filter(|of| of.take_ns.get().is_some()).copied());
    }
}

/// When one end of a message was, and in which execution.
type End = (Option<i64>, Option<Row<Execution>>);

/// Whether a recorded path ends where a response comes back to.
pub fn comes_back(path: &[String]) -> bool {
    matches!(path, [before @ .., topic, last] if topic.ends_with(" response") && before.contains(last))
}

/// Whether most callbacks that sent a request ended after its response was there.
fn waits(tables: &Tables, calls: &[&ServiceCall]) -> bool {
    let ends = calls.iter().filter_map(|call| {
        let end_ns = tables.executions[call.requested_in?].end_ns.get()?;
        Some(end_ns >= call.response_taken_ns?)
    });
    let (mut after, mut all) = (0, 0);
    ends.for_each(|is_after| (after, all) = (after + usize::from(is_after), all + 1));
    2 * after > all
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::{Callback, Name};

    /// Clients 0 and 1 call the service of node 2. Each call lies within the 100 ns from `from_ns` on, and the client's
    /// callback ends after so many of them.
    fn tables(calls: &[(u32, i64, i64)]) -> Tables {
        let node = |name: &str| Node { process: Row::new(0), name: name.into() };
        let mut tables = Tables { nodes: ["/a", "/b", "/server"].map(node).to_vec(), ..Tables::default() };
        let execution = |start_ns: i64, end_ns: i64| Execution {
            callback: Row::<Callback>::new(0),
            tid: 1,
            queued_ns: MaybeNs::NONE,
            start_ns,
            end_ns: end_ns.into(),
            cpu_ns: MaybeNs::NONE,
            runnable_ns: MaybeNs::NONE,
            executor_cpu_ns: MaybeNs::NONE,
            executor_runnable_ns: MaybeNs::NONE,
            resumes: None,
        };
        for (client, from_ns, ends_ns) in calls {
            let asks = Row::behind(tables.executions.len());
            for (start_ns, end_ns) in [(0, *ends_ns), (20, 60), (80, 90)] {
                tables.executions.push(execution(from_ns + start_ns, from_ns + end_ns));
            }
            tables.services.push(ServiceCall {
                service: Name::from("/ask"),
                client: Some(Row::new(*client)),
                server: Some(Row::new(2)),
                sequence: 1,
                request_ns: Some(from_ns + 5),
                request_taken_ns: Some(from_ns + 20),
                // After its callback, as rclcpp does it.
                response_ns: Some(from_ns + 65),
                response_taken_ns: Some(from_ns + 80),
                execution: Some(asks.moved(1)),
                requested_in: Some(asks),
                response_taken_in: Some(asks.moved(2)),
            });
        }
        tables
    }

    fn topics(calls: &Calls) -> Vec<(&str, u32, u64)> {
        calls.endpoints.iter().map(|of| (of.topic.as_str(), of.node.number(), of.count)).collect()
    }

    #[test]
    fn a_service_has_a_topic_for_either_way() {
        let calls = Calls::of(&tables(&[(0, 0, 10), (0, 1000, 10)]));
        assert_eq!(
            topics(&calls),
            [("/ask request", 0, 2), ("/ask request", 2, 2), ("/ask response", 2, 2), ("/ask response", 0, 2)]
        );
        let sent: Vec<(i64, u32)> = calls.sent().map(|(ns, publisher, _)| (ns, publisher.number())).collect();
        assert_eq!(sent, [(5, 0), (1005, 0), (60, 2), (1060, 2)], "a response by the end of its callback");
        let taken_in = calls.taken_in();
        assert_eq!((taken_in[&Row::new(1)], taken_in[&Row::new(5)]), (Row::new(1), Row::new(3)));
        assert!(calls.lacks.is_empty());
    }

    #[test]
    fn several_clients_each_have_their_own() {
        let calls = Calls::of(&tables(&[(0, 0, 10), (1, 1000, 10)]));
        let of_b = [("/ask request of b", 1, 1), ("/ask request of b", 2, 1)];
        assert_eq!(topics(&calls)[4..6], of_b);
        assert_eq!(calls.of_clients[3], ["/ask response", "/b", "/ask response of b"]);
    }

    #[test]
    fn a_client_that_waits_in_its_callback_hears_no_response() {
        let calls = Calls::of(&tables(&[(0, 0, 95), (0, 1000, 95), (0, 2000, 10)]));
        assert_eq!(topics(&calls), [("/ask request", 0, 3), ("/ask request", 2, 3)]);
        assert_eq!(calls.lacks.len(), 1);
    }

    #[test]
    fn as_messages_they_have_both_ends() {
        let mut tables = tables(&[(0, 0, 10), (0, 1000, 10)]);
        Calls::of(&tables).join(&mut tables);
        assert_eq!((tables.endpoints.len(), tables.publications.len(), tables.messages.len()), (4, 4, 4));
        let of = |message: &Message| (message.publish_ns.get(), message.take_ns.get(), message.callback_ns.get());
        let first = tables.messages.iter().next().map(of);
        assert_eq!(first, Some((Some(5), Some(20), Some(20))));
    }

    #[test]
    fn calls_of_unknown_ends_are_said() {
        let mut tables = tables(&[(0, 0, 10)]);
        let call = tables.services.iter().next().copied();
        tables.services = call.map(|call| ServiceCall { server: None, ..call }).into_iter().collect();
        let calls = Calls::of(&tables);
        assert!(calls.endpoints.is_empty() && calls.lacks[0].starts_with("1 service calls"));
    }
}
