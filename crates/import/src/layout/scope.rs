//! Compiles types into nodes and resolves the paths of tags and lengths. CTF 1.8, section 7.3.2.

use super::{choices, Bits, Length, Node, Sink};
use crate::tsdl::{ByteOrder, Enumeration, Field, Integer, Type};
use std::sync::Arc;

/// Most fields of one event class with all its scopes, so that no metadata makes memory grow without bound.
const NODES_MAX: usize = 1 << 14;

/// Chooses where a field goes, by its name, type, and depth (1: directly in the scope).
pub(super) type Sinks<'a> = &'a dyn Fn(&str, &Type, usize) -> Sink;

/// Compiles the scopes of one event class, in their order in the packet.
#[derive(Clone)]
pub(super) struct Compiler {
    big: bool,
    slots: u32,
    nodes: usize,
    /// Scopes that are complete: `stream.event.header`, and its fields.
    complete: Vec<(&'static str, Vec<Known>)>,
    /// Structures that are being compiled, innermost last.
    open: Vec<Vec<Known>>,
}

/// A field that precedes the current one.
#[derive(Clone)]
struct Known {
    name: Arc<str>,
    slot: Option<u32>,
    labels: Option<Arc<Enumeration>>,
    members: Vec<Known>,
}

impl Compiler {
    pub fn new(big: bool) -> Self {
        Compiler { big, slots: 0, nodes: 0, complete: Vec::new(), open: Vec::new() }
    }

    /// Slots given out so far.
    pub fn slots(&self) -> usize {
        self.slots as usize
    }

    /// Compiles a scope. On an error the scope counts as not declared.
    pub fn scope(&mut self, name: &'static str, of: &Type, sinks: Sinks<'_>) -> Result<Node, String> {
        self.open.clear();
        let (node, known) = self.node(of, Sink::Nowhere, sinks, 0)?;
        self.complete.push((name, known.members));
        Ok(node)
    }

    fn node(&mut self, of: &Type, sink: Sink, sinks: Sinks<'_>, depth: usize) -> Result<(Node, Known), String> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(format!("more than {NODES_MAX} fields"));
        }
        let mut known = Known { name: Arc::from(""), slot: None, labels: None, members: Vec::new() };
        let node = match of {
            Type::Integer(of) | Type::Float(of) => Node::Integer(self.integer(of, sink, &mut known)),
            Type::Enumeration(of) => {
                known.labels = Some(of.clone());
                Node::Integer(self.integer(&of.integer, sink, &mut known))
            }
            Type::String => Node::Text { sink },
            Type::Structure(of) => {
                self.open.push(Vec::new());
                let mut align = of.align;
                let mut members = Vec::with_capacity(of.fields.len());
                for field in &of.fields {
                    let member = self.member(field, sinks, depth + 1)?;
                    align = align.max(member.align());
                    members.push(member);
                }
                known.members = self.open.pop().unwrap_or_default();
                Node::Structure { align, members }
            }
            Type::Variant(of) => {
                let path = of.tag.as_deref().ok_or("a variant without a tag")?;
                let tag = self.find(path)?;
                let (Some(slot), Some(labels)) = (tag.slot, tag.labels.clone()) else {
                    return Err(format!("the tag {path}, which is no enumeration"));
                };
                let names: Vec<Arc<str>> = of.options.iter().map(|o| o.name.clone()).collect();
                let choices = choices(&labels, &names);
                // Options have a scope of their own: one cannot see another.
                self.open.push(Vec::new());
                let options = of.options.iter().map(|o| self.member(o, sinks, depth + 1)).collect::<Result<_, _>>()?;
                self.open.pop();
                Node::Variant { tag: slot, choices, options }
            }
            Type::Array(element, length) => self.array(element, Length::Fixed(*length), sink, sinks, depth)?,
            Type::Sequence(element, path) => {
                let slot = self.find(path)?.slot.ok_or_else(|| format!("the length {path}, which is no integer"))?;
                self.array(element, Length::Slot(slot), sink, sinks, depth)?
            }
        };
        Ok((node, known))
    }

    fn member(&mut self, field: &Field, sinks: Sinks<'_>, depth: usize) -> Result<Node, String> {
        let sink = sinks(&field.name, &field.of, depth);
        let (node, mut known) = self.node(&field.of, sink, sinks, depth)?;
        known.name = field.name.clone();
        if let Some(open) = self.open.last_mut() {
            open.push(known);
        }
        Ok(node)
    }

    /// Elements go nowhere by themselves; bytes may go somewhere together.
    fn array(
        &mut self,
        element: &Type,
        length: Length,
        sink: Sink,
        _: Sinks<'_>,
        depth: usize,
    ) -> Result<Node, String> {
        let (of, _) = self.node(element, Sink::Nowhere, &|_, _, _| Sink::Nowhere, depth)?;
        Ok(Node::Array { align: of.align(), of: Box::new(of), length, sink })
    }

    fn integer(&mut self, of: &Integer, sink: Sink, known: &mut Known) -> Bits {
        let slot = self.slots;
        self.slots += 1;
        known.slot = Some(slot);
        let big = match of.order {
            ByteOrder::Native => self.big,
            order => order == ByteOrder::Big,
        };
        Bits { bits: of.bits, align: of.align, signed: of.signed, big, slot, sink }
    }

    /// Finds a field by its path: absolute, else the nearest one before, from the inside outwards.
    fn find(&self, path: &str) -> Result<&Known, String> {
        for (scope, known) in &self.complete {
            if let Some(rest) = path.strip_prefix(scope).and_then(|rest| rest.strip_prefix('.')) {
                return inside(known, rest).ok_or_else(|| not_there(path));
            }
        }
        let own = [
            "trace.packet.header.",
            "stream.packet.context.",
            "stream.event.header.",
            "stream.event.context.",
            "event.context.",
            "event.fields.",
        ]
        .iter()
        .find_map(|scope| path.strip_prefix(scope));
        if let Some(rest) = own {
            return self.open.first().and_then(|known| inside(known, rest)).ok_or_else(|| not_there(path));
        }
        let scopes = self.open.iter().rev().chain(self.complete.iter().rev().map(|(_, known)| known));
        scopes.into_iter().find_map(|known| inside(known, path)).ok_or_else(|| not_there(path))
    }
}

fn inside<'a>(known: &'a [Known], path: &str) -> Option<&'a Known> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let field = known.iter().rev().find(|k| *k.name == *first)?;
    rest.map_or(Some(field), |rest| inside(&field.members, rest))
}

fn not_there(path: &str) -> String {
    format!("the path {path}, which names no field that stands before")
}
