//! Reconstructs what a process made before we attached: init events that nobody saw, derived from what the process does
//! and has in memory.
//!
//! A publisher or subscription is found at its first use. Its topic is read from `rmw_publisher_t` and
//! `rmw_subscription_t`, whose first members (implementation identifier, data, topic name) are public and the same from
//! Humble to Rolling. The order of events on the thread shows which rcl handle belongs to it, and which callback
//! answers it. If a process has several nodes, it stays unknown which one owns it: one node stands for all, and the run
//! reports this.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Kinds of `events.h` that are understood or written here.
mod kind {
    pub const RCL_NODE_INIT: u16 = 17;
    pub const RCL_PUBLISHER_INIT: u16 = 19;
    pub const RCL_PUBLISH: u16 = 22;
    pub const RMW_PUBLISH: u16 = 23;
    pub const RCL_SUBSCRIPTION_INIT: u16 = 25;
    pub const RCLCPP_SUBSCRIPTION_INIT: u16 = 26;
    pub const RCLCPP_SUBSCRIPTION_CALLBACK_ADDED: u16 = 27;
    pub const RMW_TAKE: u16 = 28;
    pub const RCLCPP_SERVICE_CALLBACK_ADDED: u16 = 32;
    pub const RMW_TAKE_REQUEST: u16 = 33;
    pub const RCLCPP_TIMER_CALLBACK_ADDED: u16 = 40;
    pub const CALLBACK_START: u16 = 43;
    pub const RCLCPP_EXECUTOR_WAIT_FOR_WORK: u16 = 48;
    pub const RCLCPP_EXECUTOR_EXECUTE: u16 = 49;
}

/// The handle of the node that stands for all earlier nodes of a process. No address of a process has this value.
const NODE: u64 = 1;

/// An event to be written before the one that revealed it.
pub(super) type Told = (u16, Vec<u64>, Vec<String>);

/// Memory of another process.
pub(super) trait Memory {
    /// Fills `bytes` from an address; whether it could.
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool;
}

/// `/proc/PID/mem`.
impl Memory for File {
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.read_exact_at(bytes, address).is_ok()
    }
}

/// What is known about one process.
pub(super) struct Earlier<M> {
    memory: M,
    node_name: String,
    has_node: bool,
    /// Handles whose init event was seen or reconstructed.
    publishers: HashSet<u64>,
    subscriptions: HashSet<u64>,
    callbacks: HashSet<u64>,
    threads: HashMap<u32, Thread>,
    /// The numbers of publishers and subscriptions that were reconstructed, and of those whose topic could not be read.
    pub told: u64,
    pub unreadable: u64,
}

/// The last actions of one thread.
#[derive(Default, Clone, Copy)]
struct Thread {
    publishing: Option<(u64, u64)>,
    executing: Option<u64>,
    took: Option<Took>,
}

#[derive(Clone, Copy)]
enum Took {
    Message { subscription: u64 },
    Request,
}

impl<M: Memory> Earlier<M> {
    /// Starts with nothing known. `node_name` names the one node that stands for all.
    pub fn new(memory: M, node_name: String) -> Self {
        Earlier {
            memory,
            node_name,
            has_node: false,
            publishers: HashSet::new(),
            subscriptions: HashSet::new(),
            callbacks: HashSet::new(),
            threads: HashMap::new(),
            told: 0,
            unreadable: 0,
        }
    }

    /// Returns the events that must have happened before this one and were not seen, in order.
    pub fn before(&mut self, tid: u32, event: u16, words: &[u64]) -> Vec<Told> {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let mut thread = self.threads.get(&tid).copied().unwrap_or_default();
        let mut told = Vec::new();
        match event {
            kind::RCL_PUBLISHER_INIT => drop(self.publishers.insert(word(2))),
            kind::RCL_SUBSCRIPTION_INIT => drop(self.subscriptions.insert(word(2))),
            kind::RCLCPP_SUBSCRIPTION_CALLBACK_ADDED
            | kind::RCLCPP_TIMER_CALLBACK_ADDED
            | kind::RCLCPP_SERVICE_CALLBACK_ADDED => {
                self.callbacks.insert(word(1));
            }
            kind::RCL_PUBLISH => thread.publishing = Some((word(0), word(1))),
            kind::RMW_PUBLISH => {
                // Below rcl_publish with the same message; what publishes without it is the middleware's own.
                if let Some((publisher, _)) = thread.publishing.take().filter(|(_, message)| *message == word(1)) {
                    if word(0) != 0 && self.publishers.insert(word(0)) {
                        self.endpoint(kind::RCL_PUBLISHER_INIT, publisher, word(0), &mut told);
                    }
                }
            }
            kind::RCLCPP_EXECUTOR_WAIT_FOR_WORK => thread = Thread::default(),
            kind::RCLCPP_EXECUTOR_EXECUTE => thread = Thread { executing: Some(word(0)), ..Thread::default() },
            kind::RMW_TAKE if word(3) != 0 => {
                // rclpy has no execute event, so the rmw handle also stands for the rcl handle.
                let subscription = thread.executing.unwrap_or(word(0));
                if self.subscriptions.insert(word(0)) {
                    self.endpoint(kind::RCL_SUBSCRIPTION_INIT, subscription, word(0), &mut told);
                }
                thread.took = Some(Took::Message { subscription });
            }
            kind::RMW_TAKE_REQUEST => thread.took = Some(Took::Request),
            kind::CALLBACK_START if self.callbacks.insert(word(0)) => match (thread.took, thread.executing) {
                (Some(Took::Message { subscription }), _) => {
                    // rclcpp's object is not known; the handle may stand for it, as its own kind of handle.
                    told.push((kind::RCLCPP_SUBSCRIPTION_INIT, vec![subscription, subscription], Vec::new()));
                    told.push((kind::RCLCPP_SUBSCRIPTION_CALLBACK_ADDED, vec![subscription, word(0)], Vec::new()));
                }
                // If the executor executes something without a take, it is a timer; services have no execute event.
                (None, Some(timer)) => told.push((kind::RCLCPP_TIMER_CALLBACK_ADDED, vec![timer, word(0)], Vec::new())),
                (Some(Took::Request), _) | (None, None) => {}
            },
            _ => {}
        }
        self.threads.insert(tid, thread);
        told
    }

    fn endpoint(&mut self, event: u16, handle: u64, rmw_handle: u64, told: &mut Vec<Told>) {
        let Some(topic) = self.topic(rmw_handle) else {
            self.unreadable += 1;
            return;
        };
        if !self.has_node {
            self.has_node = true;
            told.push((kind::RCL_NODE_INIT, vec![NODE, 0], vec![self.node_name.clone(), "/".into()]));
        }
        self.told += 1;
        told.push((event, vec![handle, NODE, rmw_handle, 0], vec![topic]));
    }

    /// `rmw_publisher_t`, `rmw_subscription_t`: const char * implementation_identifier; void * data; const char *
    /// topic_name.
    fn topic(&self, rmw_handle: u64) -> Option<String> {
        let mut members = [0; 24];
        if !self.memory.read(rmw_handle, &mut members) {
            return None;
        }
        let pointer = |index: usize| u64::from_le_bytes(std::array::from_fn(|byte| members[8 * index + byte]));
        let identifier = self.text(pointer(0))?;
        let topic = self.text(pointer(2))?;
        (identifier.starts_with("rmw_") && !topic.is_empty()).then_some(topic)
    }

    /// Reads a printable text of at most 255 bytes.
    fn text(&self, address: u64) -> Option<String> {
        let mut bytes = Vec::new();
        while bytes.len() < 256 {
            let mut byte = [0];
            if !self.memory.read(address.checked_add(bytes.len() as u64)?, &mut byte) {
                return None;
            }
            match byte[0] {
                0 => return String::from_utf8(bytes).ok(),
                byte if byte.is_ascii_graphic() => bytes.push(byte),
                _ => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of memory.
    struct Pieces(Vec<(u64, Vec<u8>)>);

    impl Memory for Pieces {
        fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
            self.0.iter().any(|(start, piece)| {
                let found =
                    address.checked_sub(*start).and_then(|at| piece.get(at as usize..at as usize + bytes.len()));
                found.map(|found| bytes.copy_from_slice(found)).is_some()
            })
        }
    }

    fn process() -> Earlier<Pieces> {
        let handle = |topic: u64| [100u64, 7, topic].iter().flat_map(|word| word.to_le_bytes()).collect();
        Earlier::new(
            Pieces(vec![
                (100, b"rmw_fastrtps_cpp\0".to_vec()),
                (200, b"/points\0".to_vec()),
                (300, b"/pose\0".to_vec()),
                (1000, handle(200)),
                (2000, handle(300)),
                (3000, handle(7)),
            ]),
            "talker".into(),
        )
    }

    fn texts(told: &[Told]) -> Vec<(u16, &[u64], Vec<&str>)> {
        told.iter()
            .map(|(kind, words, texts)| (*kind, words.as_slice(), texts.iter().map(String::as_str).collect()))
            .collect()
    }

    #[test]
    fn a_publisher_is_told_at_its_first_publish_and_once() {
        let mut process = process();
        assert!(process.before(1, kind::RCL_PUBLISH, &[50, 9]).is_empty());
        let told = process.before(1, kind::RMW_PUBLISH, &[1000, 9, 5]);
        assert_eq!(
            texts(&told),
            [
                (kind::RCL_NODE_INIT, &[NODE, 0][..], vec!["talker", "/"]),
                (kind::RCL_PUBLISHER_INIT, &[50, NODE, 1000, 0][..], vec!["/points"])
            ]
        );
        process.before(1, kind::RCL_PUBLISH, &[50, 9]);
        assert!(process.before(1, kind::RMW_PUBLISH, &[1000, 9, 6]).is_empty());
        assert_eq!((process.told, process.unreadable), (1, 0));
    }

    #[test]
    fn what_publishes_below_rcl_and_what_was_seen_to_begin_is_not_told() {
        let mut process = process();
        assert!(process.before(1, kind::RMW_PUBLISH, &[1000, 9, 5]).is_empty());
        process.before(1, kind::RCL_PUBLISHER_INIT, &[50, 4, 2000, 10]);
        process.before(1, kind::RCL_PUBLISH, &[50, 9]);
        assert!(process.before(1, kind::RMW_PUBLISH, &[2000, 9, 5]).is_empty());
    }

    #[test]
    fn a_subscription_and_its_callback_are_told_in_the_order_in_which_they_link() {
        let mut process = process();
        process.before(1, kind::RCLCPP_EXECUTOR_EXECUTE, &[60]);
        let told = process.before(1, kind::RMW_TAKE, &[2000, 9, 5, 1]);
        assert_eq!(texts(&told)[1], (kind::RCL_SUBSCRIPTION_INIT, &[60, NODE, 2000, 0][..], vec!["/pose"]));
        let told = process.before(1, kind::CALLBACK_START, &[70, 0]);
        let kinds: Vec<u16> = told.iter().map(|told| told.0).collect();
        assert_eq!(kinds, [kind::RCLCPP_SUBSCRIPTION_INIT, kind::RCLCPP_SUBSCRIPTION_CALLBACK_ADDED]);
    }

    #[test]
    fn what_is_executed_without_a_take_is_a_timer_and_a_request_is_neither() {
        let mut process = process();
        process.before(1, kind::RCLCPP_EXECUTOR_EXECUTE, &[80]);
        let told = process.before(1, kind::CALLBACK_START, &[81, 0]);
        assert_eq!(texts(&told), [(kind::RCLCPP_TIMER_CALLBACK_ADDED, &[80, 81][..], vec![])]);
        process.before(1, kind::RCLCPP_EXECUTOR_WAIT_FOR_WORK, &[0]);
        process.before(1, kind::RMW_TAKE_REQUEST, &[1, 2, 3, 4, 5, 1]);
        assert!(process.before(1, kind::CALLBACK_START, &[82, 0]).is_empty());
    }

    #[test]
    fn memory_that_holds_no_topic_is_counted_not_guessed() {
        let mut process = process();
        process.before(1, kind::RCLCPP_EXECUTOR_EXECUTE, &[60]);
        assert!(process.before(1, kind::RMW_TAKE, &[3000, 9, 5, 1]).is_empty());
        assert!(process.before(1, kind::RMW_TAKE, &[9999, 9, 5, 1]).is_empty());
        assert_eq!((process.told, process.unreadable), (0, 2));
    }
}
