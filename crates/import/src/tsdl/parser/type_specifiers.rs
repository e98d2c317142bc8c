//! Parses types: those of TSDL, those of C by their names, and the fields that have them.

use super::super::fault::Fault;
use super::super::lexer::Kind;
use super::super::types::*;
use super::super::value::{alignment, byte_order};
use super::cursor::{Parser, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Greatest depth of nested types, so that no input overflows the stack.
pub(super) const DEPTH_MAX: usize = 40;

const WORDS_OF_C: [&str; 9] = ["unsigned", "signed", "long", "short", "int", "char", "float", "double", "_Bool"];

impl Parser<'_> {
    pub(super) fn type_specifier(&mut self) -> Result<Type> {
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
        let bits = u32::try_from(bits)
            .ok()
            .filter(|b| (1..=64).contains(b))
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
    pub(super) fn declarator(&mut self, of: Type) -> Result<Field> {
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

    /// `typealias TYPE := NAME;` or `typedef TYPE NAME;`.
    pub(super) fn alias(&mut self) -> Result<()> {
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

    fn declare(&mut self, name: String, of: Type) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, of);
        }
    }

    fn find(&self, name: &str, at: usize) -> Result<Type> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.get(name))
            .cloned()
            .ok_or_else(|| Fault::new(at, format!("the type \"{name}\""), "a type that was declared before"))
    }
}

/// Depth of a structure or variant of `fields`.
fn depth(fields: &[Field], at: usize) -> Result<usize> {
    let depth = 1 + fields.iter().map(|f| f.of.depth()).max().unwrap_or(0);
    if depth > DEPTH_MAX {
        Err(too_deep(at))
    } else {
        Ok(depth)
    }
}

fn too_deep(at: usize) -> Fault {
    Fault::new(at, "types nested too deep", format!("at most {DEPTH_MAX} inside each other"))
}
