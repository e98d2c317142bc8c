//! Encodes the plan of a board: `struct node_plan` of micro/programs/node_plan.h, as bytes.

use crate::protocol::NodePlan;
use anyhow::{bail, Result};
use tacho_workload::model::{Executor, Qos};

const MAGIC: u32 = 0x314e_4d54;
const ROWS: usize = 14;
const TIMERS: usize = 8;
const NAME: usize = 64;
const TOPIC: usize = 120;
const NO_TIMER: u8 = 0xff;
/// Largest message: `MICRO_FRAGMENTS` fragments of `FRAGMENT` bytes each (micro/src/writer.c), less what precedes the
/// data.
const LARGEST: u64 = 256 * 1344 - 64;
const RELIABLE: u8 = 1;
const TRANSIENT_LOCAL: u8 = 2;

/// The rows of a board's table before those of the workload: its events, and the beacons that it receives.
pub const OWN_ROWS: usize = 2;
pub const CLOCK_ROW: u8 = 1;

/// An endpoint of the node, in the order of the board's table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub topic: String,
    pub reads: bool,
    pub expected: usize,
    pub size_bytes: u64,
    pub publisher_id: u32,
    pub depth: u32,
    pub timer: Option<usize>,
}

/// The encoded plan, with the meaning of its rows and timers.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub bytes: Vec<u8>,
    pub rows: Vec<Row>,
    /// Frequency of each timer, activations a second.
    pub timers: Vec<f64>,
}

/// Encodes the plan of one node; refuses what tacho-micro cannot do.
pub fn told(plan: &NodePlan, at_once: bool) -> Result<Told> {
    let node = &plan.node;
    let mut timers: Vec<f64> = Vec::new();
    let own_timer = match node.executor {
        Executor::Arrival => None,
        Executor::Timer { hz } => {
            timers.push(hz);
            Some(0)
        }
        Executor::Spin { .. } => bail!("node {} spins; on a board expected `on: arrival` or `on: timer`", node.name),
    };
    let mut rows = Vec::new();
    for (subscription, input) in node.subscribes.iter().zip(&plan.inputs) {
        rows.push((
            subscription.qos,
            !subscription.latest && own_timer.is_none(),
            Row {
                topic: subscription.topic.clone(),
                reads: true,
                expected: input.publishers,
                size_bytes: input.size_bytes,
                publisher_id: 0,
                depth: subscription.qos.depth,
                timer: None,
            },
        ));
    }
    for (publication, output) in node.publishes.iter().zip(&plan.outputs) {
        let timer = match publication.rate_hz {
            Some(hz) => {
                timers.push(hz);
                Some(timers.len() - 1)
            }
            None => own_timer,
        };
        rows.push((
            publication.qos,
            false,
            Row {
                topic: publication.topic.clone(),
                reads: false,
                expected: output.subscribers,
                size_bytes: publication.size_bytes,
                publisher_id: output.publisher_id,
                depth: publication.qos.depth,
                timer,
            },
        ));
    }
    if rows.len() > ROWS || timers.len() > TIMERS {
        bail!(
            "node {}: {} endpoints and {} timers on a board; expected at most {ROWS} and {TIMERS}",
            node.name,
            rows.len(),
            timers.len()
        );
    }
    if node.name.len() >= NAME {
        bail!("node {}: a name of {} bytes on a board; expected less than {NAME}", node.name, node.name.len());
    }

    let mut bytes = Vec::new();
    let put = |bytes: &mut Vec<u8>, words: &[u32]| words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    put(&mut bytes, &[MAGIC, 0]);
    put_text(&mut bytes, &node.name, NAME);
    put(&mut bytes, &[rows.len() as u32, timers.len() as u32, at_once.into(), 0]);
    for index in 0..TIMERS {
        let hz = timers.get(index).copied().unwrap_or(0.0);
        let phase_ns = if hz > 0.0 { (plan.phase * 1e9 / hz).round() as u64 } else { 0 };
        bytes.extend(((hz * 1e3).round() as u64).to_le_bytes());
        bytes.extend(phase_ns.to_le_bytes());
    }
    for (qos, triggers, row) in &rows {
        refuse(qos, row)?;
        put_text(&mut bytes, &format!("rt{}", row.topic), TOPIC);
        let flags = (u8::from(qos.reliable) * RELIABLE) | (u8::from(qos.transient_local) * TRANSIENT_LOCAL);
        bytes.extend([row.reads.into(), flags, row.timer.map_or(NO_TIMER, |timer| timer as u8), u8::from(*triggers)]);
        bytes.extend((row.depth.min(u32::from(u16::MAX)) as u16).to_le_bytes());
        bytes.extend((row.expected as u16).to_le_bytes());
        put(&mut bytes, &[row.size_bytes as u32, row.publisher_id]);
    }
    bytes.resize(bytes.len() + (ROWS - rows.len()) * (TOPIC + 16), 0);
    let size = (bytes.len() as u32).to_le_bytes();
    bytes[4..8].copy_from_slice(&size);
    Ok(Told { bytes, rows: rows.into_iter().map(|(.., row)| row).collect(), timers })
}

fn refuse(qos: &Qos, row: &Row) -> Result<()> {
    let topic = &row.topic;
    if topic.len() + 2 >= TOPIC {
        bail!("topic {topic}: {} bytes on a board; expected less than {}", topic.len(), TOPIC - 2);
    }
    if qos.keep_all {
        bail!("history keep_all on {topic}: memory of a board is set aside beforehand; expected keep_last");
    }
    if qos.transient_local && !qos.reliable {
        bail!("transient local and best effort on {topic}; expected transient local with reliable alone");
    }
    if row.size_bytes > LARGEST {
        bail!("{} bytes on {topic}: a board takes messages of up to {LARGEST}", row.size_bytes);
    }
    Ok(())
}

fn put_text(bytes: &mut Vec<u8>, text: &str, size: usize) {
    let end = bytes.len() + size;
    bytes.extend(text.bytes());
    bytes.resize(end, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Input, Output};
    use tacho_workload::model::{Node, Publication, Subscription};

    fn plan() -> NodePlan {
        let subscription =
            Subscription { topic: "/in".into(), qos: Qos::default(), latest: false, ..Default::default() };
        let publication = |topic: &str, rate_hz| Publication {
            topic: topic.into(),
            size_bytes: 64,
            rate_hz,
            ..Publication::default()
        };
        NodePlan {
            node: Node {
                name: "board".into(),
                subscribes: vec![subscription],
                publishes: vec![publication("/answer", None), publication("/beat", Some(12.5))],
                ..Node::default()
            },
            phase: 0.25,
            seed: 0,
            cpus: vec![],
            scheduling: None,
            inputs: vec![Input { publishers: 2, size_bytes: 100, message_type: String::new() }],
            outputs: vec![Output { publisher_id: 7, subscribers: 1 }, Output { publisher_id: 8, subscribers: 3 }],
            task_library: None,
        }
    }

    /// The structures of the header with the C compiler's offsets, calculated by hand. Their order needs no padding.
    #[test]
    fn the_bytes_stand_where_the_board_reads_them() {
        let told = told(&plan(), false).unwrap();
        let header = include_str!("../../../../micro/programs/node_plan.h");
        for (name, value) in [("NODE_ROWS", ROWS), ("NODE_TIMERS", TIMERS)] {
            let define = header.lines().find(|line| line.starts_with(&format!("#define {name} "))).unwrap();
            assert!(define.contains(&format!(" {value}u")), "{define}");
        }
        assert!(header.contains(&format!("char topic[{TOPIC}]")) && header.contains(&format!("char name[{NAME}]")));
        let bytes = &told.bytes;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (timers, rows) = (8 + NAME + 16, 8 + NAME + 16 + 16 * TIMERS);
        assert_eq!(bytes.len(), rows + ROWS * (TOPIC + 16));
        assert_eq!((word(0), word(4), word(72), word(76), word(80)), (MAGIC, bytes.len() as u32, 3, 1, 0));
        assert_eq!(&bytes[8..14], b"board\0");
        assert_eq!((word(timers), word(timers + 8)), (12_500, 20_000_000));
        let beat = rows + 2 * (TOPIC + 16);
        assert_eq!(&bytes[beat..beat + 8], b"rt/beat\0");
        assert_eq!(&bytes[beat + TOPIC..beat + TOPIC + 8], &[0, RELIABLE, 0, 0, 10, 0, 3, 0]);
        assert_eq!((word(beat + TOPIC + 8), word(beat + TOPIC + 12)), (64, 8));
        assert_eq!(&bytes[rows + TOPIC..rows + TOPIC + 4], &[1, RELIABLE, NO_TIMER, 1]);
        assert_eq!(bytes[rows + TOPIC + 16 + TOPIC + 2], NO_TIMER, "an answer has no timer");
    }

    #[test]
    fn what_a_board_cannot_do_is_refused() {
        let refused = |change: fn(&mut NodePlan)| {
            let mut changed = plan();
            change(&mut changed);
            told(&changed, false).unwrap_err().to_string()
        };
        assert!(refused(|p| p.node.executor = Executor::Spin { hz: 1.0 }).contains("spins"));
        assert!(refused(|p| p.node.publishes[0].qos.keep_all = true).contains("keep_last"));
        assert!(refused(|p| p.node.publishes[0].size_bytes = 1 << 20).contains("1048576 bytes"));
        let many = |p: &mut NodePlan| {
            p.node.subscribes = vec![p.node.subscribes[0].clone(); 13];
            p.inputs = vec![p.inputs[0].clone(); 13];
        };
        assert!(refused(many).contains("15 endpoints"));
    }
}
