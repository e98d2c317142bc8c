//! Tokens into declarations. A declaration that makes no sense is reported and stepped over; the others stand.

use super::lexer::{tokens, Kind, Token};
use super::types::*;
use super::value::{alignment, byte_order, uuid, Value};
use super::Fault;
use std::collections::HashMap;
use std::sync::Arc;

/// Types inside types; deeper nesting is refused, so that no input overflows the stack.
const DEPTH_MAX: usize = 40;

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

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    depth: usize,
    /// Type names, innermost last: `uint8_t`, `struct packet_context`.
    scopes: Vec<HashMap<String, Type>>,
    faults: Vec<Fault>,
    description: Description,
}

type Result<T> = std::result::Result<T, Fault>;

const WORDS_OF_C: [&str; 9] = ["unsigned", "signed", "long", "short", "int", "char", "float", "double", "_Bool"];

impl<'a> Parser<'a> {
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

    /// `typealias TYPE := NAME;` or `typedef TYPE NAME;`.
    fn alias(&mut self) -> Result<()> {
        let typedef = matches!(self.peek(), Kind::Word("typedef"));
        self.next += 1;
        let of = self.type_specifier()?;
        if typedef {
            let field = self.declarator(of)?;
            self.declare(field.name.to_string(), field.of);
            return self.expect(";");
        }
        self.expect(":=")?;
        let mut words = Vec::new();
        while !self.accept(";") {
            match self.take() {
                Kind::Word(word) => words.push(word),
                Kind::Mark(star @ "*") => words.push(star),
                other => return Err(Fault::new(self.before(), other.shown(), "the name of a type, then \";\"")),
            }
        }
        self.declare(words.join(" "), of);
        Ok(())
    }

    fn type_specifier(&mut self) -> Result<Type> {
        if self.depth >= DEPTH_MAX {
            return Err(too_deep(self.at()));
        }
        self.depth += 1;
        let of = self.type_specifier_inside();
        self.depth -= 1;
        of
    }

    fn type_specifier_inside(&mut self) -> Result<Type> {
        while self.accept_word("const") {}
        let at = self.at();
        let Kind::Word(word) = self.take() else {
            return Err(Fault::new(at, self.tokens[self.next.saturating_sub(1)].kind.shown(), "a type"));
        };
        match word {
            "integer" => Ok(Type::Integer(self.integer(at)?)),
            "floating_point" => Ok(Type::Float(self.integer(at)?)),
            "string" => {
                if matches!(self.peek(), Kind::Mark("{")) {
                    self.attributes()?;
                }
                Ok(Type::String)
            }
            "struct" => self.structure(at),
            "variant" => self.variant(at),
            "enum" => self.enumeration(at),
            _ => {
                let mut name = word.to_string();
                if WORDS_OF_C.contains(&word) {
                    while let Kind::Word(more) = self.peek() {
                        if !WORDS_OF_C.contains(&more) {
                            break;
                        }
                        name = format!("{name} {more}");
                        self.next += 1;
                    }
                }
                while self.accept("*") {
                    name.push_str(" *");
                }
                self.find(&name, at)
            }
        }
    }

    /// `{ size = 32; align = 8; ... }` of an integer or a float.
    fn integer(&mut self, at: usize) -> Result<Integer> {
        let (mut bits, mut align, mut signed, mut order, mut clock) = (0, None, false, ByteOrder::Native, None);
        for (name, value, at) in self.attributes()? {
            match name.as_str() {
                "size" | "exp_dig" | "mant_dig" => bits += value.number(at)?.min(1 << 16),
                "align" => align = Some(value.number(at)?),
                "signed" => signed = matches!(value.text().as_str(), "true" | "TRUE" | "1"),
                "byte_order" => order = byte_order(&value.text(), at)?,
                "map" => clock = value.text().strip_prefix("clock.").map(|path| self.description.clock_named(path)),
                _ => {}
            }
        }
        let bits = u32::try_from(bits).ok().filter(|b| (1..=64).contains(b))
            .ok_or_else(|| Fault::new(at, format!("a number of {bits} bits"), "1 to 64 bits"))?;
        let align = alignment(align.unwrap_or(if bits % 8 == 0 { 8 } else { 1 }), at)?;
        Ok(Integer { bits, align, signed, order, clock })
    }

    fn structure(&mut self, at: usize) -> Result<Type> {
        let name = self.name();
        if !matches!(self.peek(), Kind::Mark("{")) {
            return self.find(&format!("struct {}", name.unwrap_or_default()), at);
        }
        let fields = self.fields()?;
        let mut align = 1;
        if self.accept_word("align") {
            self.expect("(")?;
            align = alignment(self.value()?.number(at)?, at)?;
            self.expect(")")?;
        }
        let of = Type::Structure(Arc::new(Structure { align, depth: depth(&fields, at)?, fields }));
        if let Some(name) = name {
            self.declare(format!("struct {name}"), of.clone());
        }
        Ok(of)
    }

    fn variant(&mut self, at: usize) -> Result<Type> {
        let name = self.name();
        let mut tag = None;
        if self.accept("<") {
            tag = Some(Arc::from(self.path()?));
            self.expect(">")?;
        }
        if matches!(self.peek(), Kind::Mark("{")) {
            let options = self.fields()?;
            let of = Type::Variant(Arc::new(Variant { tag, depth: depth(&options, at)?, options }));
            if let Some(name) = name {
                self.declare(format!("variant {name}"), of.clone());
            }
            return Ok(of);
        }
        let name = name.unwrap_or_default();
        match self.find(&format!("variant {name}"), at)? {
            Type::Variant(known) if tag.is_some() => Ok(Type::Variant(Arc::new(Variant { tag, ..(*known).clone() }))),
            other => Ok(other),
        }
    }

    fn enumeration(&mut self, at: usize) -> Result<Type> {
        let name = self.name();
        let stored = if self.accept(":") { Some(self.type_specifier()?) } else { None };
        if !matches!(self.peek(), Kind::Mark("{")) {
            return self.find(&format!("enum {}", name.unwrap_or_default()), at);
        }
        let integer = match stored.map_or_else(|| self.find("int", at), Ok)? {
            Type::Integer(integer) => integer,
            _ => return Err(Fault::new(at, "an enumeration that is stored as something else", "an integer type")),
        };
        self.expect("{")?;
        let (mut ranges, mut value) = (Vec::new(), 0i128);
        while !self.accept("}") {
            let label = match self.take() {
                Kind::Word(word) => word.to_string(),
                Kind::Text(text) => text,
                other => return Err(Fault::new(self.before(), other.shown(), "a name of the enumeration")),
            };
            let (mut first, mut last) = (value, value);
            if self.accept("=") {
                let at = self.at();
                first = self.value()?.whole(at)?;
                last = if self.accept("...") { self.value()?.whole(at)? } else { first };
            }
            value = last.saturating_add(1);
            ranges.push((label, first, last));
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        let of = Type::Enumeration(Arc::new(Enumeration { integer, ranges }));
        if let Some(name) = name {
            self.declare(format!("enum {name}"), of.clone());
        }
        Ok(of)
    }

    /// `{ TYPE NAME; ... }`.
    fn fields(&mut self) -> Result<Vec<Field>> {
        self.expect("{")?;
        self.scopes.push(HashMap::new());
        let mut fields = Vec::new();
        while !self.accept("}") {
            if matches!(self.peek(), Kind::Word("typealias" | "typedef")) {
                self.alias()?;
                continue;
            }
            let of = self.type_specifier()?;
            if self.accept(";") {
                continue;
            }
            fields.push(self.declarator(of.clone())?);
            while self.accept(",") {
                fields.push(self.declarator(of.clone())?);
            }
            self.expect(";")?;
        }
        self.scopes.pop();
        Ok(fields)
    }

    /// `NAME`, `NAME[3]`, `NAME[length]`.
    fn declarator(&mut self, of: Type) -> Result<Field> {
        let at = self.at();
        let Kind::Word(name) = self.take() else {
            return Err(Fault::new(at, self.tokens[self.next.saturating_sub(1)].kind.shown(), "a name"));
        };
        enum Length {
            Fixed(u64),
            At(String),
        }
        let mut lengths = Vec::new();
        while self.accept("[") {
            if of.depth() + lengths.len() >= DEPTH_MAX {
                return Err(too_deep(at));
            }
            lengths.push(match self.peek() {
                Kind::Number(length) => {
                    self.next += 1;
                    Length::Fixed(length)
                }
                _ => Length::At(self.path()?),
            });
            self.expect("]")?;
        }
        let of = lengths.into_iter().rev().fold(of, |of, length| match length {
            Length::Fixed(length) => Type::Array(Arc::new(of), length),
            Length::At(path) => Type::Sequence(Arc::new(of), Arc::from(path)),
        });
        Ok(Field { name: Arc::from(name), of })
    }

    /// `{ name = value; ... }`.
    fn attributes(&mut self) -> Result<Vec<(String, Value, usize)>> {
        self.expect("{")?;
        let mut found = Vec::new();
        while !self.accept("}") {
            let at = self.at();
            let name = self.path()?;
            self.expect("=")?;
            found.push((name, self.value()?, at));
            self.expect(";")?;
        }
        Ok(found)
    }

    fn value(&mut self) -> Result<Value> {
        let minus = self.accept("-");
        if !minus {
            self.accept("+");
        }
        match self.peek() {
            Kind::Number(number) => {
                self.next += 1;
                Ok(Value::Number(if minus { -i128::from(number) } else { number.into() }))
            }
            Kind::Text(text) => {
                self.next += 1;
                Ok(Value::Text(text))
            }
            _ => Ok(Value::Text(self.path()?)),
        }
    }

    /// `a.b.c`.
    fn path(&mut self) -> Result<String> {
        let mut path = String::new();
        loop {
            match self.take() {
                Kind::Word(word) => path.push_str(word),
                other => return Err(Fault::new(self.before(), other.shown(), "a name")),
            }
            if !self.accept(".") {
                return Ok(path);
            }
            path.push('.');
        }
    }

    fn name(&mut self) -> Option<&'a str> {
        match self.peek() {
            Kind::Word(word) => {
                self.next += 1;
                Some(word)
            }
            _ => None,
        }
    }

    fn declare(&mut self, name: String, of: Type) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, of);
        }
    }

    fn find(&self, name: &str, at: usize) -> Result<Type> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).cloned()
            .ok_or_else(|| Fault::new(at, format!("the type \"{name}\""), "a type that was declared before"))
    }

    fn peek(&self) -> Kind<'a> {
        self.tokens[self.next.min(self.tokens.len() - 1)].kind.clone()
    }

    fn peek_after(&self) -> Kind<'a> {
        self.tokens[(self.next + 1).min(self.tokens.len() - 1)].kind.clone()
    }

    fn take(&mut self) -> Kind<'a> {
        let kind = self.peek();
        self.next += 1;
        kind
    }

    /// Offset of the next token.
    fn at(&self) -> usize {
        self.tokens[self.next.min(self.tokens.len() - 1)].at
    }

    /// Offset of the token taken last.
    fn before(&self) -> usize {
        self.tokens[self.next.saturating_sub(1).min(self.tokens.len() - 1)].at
    }

    fn accept(&mut self, mark: &str) -> bool {
        let there = matches!(self.peek(), Kind::Mark(m) if m == mark);
        self.next += usize::from(there);
        there
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let there = matches!(self.peek(), Kind::Word(w) if w == word);
        self.next += usize::from(there);
        there
    }

    fn expect(&mut self, mark: &str) -> Result<()> {
        if self.accept(mark) {
            return Ok(());
        }
        Err(Fault::new(self.at(), self.peek().shown(), format!("\"{mark}\"")))
    }

    /// From the declaration that began at token `start` to behind the `;` that ends it.
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

/// Depth of a structure or variant of `fields`.
fn depth(fields: &[Field], at: usize) -> Result<usize> {
    let depth = 1 + fields.iter().map(|f| f.of.depth()).max().unwrap_or(0);
    if depth > DEPTH_MAX { Err(too_deep(at)) } else { Ok(depth) }
}

fn too_deep(at: usize) -> Fault {
    Fault::new(at, "types nested too deep", format!("at most {DEPTH_MAX} inside each other"))
}

#[cfg(test)]
mod tests;
