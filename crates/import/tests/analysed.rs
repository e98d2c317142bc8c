//! Compares the analysis of imported events with truth.json: callbacks and messages, to the ns.

mod fixture;

use fixture::{Fixture, ALL};
use serde_json::Value;
use std::collections::BTreeMap;
use tacho_analysis::{Analysis, Options};
use tacho_import::Reader;
use tacho_tables::{CallbackKind, Tables};

fn analysed(fixture: &Fixture) -> Tables {
    let mut reader = Reader::open(&[fixture.trace()]).expect("trace");
    let mut analysis =
        Analysis::new(Options { realtime_offset_ns: Some(reader.realtime_offset_ns()), ..Options::default() });
    let mut announced = 0;
    reader.for_each(
        |event, texts, processes| {
            processes[announced..].iter().for_each(|facts| analysis.add_process(facts));
            announced = processes.len();
            analysis.push(event, texts);
        },
        |_| {},
    );
    analysis.finish(None)
}

/// count, mean, min and max of durations in ns, as truth.json has them.
fn agrees(found: &[i64], expected: &Value, what: &str) {
    assert_eq!(found.len() as u64, expected["count"].as_u64().unwrap_or(0), "{what}: count");
    if let (Some(min), Some(max)) = (found.iter().min(), found.iter().max()) {
        assert_eq!((Some(*min), Some(*max)), (expected["min_ns"].as_i64(), expected["max_ns"].as_i64()), "{what}");
        let mean = found.iter().sum::<i64>() as f64 / found.len() as f64;
        assert!((mean - expected["mean_ns"].as_f64().expect(what)).abs() < 0.01, "{what}: mean {mean}");
    }
}

#[test]
fn callback_times_are_those_of_truth() {
    for name in ALL {
        let fixture = Fixture::unpack(name);
        let tables = analysed(&fixture);
        let mut found: BTreeMap<(u32, String), Vec<i64>> = BTreeMap::new();
        for execution in &tables.executions {
            let callback = &tables.callbacks[execution.callback];
            if callback.kind == CallbackKind::Client {
                continue; // responses have no callback_start, which truth counts
            }
            let pid = tables.processes[callback.process].pid;
            let durations = found.entry((pid, format!("{:#x}", callback.address))).or_default();
            durations.extend(execution.end_ns.get().map(|end| end - execution.start_ns));
        }
        let expected = fixture.truth["callbacks"].as_array().expect("callbacks");
        for callback in expected {
            let key = (callback["pid"].as_u64().unwrap() as u32, callback["callback"].as_str().unwrap().to_string());
            let durations = found.get(&key).map_or(&[][..], Vec::as_slice);
            agrees(durations, &callback["duration"], &format!("{name}: callback {key:?}"));
        }
        let executed = found.values().filter(|d| !d.is_empty()).count();
        assert_eq!(executed, expected.iter().filter(|c| c["duration"]["count"].as_u64() > Some(0)).count(), "{name}");
    }
}

/// Truth counts a message from rmw_publish, the tables from the outermost publish call. Both contain each message, and
/// the time from rmw_take to the start of its callback.
#[test]
fn messages_and_their_takes_are_those_of_truth() {
    let mut compared = 0;
    for name in ALL {
        let fixture = Fixture::unpack(name);
        let tables = analysed(&fixture);
        for topic in fixture.truth["topics"].as_array().expect("topics") {
            let (of, subscriber) = (topic["topic"].as_str().unwrap(), topic["subscriber"].as_str().unwrap_or_default());
            // The tables leave these out, because every node has them.
            if ["/parameter_events", "/rosout"].contains(&of) {
                continue;
            }
            let taken: Vec<_> = tables
                .messages
                .iter()
                .filter(|m| {
                    let endpoint = &tables.endpoints[m.subscription];
                    endpoint.topic == of && tables.nodes[endpoint.node].name == subscriber && m.take_ns.get().is_some()
                })
                .collect();
            let what = format!("{name}: {of} to {subscriber}");
            let published: Vec<i64> =
                taken.iter().filter_map(|m| Some(m.take_ns.get()? - m.publish_ns.get()?)).collect();
            assert_eq!(Some(published.len() as u64), topic["publish_to_take"]["count"].as_u64(), "{what}");
            assert!(published.iter().min() >= topic["publish_to_take"]["min_ns"].as_i64().as_ref(), "{what}");
            let started: Vec<i64> = taken
                .iter()
                .filter(|m| m.publish_ns.get().is_some())
                .filter_map(|m| Some(tables.executions[m.execution?].start_ns - m.take_ns.get()?))
                .collect();
            agrees(&started, &topic["take_to_callback_start"], &what);
            compared += 1;
        }
    }
    assert_eq!(compared, 78, "subscriptions");
}
