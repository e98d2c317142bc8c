//! Fields at known bytes: headers and events that need no walking.

use super::{span, word, Bits, Length, Node, Sink};

/// Most bytes of an event up to a string or the end; longer events are walked.
const SEGMENT_MAX: u64 = 1 << 24;

/// How to read an event whose fields begin and end at whole bytes.
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
    /// Texts of fixed length: offset, length, span.
    pub spans: Vec<(u32, u32, u8)>,
    /// `None` if the event ends here.
    pub text: Option<Sink>,
}

/// One integer of 8, 16, 32 or 64 bits, little endian: the eight bytes at `at`, cut by `mask`, sign-extended from
/// `sign`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    pub at: u32,
    pub word: u8,
    pub mask: u64,
    /// The sign's bit; 0 if there is no sign.
    pub sign: u64,
}

impl Plan {
    /// Makes a plan; `None` if the nodes must be walked. `absent` are words that the event does not have, which become
    /// 0.
    pub fn new(nodes: &[Node], absent: &[u8]) -> Option<Plan> {
        let mut plan = Building { segments: Vec::new(), open: Segment::default(), process_name: None };
        plan.open.loads.extend(absent.iter().map(|word| Load { at: 0, word: *word, mask: 0, sign: 0 }));
        nodes.iter().all(|node| plan.add(node)).then(|| {
            plan.segments.push(plan.open);
            Plan { segments: plan.segments.into(), process_name: plan.process_name }
        })
    }
}

impl Plan {
    /// Whether it loads a word.
    pub fn loads(&self, word: u8) -> bool {
        self.segments.iter().flat_map(|segment| &segment.loads).any(|load| load.word == word)
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
                    (Sink::Span(span), Some(bytes @ ..=SEGMENT_MAX)) if *span < span::PROCESS_NAME => {
                        self.open.spans.push((self.open.bytes as u32, bytes as u32, *span));
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
        let known = matches!(of.bits, 8 | 16 | 32 | 64) && (!of.big || of.bits == 8);
        if known {
            let sign = if of.signed { 1 << (of.bits - 1) } else { 0 };
            self.open.loads.push(Load { at: at as u32, word, mask: u64::MAX >> (64 - of.bits), sign });
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

/// Returns the size of a node that takes whole bytes at any place.
fn whole_bytes(node: &Node) -> Option<u64> {
    match node {
        _ if node.align() > 8 => None,
        Node::Integer(of) => (of.bits % 8 == 0).then_some(u64::from(of.bits / 8)),
        Node::Structure { members, .. } => {
            members.iter().map(whole_bytes).try_fold(0u64, |sum, bytes| sum.checked_add(bytes?))
        }
        Node::Array { of, length: Length::Fixed(length), .. } => whole_bytes(of)?.checked_mul(*length),
        Node::Text { .. } | Node::Array { .. } | Node::Variant { .. } => None,
    }
}

/// How to read an event's header.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Header {
    /// There is no header: one class of event, without time.
    None,
    /// LTTng's large header, little endian: id of 16 bits and time of 32, or 65535, id of 32 and time of 64.
    Large,
    /// LTTng's compact header, little endian: id of 5 bits and time of 27, or 31, id of 32 and time of 64.
    Compact,
    /// Reads by bytes: the tag, which is the id, selects the first alternative that contains it. Without a tag all
    /// events have the id 0.
    Direct {
        tag: Option<Field>,
        alternatives: Vec<Alternative>,
    },
    Walk(Node),
}

/// One form of the header.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Alternative {
    /// Values of the tag that select it.
    pub first: u64,
    pub last: u64,
    /// `None` if the tag is the id.
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
    /// Whether the next field begins at a whole byte.
    pub fn is_of_bytes(&self) -> bool {
        !matches!(self, Header::None | Header::Walk(_))
    }

    pub fn new(node: Option<Node>) -> Header {
        match node {
            None => Header::None,
            // A field that may begin or end within a byte is walked.
            Some(node) => match direct(&node).filter(|_| node.align() == 8) {
                Some((tag, alternatives)) => {
                    of_lttng(tag, &alternatives).unwrap_or(Header::Direct { tag, alternatives })
                }
                None => Header::Walk(node),
            },
        }
    }
}

/// Recognises the two headers that LTTng writes, which are then read without their description.
fn of_lttng(tag: Option<Field>, alternatives: &[Alternative]) -> Option<Header> {
    let field = |byte, shift, bits| Some(Field { byte, shift, bits, big: false });
    let form = |first, last, id, time, bytes| Alternative { first, last, id, time, bytes };
    let large = [form(0, 65_534, None, field(2, 0, 32), 6), form(65_535, 65_535, field(2, 0, 32), field(6, 0, 64), 14)];
    let compact = [form(0, 30, None, field(0, 5, 27), 4), form(31, 31, field(1, 0, 32), field(5, 0, 64), 13)];
    match (tag, alternatives) {
        (tag, found) if tag == field(0, 0, 16) && found == large => Some(Header::Large),
        (tag, found) if tag == field(0, 0, 5) && found == compact => Some(Header::Compact),
        _ => None,
    }
}

/// Fields placed so far: slot, sink, place.
type Placed = Vec<(u32, Sink, Field)>;

/// The tag of a header, and its forms.
fn direct(node: &Node) -> Option<(Option<Field>, Vec<Alternative>)> {
    let Node::Structure { align: ..=8, members } = node else { return None };
    let (mut at, mut placed) = (0, Placed::new());
    let (variant, before) = match members.split_last() {
        Some((Node::Variant { tag, choices, options }, before)) => (Some((tag, choices, options)), before),
        _ => (None, members.as_slice()),
    };
    before.iter().try_for_each(|member| place(member, &mut at, &mut placed))?;
    let Some((tag, choices, options)) = variant else {
        let id = placed.iter().find(|(_, sink, _)| *sink == Sink::Word(word::EVENT_ID));
        return Some((id.map(|(.., id)| *id), vec![alternative(0, u64::MAX, &placed, None, at)?]));
    };
    let (_, sink, tag) = *placed.iter().find(|(slot, ..)| slot == tag)?;
    if sink != Sink::Word(word::EVENT_ID) {
        return None;
    }
    let (mut alternatives, common) = (Vec::new(), placed.len());
    for (first, last, option) in choices {
        let (mut at, mut placed) = (at, placed.clone());
        place(&options[*option], &mut at, &mut placed)?;
        let own =
            placed[common..].iter().rev().find(|(_, sink, _)| *sink == Sink::Word(word::EVENT_ID)).map(|(.., id)| *id);
        alternatives.push(alternative(u64::try_from(*first).ok()?, u64::try_from(*last).ok()?, &placed, own, at)?);
    }
    Some((Some(tag), alternatives))
}

fn alternative(first: u64, last: u64, placed: &Placed, id: Option<Field>, bits: u64) -> Option<Alternative> {
    let time = placed.iter().rev().find(|(_, sink, _)| *sink == Sink::Word(word::TIME)).map(|(.., time)| *time);
    bits.is_multiple_of(8).then_some(Alternative { first, last, id, time, bytes: (bits / 8) as usize })
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
