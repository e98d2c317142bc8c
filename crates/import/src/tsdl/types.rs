//! The declarations of metadata: types, and the blocks that use them (CTF 1.8, sections 4 to 7).

use std::collections::BTreeMap;
use std::sync::Arc;

/// Order of bytes, and also of bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// The trace's byte order.
    #[default]
    Native,
    /// Least significant first.
    Little,
    /// Most significant first.
    Big,
}

/// A type as declared.
#[allow(missing_docs)]
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Integer(Integer),
    Enumeration(Arc<Enumeration>),
    /// A float, read as its bits; no event that is understood has one.
    Float(Integer),
    String,
    Structure(Arc<Structure>),
    Variant(Arc<Variant>),
    Array(Arc<Type>, u64),
    /// The type of its elements, and the source of their number.
    Sequence(Arc<Type>, Arc<str>),
}

impl Type {
    /// Depth of nested structures, variants and arrays. The parser bounds it, so that walking a type cannot overflow
    /// the stack.
    pub fn depth(&self) -> usize {
        match self {
            Type::Structure(of) => of.depth,
            Type::Variant(of) => of.depth,
            Type::Array(of, _) | Type::Sequence(of, _) => 1 + of.depth(),
            Type::Integer(_) | Type::Enumeration(_) | Type::Float(_) | Type::String => 0,
        }
    }
}

/// Integer of up to 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer {
    /// Size in bits, 1 to 64.
    pub bits: u32,
    /// Alignment in bits, a power of two.
    pub align: u32,
    /// Whether it is in two's complement.
    pub signed: bool,
    /// Order of its bytes.
    pub order: ByteOrder,
    /// Index into [`Description::mapped`] of the clock that its values refer to.
    pub clock: Option<u32>,
}

/// Names for ranges of an integer.
#[derive(Debug, Clone, PartialEq)]
pub struct Enumeration {
    /// The integer type that stores it.
    pub integer: Integer,
    /// Name, first and last value of each range.
    pub ranges: Vec<(String, i128, i128)>,
}

/// A member of a structure or variant. Names keep the underscore that LTTng puts before them.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub of: Type,
}

/// Fields one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    /// Least alignment in bits.
    pub align: u32,
    /// The fields, in their order.
    pub fields: Vec<Field>,
    /// Depth of nested types, this one included.
    pub depth: usize,
}

/// One of several fields, chosen by an enumeration read before.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Path of the enumeration; absent if the variant is only declared.
    pub tag: Option<Arc<str>>,
    /// The options, by the enumeration's names.
    pub options: Vec<Field>,
    /// Depth of nested types, this one included.
    pub depth: usize,
}

/// `clock`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClockBlock {
    /// Name that `map = clock.NAME.value` gives.
    pub name: String,
    /// Its uuid, which LTTng sets to the boot id of its host.
    pub uuid: String,
    /// Ticks a second.
    pub frequency_hz: u64,
    /// Whole seconds from 1970 to the clock's zero.
    pub offset_s: i64,
    /// Further ticks to its zero.
    pub offset_ticks: i64,
}

/// `stream`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamBlock {
    /// Its number; 0 if there is only one stream.
    pub id: u64,
    /// `packet.context`.
    pub packet_context: Option<Type>,
    /// `event.header`.
    pub event_header: Option<Type>,
    /// `event.context`.
    pub event_context: Option<Type>,
}

/// `event`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventBlock {
    /// `ros2:callback_start`.
    pub name: String,
    /// Its number in its stream.
    pub id: u64,
    /// Stream that carries it; absent if there is only one.
    pub stream: Option<u64>,
    /// `context`.
    pub context: Option<Type>,
    /// `fields`.
    pub fields: Option<Type>,
}

/// The content of one metadata file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Description {
    /// Whether there is a `trace` block.
    pub complete: bool,
    /// `major`.`minor`.
    pub version: (u64, u64),
    /// uuid of the trace.
    pub uuid: Option<[u8; 16]>,
    /// Byte order of integers that name none.
    pub order: ByteOrder,
    /// `packet.header`.
    pub packet_header: Option<Type>,
    /// `env`.
    pub environment: BTreeMap<String, String>,
    /// Clocks.
    pub clocks: Vec<ClockBlock>,
    /// Names of the clocks that integers are mapped to.
    pub mapped: Vec<String>,
    /// Streams.
    pub streams: Vec<StreamBlock>,
    /// Events.
    pub events: Vec<EventBlock>,
}

impl Description {
    /// Whether a stream carries an event: it is the stream that the event names, or the only one.
    pub fn carries(&self, stream: &StreamBlock, event: &EventBlock) -> bool {
        event.stream.map_or(self.streams.len() == 1 || stream.id == 0, |named| named == stream.id)
    }

    /// Index of the clock that an integer refers to, by its index into `mapped`; the first clock if none is named.
    pub fn clock(&self, mapped: Option<u32>) -> usize {
        let name = mapped.and_then(|index| self.mapped.get(index as usize));
        name.and_then(|name| self.clocks.iter().position(|clock| clock.name == *name)).unwrap_or(0)
    }

    /// Index into `mapped` of the clock that `NAME.value` names.
    pub(super) fn clock_named(&mut self, path: &str) -> u32 {
        let name = path.split('.').next().unwrap_or_default();
        let known = self.mapped.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.mapped.push(name.to_string());
            self.mapped.len() - 1
        }) as u32
    }
}
