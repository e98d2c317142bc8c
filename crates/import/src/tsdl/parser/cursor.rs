//! Walks over the tokens and reads the values, paths and names that they form.

use super::super::fault::Fault;
use super::super::lexer::{Kind, Token};
use super::super::types::{Description, Type};
use super::super::value::Value;
use std::collections::HashMap;

/// The tokens, and the result so far.
pub(super) struct Parser<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) next: usize,
    pub(super) depth: usize,
    /// Type names, innermost last: `uint8_t`, `struct packet_context`.
    pub(super) scopes: Vec<HashMap<String, Type>>,
    pub(super) faults: Vec<Fault>,
    pub(super) description: Description,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

impl<'a> Parser<'a> {
    /// `{ name = value; ... }`.
    pub(super) fn attributes(&mut self) -> Result<Vec<(String, Value, usize)>> {
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

    pub(super) fn value(&mut self) -> Result<Value> {
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
    pub(super) fn path(&mut self) -> Result<String> {
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

    pub(super) fn name(&mut self) -> Option<&'a str> {
        match self.peek() {
            Kind::Word(word) => {
                self.next += 1;
                Some(word)
            }
            _ => None,
        }
    }

    pub(super) fn peek(&self) -> Kind<'a> {
        self.tokens[self.next.min(self.tokens.len() - 1)].kind.clone()
    }

    pub(super) fn peek_after(&self) -> Kind<'a> {
        self.tokens[(self.next + 1).min(self.tokens.len() - 1)].kind.clone()
    }

    pub(super) fn take(&mut self) -> Kind<'a> {
        let kind = self.peek();
        self.next += 1;
        kind
    }

    /// Offset of the next token.
    pub(super) fn at(&self) -> usize {
        self.tokens[self.next.min(self.tokens.len() - 1)].at
    }

    /// Offset of the token taken last.
    pub(super) fn before(&self) -> usize {
        self.tokens[self.next.saturating_sub(1).min(self.tokens.len() - 1)].at
    }

    pub(super) fn accept(&mut self, mark: &str) -> bool {
        let there = matches!(self.peek(), Kind::Mark(m) if m == mark);
        self.next += usize::from(there);
        there
    }

    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let there = matches!(self.peek(), Kind::Word(w) if w == word);
        self.next += usize::from(there);
        there
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<()> {
        if self.accept(mark) {
            return Ok(());
        }
        Err(Fault::new(self.at(), self.peek().shown(), format!("\"{mark}\"")))
    }
}
