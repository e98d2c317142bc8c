//! Compiles declarations into what decoding needs: the place of each wanted field in every event class.
//!
//! If all fields of an event begin and end at whole bytes, it becomes a [`Plan`]: segments of fixed length, each with a
//! list of loads, with a string between two segments. All events that LTTng writes on x86-64 for ROS 2 are of this
//! form. Any other layout is walked field by field.

use crate::kinds::Kind;
use crate::tsdl::{self, ByteOrder, Description, Enumeration, Type};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

mod plan;
mod scope;
mod sinks;
mod usual;

pub(crate) use plan::{Field as HeaderField, Header, Load, Plan};
use scope::Compiler;
use sinks::{event_context_sink, event_header_sink, packet_context_sink, packet_header_sink};
use sinks::{payload_place, payload_sink};
pub(crate) use usual::{Place, Usual, SEEN};

/// Indices of the words that were read: the payload's first, then the ones below.
pub(crate) mod word {
    /// When the entity that CARET reports was created, which may be long before; no payload with this word fills all
    /// the others. 0 if it is not in the event.
    pub const SINCE: u8 = 7;
    pub const PID: u8 = 8;
    pub const TID: u8 = 9;
    pub const PID_NAMESPACE: u8 = 10;
    pub const EVENT_ID: u8 = 11;
    pub const TIME: u8 = 12;
    /// How many bits of the time the tracer writes.
    pub const TIME_BITS: u8 = 13;
    pub const MAGIC: u8 = 14;
    pub const STREAM_ID: u8 = 15;
    pub const INSTANCE: u8 = 16;
    pub const BEGIN: u8 = 17;
    pub const END: u8 = 18;
    pub const CONTENT_BITS: u8 = 19;
    pub const PACKET_BITS: u8 = 20;
    pub const SEQUENCE: u8 = 21;
    pub const DISCARDED: u8 = 22;
    pub const DISCARDED_BITS: u8 = 23;
    pub const CPU: u8 = 24;
    /// Number of words, rounded up to a power of two.
    pub const ROOM: usize = 32;
}

/// Spans of bytes that were read: the payload's texts, then these.
pub(crate) mod span {
    pub const PROCESS_NAME: u8 = 2;
    pub const UUID: u8 = 3;
    pub const COUNT: usize = 4;
}

/// The destination of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sink {
    Nowhere,
    Word(u8),
    /// First 16 bytes, as two words.
    Gid(u8),
    Span(u8),
}

/// A type compiled for walking.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Integer(Bits),
    Text {
        sink: Sink,
    },
    Structure {
        align: u32,
        members: Vec<Node>,
    },
    /// `choices`: first and last value of the tag, index into `options`.
    Variant {
        tag: u32,
        choices: Vec<(i128, i128, usize)>,
        options: Vec<Node>,
    },
    Array {
        align: u32,
        of: Box<Node>,
        length: Length,
        sink: Sink,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Fixed(u64),
    /// The length is in a slot that was read before.
    Slot(u32),
}

/// An integer, enumeration or float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bits {
    pub bits: u32,
    pub align: u32,
    pub signed: bool,
    pub big: bool,
    /// Slot that keeps its value for tags and lengths.
    pub slot: u32,
    pub sink: Sink,
}

/// A trace compiled for decoding.
#[derive(Debug, Default)]
pub(crate) struct TraceLayout {
    pub big: bool,
    pub uuid: Option<[u8; 16]>,
    pub packet_header: Option<Node>,
    pub streams: Vec<StreamLayout>,
    /// Least number of slots that walking needs.
    pub slots: usize,
}

/// A stream compiled for decoding.
#[derive(Debug)]
pub(crate) struct StreamLayout {
    pub id: u64,
    pub packet_context: Option<Node>,
    pub event_header: Header,
    /// Alignment of each event, in bits.
    pub event_align: u32,
    /// Index into [`Description::clocks`] of the clock that its times refer to.
    pub clock: usize,
    classes: Vec<Option<EventClass>>,
    /// Events of the usual form, in addition to `classes`.
    usual: Vec<Option<Usual>>,
    rare: HashMap<u64, EventClass>,
}

/// An event class compiled for decoding.
#[derive(Debug)]
pub(crate) struct EventClass {
    /// Its kind; `None` if reading skips it.
    pub kind: Option<&'static Kind>,
    pub body: Body,
    /// Number of texts of its payload.
    pub texts: usize,
    /// Number of words of its payload.
    pub words: usize,
    /// Whether it announces an entity that exists, and whether CARET wrote it.
    pub initialises: bool,
    pub by_caret: bool,
    /// Properties of its kind, if it has one, stored here because reading asks for them at each event.
    pub of_kernel: bool,
    pub of_pairs: bool,
    /// Contexts that its events carry.
    pub has: Contexts,
    /// Index among all classes of all traces, for counting.
    pub number: usize,
}

/// An event class of some trace, for counting.
#[derive(Debug)]
pub(crate) struct ClassName {
    /// Its name, with its provider.
    pub name: Arc<str>,
    /// Whether it is an event of ROS whose name or layout is unknown.
    pub unknown: bool,
}

/// Process and thread of an event, as far as the event contains them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contexts {
    pub pid: bool,
    pub tid: bool,
    pub namespace: bool,
    pub name: bool,
}

impl Contexts {
    fn of(nodes: &[Node]) -> Contexts {
        let says = |sink| nodes.iter().any(|node| node.fills(sink));
        Contexts {
            pid: says(Sink::Word(word::PID)),
            tid: says(Sink::Word(word::TID)),
            namespace: says(Sink::Word(word::PID_NAMESPACE)),
            name: says(Sink::Span(span::PROCESS_NAME)),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Body {
    Plan(Plan),
    /// Contexts and fields, walked one after the other.
    Walk(Vec<Node>),
}

/// A declaration that cannot be used, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub name: &'static str,
    pub text: String,
}

/// Classes below this number are found by index.
const CLASSES_BY_INDEX: u64 = 4096;

impl StreamLayout {
    /// Whether any of its events is understood and belongs to a process.
    pub fn is_of_processes(&self) -> bool {
        self.classes().any(|class| class.kind.is_some_and(|kind| !kind.of_kernel()))
    }

    /// Whether it holds events of processes without their thread, or without their process if the trace is not
    /// `of_one`.
    pub fn lacks_contexts(&self, of_one: bool) -> bool {
        let own = |class: &&EventClass| class.kind.is_some() && !class.of_kernel;
        self.classes().filter(own).any(|class| !(class.has.tid && (class.has.pid || of_one)))
    }

    /// Whether it holds events of the kernel.
    pub fn is_of_kernel(&self) -> bool {
        self.classes().any(|class| class.of_kernel)
    }

    /// Whether CARET repeats events in it.
    pub fn has_caret(&self) -> bool {
        self.classes().any(|class| class.by_caret)
    }

    fn classes(&self) -> impl Iterator<Item = &EventClass> {
        self.classes.iter().flatten().chain(self.rare.values())
    }

    #[inline(always)]
    pub fn class(&self, id: u64) -> Option<&EventClass> {
        match self.classes.get(id as usize) {
            Some(class) => class.as_ref(),
            None => self.rare.get(&id),
        }
    }

    /// How to read an event with a short header, if it is of the usual form.
    #[inline(always)]
    pub fn usual(&self, id: u64) -> Option<&Usual> {
        self.usual.get(id as usize)?.as_ref()
    }
}

impl TraceLayout {
    /// Compiles a description and appends the name of each event class to `names`.
    pub fn new(description: &Description, names: &mut Vec<ClassName>) -> (TraceLayout, Vec<Fault>) {
        let mut faults = Vec::new();
        let big = description.order == ByteOrder::Big;
        let mut layout = TraceLayout { big, uuid: description.uuid, ..TraceLayout::default() };
        let mut of_trace = Compiler::new(big);
        layout.packet_header = described(description.packet_header.as_ref(), &mut faults, "packet.header", |of| {
            of_trace.scope("trace.packet.header", of, &packet_header_sink)
        });
        for stream in &description.streams {
            let mut compiler = of_trace.clone();
            let place = format!("stream {}", stream.id);
            let packet_clock = Cell::new(None);
            let packet_context = described(stream.packet_context.as_ref(), &mut faults, &place, |of| {
                let sinks = |name: &str, of: &Type, depth| packet_context_sink(name, of, depth, &packet_clock);
                compiler.scope("stream.packet.context", of, &sinks)
            });
            let mapped = Cell::new(None);
            let header = described(stream.event_header.as_ref(), &mut faults, &place, |of| {
                let sinks = |name: &str, of: &Type, depth| event_header_sink(name, of, depth, &mapped);
                compiler.scope("stream.event.header", of, &sinks)
            });
            let clock = mapped.get().or(packet_clock.get());
            let has_id = header.as_ref().is_some_and(|node| node.may_fill(Sink::Word(word::EVENT_ID)));
            let context = described(stream.event_context.as_ref(), &mut faults, &place, |of| {
                compiler.scope("stream.event.context", of, &event_context_sink)
            });
            let mut of_stream = StreamLayout {
                id: stream.id,
                packet_context,
                event_align: header.as_ref().map_or(1, Node::align),
                event_header: Header::new(header),
                clock: description.clock(clock),
                classes: Vec::new(),
                usual: Vec::new(),
                rare: HashMap::new(),
            };
            layout.slots = layout.slots.max(compiler.slots());
            let events = || description.events.iter().filter(|event| description.carries(stream, event));
            for event in events() {
                // A header without a number belongs to the only class of the stream.
                let id = if has_id || events().count() > 1 { event.id } else { 0 };
                let mut compiler = compiler.clone();
                let known = Kind::named(&event.name);
                let kind = known.filter(|_| !superseded(description, &event.name));
                let mut unknown = known.is_none() && event.name.starts_with("ros2:");
                let mut nodes: Vec<Node> = context.iter().cloned().collect();
                let compiled = (|| -> Result<(), String> {
                    if let Some(of) = &event.context {
                        nodes.push(compiler.scope("event.context", of, &event_context_sink)?);
                    }
                    if let Some(of) = &event.fields {
                        nodes.push(
                            compiler
                                .scope("event.fields", of, &|name, of, depth| payload_sink(kind, name, of, depth))?,
                        );
                    }
                    Ok(())
                })();
                if let Err(why) = compiled {
                    faults.push(Fault { name: "event-not-understood", text: format!("{}: {why}", event.name) });
                    continue;
                }
                layout.slots = layout.slots.max(compiler.slots());
                let kind = kind.filter(|kind| match missing(kind, &nodes) {
                    None => true,
                    Some(field) => {
                        let text =
                            format!("{}: no field {field} of the type expected; its events are skipped", event.name);
                        faults.push(Fault { name: "event-lacks-field", text });
                        unknown = !kind.of_kernel();
                        false
                    }
                });
                let has = Contexts::of(&nodes);
                let never_since = kind.is_some_and(Kind::repeated_by_caret)
                    && !nodes.iter().any(|node| node.fills(Sink::Word(word::SINCE)));
                let absent: Vec<u8> = kind
                    .into_iter()
                    .flat_map(Kind::places)
                    .filter(|(field, place)| !nodes.iter().any(|node| node.fills(payload_place(field.shape, *place))))
                    .map(|(_, place)| place)
                    .chain(never_since.then_some(word::SINCE))
                    .collect();
                // After bits, it begins at the next byte if it must begin at a byte.
                let begins_at_byte = nodes.first().is_none_or(|first| first.align() == 8);
                let is_of_bytes = of_stream.event_header.is_of_bytes() || begins_at_byte;
                let plan = Plan::new(&nodes, &absent).filter(|_| is_of_bytes);
                let body = plan.map_or_else(|| Body::Walk(nodes), Body::Plan);
                names.push(ClassName { name: Arc::from(event.name.as_str()), unknown });
                let class = EventClass {
                    kind,
                    body,
                    texts: kind.map_or(0, Kind::texts),
                    words: kind.map_or(0, Kind::words),
                    initialises: kind.is_some_and(Kind::repeated_by_caret),
                    by_caret: event.name.starts_with("ros2_caret:"),
                    of_kernel: kind.is_some_and(Kind::of_kernel),
                    of_pairs: kind.is_some_and(Kind::of_pairs),
                    has,
                    number: names.len() - 1,
                };
                of_stream.add(id, class);
            }
            layout.streams.push(of_stream);
        }
        (layout, faults)
    }
}

impl StreamLayout {
    fn add(&mut self, id: u64, class: EventClass) {
        if id < CLASSES_BY_INDEX {
            let index = id as usize;
            if self.classes.len() <= index {
                self.classes.resize_with(index + 1, || None);
                self.usual.resize(index + 1, None);
            }
            self.usual[index] = match (&class.body, class.kind) {
                (Body::Plan(plan), Some(kind)) if class.has.tid => Usual::new(id, kind, &self.event_header, plan),
                _ => None,
            };
            self.classes[index] = Some(class);
        } else {
            self.rare.insert(id, class);
        }
    }
}

/// Whether another event of the trace contains the same and more.
fn superseded(description: &Description, name: &str) -> bool {
    const BOUND: &str = "ros2_caret:dds_bind_addr_to_stamp";
    const WRITTEN: &str = "ros2_caret:dds_write";
    const PUBLISHED: &str = "ros2:rmw_publish";
    let described = |other: &str| description.events.iter().find(|event| event.name == other);
    let is_stamp = |field: &tsdl::Field| field.name.trim_start_matches('_') == "timestamp";
    let has_stamp = |of: &Type| matches!(of, Type::Structure(of) if of.fields.iter().any(is_stamp));
    let stamped = |name: &str| described(name).and_then(|event| event.fields.as_ref()).is_some_and(has_stamp);
    match name {
        // sched_waking contains the waking thread; sched_wakeup may come from the CPU of the thread that is woken.
        "sched_wakeup" => described("sched_waking").is_some(),
        PUBLISHED => described(BOUND).is_some() && !stamped(PUBLISHED),
        // CARET suppresses rmw_publish and fires this in its place, from Jazzy on with all of its fields.
        WRITTEN => !stamped(WRITTEN),
        BOUND => stamped(PUBLISHED) || stamped(WRITTEN),
        _ => false,
    }
}

/// Compiles one scope, if it is declared; a scope that cannot be compiled is a fault.
fn described(
    of: Option<&Type>,
    faults: &mut Vec<Fault>,
    place: &str,
    compile: impl FnOnce(&Type) -> Result<Node, String>,
) -> Option<Node> {
    match compile(of?) {
        Ok(node) => Some(node),
        Err(why) => {
            faults.push(Fault { name: "layout-not-understood", text: format!("{place}: {why}") });
            None
        }
    }
}

/// Finds the first required field of a kind that its event does not have.
fn missing(kind: &'static Kind, nodes: &[Node]) -> Option<&'static str> {
    let absent = |field: &crate::kinds::Field, place| {
        let sink = payload_place(field.shape, place);
        field.required && !nodes.iter().any(|node| node.fills(sink))
    };
    kind.places().find(|(field, place)| absent(field, *place)).map(|(field, _)| field.name)
}

impl Node {
    /// Whether walking it always fills `sink`.
    fn fills(&self, sink: Sink) -> bool {
        match self {
            Node::Integer(bits) => bits.sink == sink,
            Node::Text { sink: own } | Node::Array { sink: own, .. } => *own == sink,
            Node::Structure { members, .. } => members.iter().any(|m| m.fills(sink)),
            Node::Variant { .. } => false,
        }
    }

    /// Whether walking it may fill `sink`.
    fn may_fill(&self, sink: Sink) -> bool {
        match self {
            Node::Structure { members, .. } => members.iter().any(|member| member.may_fill(sink)),
            Node::Variant { options, .. } => options.iter().any(|option| option.may_fill(sink)),
            _ => self.fills(sink),
        }
    }

    /// Alignment in bits.
    pub fn align(&self) -> u32 {
        match self {
            Node::Integer(bits) => bits.align,
            Node::Text { .. } => 8,
            Node::Structure { align, .. } | Node::Array { align, .. } => *align,
            Node::Variant { .. } => 1,
        }
    }
}

/// Finds the names of an enumeration that selects a variant's options.
fn choices(of: &Enumeration, options: &[Arc<str>]) -> Vec<(i128, i128, usize)> {
    let strip = |name: &str| name.strip_prefix('_').unwrap_or(name).to_string();
    let index = |label: &str| {
        options.iter().position(|o| **o == *label).or_else(|| options.iter().position(|o| strip(o) == strip(label)))
    };
    of.ranges.iter().filter_map(|(label, first, last)| Some((*first, *last, index(label)?))).collect()
}
