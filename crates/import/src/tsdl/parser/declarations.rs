//! Parses tokens into declarations. It reports and skips a malformed declaration and keeps the others.

use super::super::fault::Fault;
use super::super::lexer::{tokens, Kind};
use super::super::types::*;
use super::super::value::{byte_order, uuid};
use super::cursor::{Parser, Result};
use std::collections::HashMap;

/// Reads the text of a metadata file.
pub fn parse(text: &str) -> (Description, Vec<Fault>) {
    let (tokens, fault) = tokens(text);
    let (scopes, description) = (vec![HashMap::new()], Description::default());
    let mut parser = Parser { tokens, next: 0, depth: 0, scopes, faults: Vec::new(), description };
    while !matches!(parser.peek(), Kind::End) {
        let (start, scopes) = (parser.next, parser.scopes.len());
        if let Err(fault) = parser.declaration() {
            parser.faults.push(fault);
            parser.scopes.truncate(scopes.min(1));
            parser.depth = 0;
            parser.skip_declaration(start);
        }
    }
    let Parser { mut faults, mut description, .. } = parser;
    faults.extend(fault);
    // A trace without a stream block has one stream.
    if description.streams.is_empty() && !description.events.is_empty() {
        description.streams.push(StreamBlock::default());
    }
    (description, faults)
}

impl Parser<'_> {
    fn declaration(&mut self) -> Result<()> {
        if self.accept(";") {
            return Ok(());
        }
        if let Kind::Word(word) = self.peek() {
            let block = matches!(self.peek_after(), Kind::Mark("{"));
            match word {
                "trace" | "stream" | "event" | "clock" | "env" | "callsite" if block => {
                    self.next += 1;
                    return self.block(word);
                }
                "typealias" | "typedef" => return self.alias(),
                _ => {}
            }
        }
        self.type_specifier()?;
        self.expect(";")
    }

    fn block(&mut self, word: &str) -> Result<()> {
        self.expect("{")?;
        self.scopes.push(HashMap::new());
        let mut clock = ClockBlock { frequency_hz: 1_000_000_000, ..ClockBlock::default() };
        let (mut stream, mut event) = (StreamBlock::default(), EventBlock::default());
        while !self.accept("}") {
            if matches!(self.peek(), Kind::Word("typealias" | "typedef")) {
                self.alias()?;
                continue;
            }
            let at = self.at();
            let path = self.path()?;
            if self.accept(":=") {
                let of = self.type_specifier()?;
                self.expect(";")?;
                let place = match (word, path.as_str()) {
                    ("trace", "packet.header") => &mut self.description.packet_header,
                    ("stream", "packet.context") => &mut stream.packet_context,
                    ("stream", "event.header") => &mut stream.event_header,
                    ("stream", "event.context") => &mut stream.event_context,
                    ("event", "context") => &mut event.context,
                    ("event", "fields") => &mut event.fields,
                    _ => {
                        let expected = "packet.header, packet.context, event.header, context or fields";
                        self.faults.push(Fault::new(at, format!("{path} in {word}"), expected));
                        continue;
                    }
                };
                *place = Some(of);
                continue;
            }
            self.expect("=")?;
            let value = self.value()?;
            self.expect(";")?;
            match (word, path.as_str()) {
                ("trace", "major") => self.description.version.0 = value.number(at)?,
                ("trace", "minor") => self.description.version.1 = value.number(at)?,
                ("trace", "uuid") => self.description.uuid = Some(uuid(&value.text(), at)?),
                ("trace", "byte_order") => self.description.order = byte_order(&value.text(), at)?,
                ("env", _) => {
                    self.description.environment.insert(path, value.text());
                }
                ("clock", "name") => clock.name = value.text(),
                ("clock", "uuid") => clock.uuid = value.text(),
                ("clock", "freq") => clock.frequency_hz = value.number(at)?,
                ("clock", "offset_s") => clock.offset_s = value.signed(at)?,
                ("clock", "offset") => clock.offset_ticks = value.signed(at)?,
                ("stream", "id") => stream.id = value.number(at)?,
                ("event", "id") => event.id = value.number(at)?,
                ("event", "stream_id") => event.stream = Some(value.number(at)?),
                ("event", "name") => event.name = value.text(),
                _ => {}
            }
        }
        self.scopes.pop();
        self.accept(";");
        match word {
            "trace" => self.description.complete = true,
            "clock" if clock.frequency_hz == 0 => return Err(Fault::new(self.at(), "a clock of 0 Hz", "a frequency")),
            "clock" => self.description.clocks.push(clock),
            "stream" => self.description.streams.push(stream),
            "event" => self.description.events.push(event),
            _ => {}
        }
        Ok(())
    }

    /// Moves from the declaration that began at token `start` to the token after the `;` that ends it.
    fn skip_declaration(&mut self, start: usize) {
        let failed = self.next;
        self.next = start;
        let mut braces = 0i64;
        loop {
            match self.take() {
                Kind::End => return,
                Kind::Mark("{") => braces += 1,
                Kind::Mark("}") => braces -= 1,
                Kind::Mark(";") if braces <= 0 && self.next >= failed => return,
                _ => {}
            }
        }
    }
}
