//! Writes the workload file that `tacho bench --topology` describes.

use crate::options::Generated;

/// The text of the workload file, which RUN/workload.yaml then holds.
pub fn workload(options: &Generated) -> String {
    let numbers = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect();
    let top = vec![("middleware", options.middleware.clone()), ("transport", options.transport.clone())];
    let topology = vec![
        ("kind", options.topology.clone()),
        ("nodes", numbers(&options.nodes)),
        ("type", options.r#type.clone()),
        ("size", options.size.clone()),
        ("rate", options.rate.clone()),
        ("deadline", options.deadline.clone()),
        ("reliability", options.reliability.clone()),
        ("durability", options.durability.clone()),
        ("history", options.history.clone()),
        ("depth", numbers(&options.depth)),
    ];
    tacho_workload::Generated { top, topology }.write()
}

/// Name of the generated workload, for the run directory.
pub fn name(options: &Generated) -> String {
    options.topology.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Options, Verb};
    use clap::Parser;

    fn generated(line: &str) -> String {
        match Options::try_parse_from(line.split(' ')).unwrap().verb {
            Verb::Bench(bench) => workload(&bench.generated),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_become_the_keys_of_a_file() {
        let text = generated(
            "tacho bench --middleware cyclonedds,inproc --topology one-to-many,pairs --nodes 1,31 --size 64KiB --rate \
             10Hz,0.1kHz",
        );
        assert_eq!(
            text,
            "middleware: [cyclonedds, inproc]\ntopology:\n  kind: [one-to-many, pairs]\n  nodes: [1, 31]\n\
             \x20 size: 64 KiB\n  rate: [10 Hz, 100 Hz]\n"
        );
        let (sweep, _) = tacho_workload::sweep(&text, "options", &Default::default()).unwrap();
        assert_eq!(sweep.points.len(), 16);
    }

    #[test]
    fn every_option_is_a_key_that_the_workload_has() {
        let text = generated(
            "tacho bench --transport udp --topology many-to-one --rate 1Hz --type Bytes --deadline 20ms --reliability \
             best_effort --durability transient_local --history keep_last --depth 1",
        );
        let (sweep, _) = tacho_workload::sweep(&text, "options", &Default::default()).unwrap();
        let publication = &sweep.points[0].workload.nodes[1].publishes[0];
        assert!(!publication.qos.reliable && publication.qos.transient_local && publication.qos.depth == 1);
        assert_eq!(publication.deadline, Some(std::time::Duration::from_millis(20)));
    }
}
