//! Reads YAML into a tree that remembers the place of each value.
//!
//! It uses the parser's events, because a ready-made tree would silently drop duplicate keys, and copying a node
//! without renaming it is a common mistake.

mod tree;
mod write;

pub(crate) use tree::{Value, Yaml};
pub(crate) use write::{flow, scalar, write};

use crate::diagnostic::Span;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::HashMap;

/// Why a text is not a single YAML document that could be a workload.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SyntaxError {
    pub span: Span,
    pub message: String,
    pub found: String,
    pub expected: String,
}

/// Any workload needs at most 8 levels. Deeper input is refused before recursion could overflow the stack.
const MAX_DEPTH: usize = 32;
/// Most values in a document after expanding aliases: more than the largest workload that a machine could run.
const MAX_VALUES: usize = 200_000;

/// A collection that is still open.
struct Open {
    span: Span,
    anchor: usize,
    map: bool,
    items: Vec<Yaml>,
}

/// Reads the only document of a file; `None` if it is empty.
pub(crate) fn parse(text: &str) -> Result<Option<Yaml>, SyntaxError> {
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, Yaml> = HashMap::new();
    let mut root: Option<Yaml> = None;
    let mut values = 0;
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, marks) = event.map_err(|e| SyntaxError {
            span: Span { line: e.marker().line(), column: e.marker().col() + 1, width: 1 },
            message: format!("not YAML: {}", e.info()),
            found: "text that is no YAML from here on".into(),
            expected: "YAML 1.2".into(),
        })?;
        let width = if marks.start.line() == marks.end.line() {
            marks.end.col().saturating_sub(marks.start.col()).max(1)
        } else {
            1
        };
        let span = Span { line: marks.start.line(), column: marks.start.col() + 1, width };
        let refuse = |message: &str, found: String, expected: &str| {
            Err(SyntaxError { span, message: message.into(), found, expected: expected.into() })
        };
        let (done, anchor) = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return refuse("a second YAML document", "`---`".into(), "one document a file");
                }
                continue;
            }
            Event::Scalar(.., Some(tag)) | Event::SequenceStart(_, Some(tag)) | Event::MappingStart(_, Some(tag)) => {
                return refuse("a YAML tag", format!("`{tag}`"), "a value without a tag");
            }
            Event::Scalar(text, style, anchor, None) => {
                (Yaml { span, value: Value::Scalar(text.into_owned(), style == ScalarStyle::Plain) }, anchor)
            }
            Event::Alias(anchor) => match anchors.get(&anchor) {
                // Keeps the place of the alias's target, because a mistake is corrected there.
                Some(value) if open.len() + value.depth() > MAX_DEPTH => {
                    let found = format!("an alias that makes more than {MAX_DEPTH} levels");
                    return refuse("nested too deeply", found, "a workload, which needs at most 8 levels");
                }
                Some(value) => {
                    values += value.values();
                    (value.clone(), 0)
                }
                None => return refuse("an alias inside its own anchor", "`*`".into(), "a finished value"),
            },
            Event::SequenceStart(anchor, None) | Event::MappingStart(anchor, None) => {
                if open.len() == MAX_DEPTH {
                    let found = format!("more than {MAX_DEPTH} levels");
                    return refuse("nested too deeply", found, "a workload, which needs at most 8 levels");
                }
                let map = matches!(event, Event::MappingStart(..));
                open.push(Open { span, anchor, map, items: Vec::new() });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(collection) => {
                    let value = if collection.map { pairs(collection.items) } else { Value::List(collection.items) };
                    (Yaml { span: collection.span, value }, collection.anchor)
                }
                None => continue,
            },
            _ => continue,
        };
        values += 1;
        if values > MAX_VALUES {
            return refuse("too large", format!("more than {MAX_VALUES} values"), "a workload");
        }
        if anchor != 0 {
            anchors.insert(anchor, done.clone());
        }
        match open.last_mut() {
            Some(parent) => parent.items.push(done),
            None => root = Some(done),
        }
    }
    Ok(root)
}

/// Pairs alternating keys and values.
fn pairs(items: Vec<Yaml>) -> Value {
    let mut entries = Vec::with_capacity(items.len() / 2);
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        entries.push((key, value));
    }
    Value::Map(entries)
}
