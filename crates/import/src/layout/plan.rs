//! Fields at known bytes: headers and events that need no walking.

use super::{span, word, Bits, Length, Node, Sink};

/// Bytes of an event up to a string or the end; more are walked.
const SEGMENT_MAX: u64 = 1 << 24;

/// How an event is read whose fields stand at whole bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub segments: Box<[Segment]>,
    /// Offset and length of the process's name, in the first segment.
    pub process_name: Option<(usize, usize)>,
}

/// Fields at fixed offsets, then perhaps a string.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Segment {
    pub bytes: usize,
    pub loads: Vec<Load>,
    /// `None`: the event ends here.
    pub text: Option<Sink>,
}

/// One integer of 8, 16, 32 or 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    pub at: u32,
    pub word: u8,
    /// Bits of 64 that it does not have.
    pub unused: u8,
    pub signed: bool,
    pub big: bool,
}

impl Plan {
    /// `None`: the nodes must be walked.
    pub fn new(nodes: &[Node]) -> Option<Plan> {
        let mut plan = Building { segments: Vec::new(), open: Segment::default(), process_name: None };
        nodes.iter().all(|node| plan.add(node)).then(|| {
            plan.segments.push(plan.open);
            Plan { segments: plan.segments.into(), process_name: plan.process_name }
        })
    }
}

struct Building {
    segments: Vec<Segment>,
    open: Segment,
    process_name: Option<(usize, usize)>,
}

impl Building {
    fn add(&mut self, node: &Node) -> bool {
        if node.align() > 8 {
            return false;
        }
        match node {
            Node::Structure { members, .. } => members.iter().all(|m| self.add(m)),
            Node::Integer(of) => {
                if let Sink::Word(word) = of.sink {
                    if !self.load(of, word) {
                        return false;
                    }
                }
                self.step(whole_bytes(node))
            }
            Node::Text { sink } => {
                let segment = Segment { text: Some(*sink), ..std::mem::take(&mut self.open) };
                self.segments.push(segment);
                true
            }
            Node::Array { of, length: Length::Fixed(length), sink, .. } => {
                let bytes = whole_bytes(of).and_then(|bytes| bytes.checked_mul(*length));
                let fits = match (sink, bytes) {
                    (Sink::Nowhere, Some(_)) => true,
                    (Sink::Gid(word), Some(16..)) => [0, 1].iter().all(|half| {
                        let of = Bits { bits: 64, align: 8, signed: false, big: false, slot: 0, sink: *sink };
                        self.load_at(self.open.bytes + 8 * half, &of, word + *half as u8)
                    }),
                    (Sink::Span(span::PROCESS_NAME), Some(bytes)) if self.segments.is_empty() => {
                        self.process_name = Some((self.open.bytes, bytes as usize));
                        true
                    }
                    _ => false,
                };
                fits && self.step(bytes)
            }
            Node::Array { .. } | Node::Variant { .. } => false,
        }
    }

    fn load(&mut self, of: &Bits, word: u8) -> bool {
        self.load_at(self.open.bytes, of, word)
    }

    fn load_at(&mut self, at: usize, of: &Bits, word: u8) -> bool {
        let known = matches!(of.bits, 8 | 16 | 32 | 64);
        if known {
            self.open.loads.push(Load { at: at as u32, word, unused: (64 - of.bits) as u8, signed: of.signed, big: of.big });
        }
        known
    }

    fn step(&mut self, bytes: Option<u64>) -> bool {
        match bytes.and_then(|bytes| bytes.checked_add(self.open.bytes as u64)).filter(|bytes| *bytes <= SEGMENT_MAX) {
            Some(bytes) => {
                self.open.bytes = bytes as usize;
                true
            }
            None => false,
        }
    }
}

/// Size of what takes whole bytes wherever it stands.
fn whole_bytes(node: &Node) -> Option<u64> {
    match node {
        _ if node.align() > 8 => None,
        Node::Integer(of) => (of.bits % 8 == 0).then_some(u64::from(of.bits / 8)),
        Node::Structure { members, .. } => members.iter().map(whole_bytes).try_fold(0u64, |sum, bytes| sum.checked_add(bytes?)),
        Node::Array { of, length: Length::Fixed(length), .. } => whole_bytes(of)?.checked_mul(*length),
        Node::Text { .. } | Node::Array { .. } | Node::Variant { .. } => None,
    }
}

/// How an event's header is read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Header {
    /// There is none: one class of event, without time.
    None,
    /// By bytes: the first alternative that the tag, which is the id, falls into. Without a tag all events have the id 0.
    Direct { tag: Option<Field>, alternatives: Vec<Alternative> },
    Walk(Node),
}

/// One form of the header.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Alternative {
    /// Values of the tag that choose it.
    pub first: u64,
    pub last: u64,
    /// `None`: the tag is the id.
    pub id: Option<Field>,
    pub time: Option<Field>,
    pub bytes: usize,
}

/// Bits at a known place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub byte: usize,
    pub shift: u32,
    pub bits: u32,
    pub big: bool,
}

impl Header {
    pub fn new(node: Option<Node>) -> Header {
        match node {
            None => Header::None,
            Some(node) => direct(&node).unwrap_or(Header::Walk(node)),
        }
    }
}

/// Fields placed so far: slot, sink, place.
type Placed = Vec<(u32, Sink, Field)>;

fn direct(node: &Node) -> Option<Header> {
    let Node::Structure { align: ..=8, members } = node else { return None };
    let (mut at, mut placed) = (0, Placed::new());
    let (variant, before) = match members.split_last() {
        Some((Node::Variant { tag, choices, options }, before)) => (Some((tag, choices, options)), before),
        _ => (None, members.as_slice()),
    };
    before.iter().try_for_each(|member| place(member, &mut at, &mut placed))?;
    let Some((tag, choices, options)) = variant else {
        let id = placed.iter().find(|(_, sink, _)| *sink == Sink::Word(word::EVENT_ID));
        return Some(Header::Direct { tag: id.map(|(.., id)| *id), alternatives: vec![alternative(0, u64::MAX, &placed, None, at)?] });
    };
    let (_, sink, tag) = *placed.iter().find(|(slot, ..)| slot == tag)?;
    if sink != Sink::Word(word::EVENT_ID) {
        return None;
    }
    let (mut alternatives, common) = (Vec::new(), placed.len());
    for (first, last, option) in choices {
        let (mut at, mut placed) = (at, placed.clone());
        place(&options[*option], &mut at, &mut placed)?;
        let own = placed[common..].iter().rev().find(|(_, sink, _)| *sink == Sink::Word(word::EVENT_ID)).map(|(.., id)| *id);
        alternatives.push(alternative(u64::try_from(*first).ok()?, u64::try_from(*last).ok()?, &placed, own, at)?);
    }
    Some(Header::Direct { tag: Some(tag), alternatives })
}

fn alternative(first: u64, last: u64, placed: &Placed, id: Option<Field>, bits: u64) -> Option<Alternative> {
    let time = placed.iter().rev().find(|(_, sink, _)| *sink == Sink::Word(word::TIME)).map(|(.., time)| *time);
    (bits % 8 == 0).then_some(Alternative { first, last, id, time, bytes: (bits / 8) as usize })
}

fn place(node: &Node, at: &mut u64, placed: &mut Placed) -> Option<()> {
    if node.align() > 8 {
        return None;
    }
    *at = at.next_multiple_of(node.align().into());
    match node {
        Node::Structure { members, .. } => members.iter().try_for_each(|m| place(m, at, placed)),
        Node::Integer(of) => {
            let shift = (*at % 8) as u32;
            if shift + of.bits > 64 || (of.signed && of.sink != Sink::Nowhere) {
                return None;
            }
            placed.push((of.slot, of.sink, Field { byte: (*at / 8) as usize, shift, bits: of.bits, big: of.big }));
            *at += u64::from(of.bits);
            Some(())
        }
        Node::Text { .. } | Node::Array { .. } | Node::Variant { .. } => None,
    }
}
