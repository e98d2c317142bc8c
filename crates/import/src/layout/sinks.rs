//! Chooses the destination of each field, by its name and type.

use super::{span, word, Sink};
use crate::kinds::{is_field, Kind, Shape};
use crate::tsdl::{ByteOrder, Integer, Type};
use std::cell::Cell;

pub(super) fn payload_place(shape: Shape, place: u8) -> Sink {
    match shape {
        Shape::text | Shape::handles => Sink::Span(place),
        Shape::gid => Sink::Gid(place),
        _ => Sink::Word(place),
    }
}

pub(super) fn payload_sink(kind: Option<&'static Kind>, name: &str, of: &Type, depth: usize) -> Sink {
    let Some(kind) = kind.filter(|_| depth == 1) else { return Sink::Nowhere };
    let name = name.strip_prefix('_').unwrap_or(name);
    if name == "init_timestamp" && kind.repeated_by_caret() && number(of) {
        return Sink::Word(word::SINCE);
    }
    match kind.places().find(|(field, _)| is_field(field.name, name)) {
        Some((field, place)) if fits(field.shape, of) => payload_place(field.shape, place),
        _ => Sink::Nowhere,
    }
}

fn fits(shape: Shape, of: &Type) -> bool {
    match shape {
        Shape::text => *of == Type::String || bytes(of),
        Shape::gid => bytes(of),
        Shape::handles => addresses(of),
        _ => matches!(of, Type::Integer(_) | Type::Enumeration(_)),
    }
}

/// An array or sequence of bytes.
fn bytes(of: &Type) -> bool {
    let byte = |of: &Type| matches!(of, Type::Integer(Integer { bits: 8, align: 1 | 8, .. }));
    matches!(of, Type::Array(of, _) | Type::Sequence(of, _) if byte(of))
}

/// An array or sequence of numbers of 64 bits.
fn addresses(of: &Type) -> bool {
    let address =
        |of: &Type| matches!(of, Type::Integer(Integer { bits: 64, align: 1 | 8, order: ByteOrder::Native, .. }));
    matches!(of, Type::Array(of, _) | Type::Sequence(of, _) if address(of))
}

fn number(of: &Type) -> bool {
    matches!(of, Type::Integer(_) | Type::Enumeration(_))
}

pub(super) fn packet_header_sink(name: &str, of: &Type, depth: usize) -> Sink {
    match name {
        _ if depth != 1 => Sink::Nowhere,
        "magic" if number(of) => Sink::Word(word::MAGIC),
        "uuid" if bytes(of) => Sink::Span(span::UUID),
        "stream_id" if number(of) => Sink::Word(word::STREAM_ID),
        "stream_instance_id" if number(of) => Sink::Word(word::INSTANCE),
        _ => Sink::Nowhere,
    }
}

pub(super) fn packet_context_sink(name: &str, of: &Type, depth: usize, clock: &Cell<Option<u32>>) -> Sink {
    note_clock(of, clock);
    let place = match name {
        _ if depth != 1 || !number(of) => return Sink::Nowhere,
        "timestamp_begin" => word::BEGIN,
        "timestamp_end" => word::END,
        "content_size" => word::CONTENT_BITS,
        "packet_size" => word::PACKET_BITS,
        "packet_seq_num" => word::SEQUENCE,
        "events_discarded" => word::DISCARDED,
        "cpu_id" => word::CPU,
        _ => return Sink::Nowhere,
    };
    Sink::Word(place)
}

/// Keeps the clock of the first integer that is mapped to one.
fn note_clock(of: &Type, clock: &Cell<Option<u32>>) {
    if let Type::Integer(Integer { clock: named @ Some(_), .. }) = of {
        clock.set(clock.get().or(*named));
    }
}

/// The id and the time may be at any depth: LTTng's are inside a variant.
pub(super) fn event_header_sink(name: &str, of: &Type, _: usize, clock: &Cell<Option<u32>>) -> Sink {
    note_clock(of, clock);
    match (name, of) {
        ("id", of) if number(of) => Sink::Word(word::EVENT_ID),
        (_, Type::Integer(Integer { clock: Some(_), .. })) => Sink::Word(word::TIME),
        ("timestamp", of) if number(of) => Sink::Word(word::TIME),
        _ => Sink::Nowhere,
    }
}

/// Contexts of LTTng: `vpid` and `vtid` are ids in the process's own namespace, which its handles belong to as well.
pub(super) fn event_context_sink(name: &str, of: &Type, depth: usize) -> Sink {
    match name.strip_prefix('_').unwrap_or(name) {
        _ if depth != 1 => Sink::Nowhere,
        "vpid" if number(of) => Sink::Word(word::PID),
        "vtid" if number(of) => Sink::Word(word::TID),
        "pid_ns" if number(of) => Sink::Word(word::PID_NAMESPACE),
        "procname" if *of == Type::String || bytes(of) => Sink::Span(span::PROCESS_NAME),
        _ => Sink::Nowhere,
    }
}
