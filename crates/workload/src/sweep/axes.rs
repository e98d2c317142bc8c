//! Finds axes: lists in places where the value is not a list.

use super::parameters::text;
use crate::document::{Value, Yaml};
use crate::grammar::{self, Form, Key, Parts};

/// The place of a list that is a sweep.
pub(crate) struct Axis {
    /// Index of the entry in each map on the way.
    steps: Vec<usize>,
    /// The keys of these entries.
    path: Vec<String>,
    form: Form,
}

/// The value of a point on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    /// Keys to the axis, joined by dots; or the name of a parameter of `sweep`.
    pub path: String,
    /// The value, as written.
    pub text: String,
}

/// One value of an axis: its description, and the YAML that replaces the list.
pub(crate) type Alternative = (Vec<Choice>, Yaml);

/// Finds the first axis of a document, in the order of the file.
pub(crate) fn first(root: &Yaml) -> Option<Axis> {
    let mut axis = Axis { steps: vec![], path: vec![], form: Form::Short };
    axis.find(root, Parts::Keys(&grammar::TOP)).then_some(axis)
}

impl Axis {
    /// Searches a map for its first axis.
    fn find(&mut self, map: &Yaml, parts: Parts) -> bool {
        let Value::Map(entries) = &map.value else { return false };
        for (step, (key, value)) in entries.iter().enumerate() {
            let Value::Scalar(name, _) = &key.value else { continue };
            let form = match parts {
                Parts::None => return false,
                Parts::Names(form) => form,
                Parts::Keys(place) => match place.keys.iter().find(|key| key.name == name) {
                    Some(Key { form: Form::Sweep | Form::Short, .. }) | None => continue,
                    Some(key) => key.form,
                },
                Parts::KeysOrNames(place, with, others) => match place.keys.iter().find(|key| key.name == name) {
                    Some(key) => key.form,
                    None if entries.iter().any(|(key, _)| key.is(with)) => others,
                    None => continue,
                },
            };
            self.steps.push(step);
            self.path.push(name.clone());
            self.form = form;
            if is_axis(value, form) || self.find(value, form.parts()) {
                return true;
            }
            self.steps.pop();
            self.path.pop();
        }
        false
    }

    /// The value at this place.
    pub fn at<'y>(&self, root: &'y Yaml) -> Option<&'y Yaml> {
        self.steps.iter().try_fold(root, |yaml, step| match &yaml.value {
            Value::Map(entries) => entries.get(*step).map(|(_, value)| value),
            _ => None,
        })
    }

    /// The document with this value at this place.
    pub fn with(&self, root: &Yaml, value: Yaml) -> Yaml {
        let mut changed = root.clone();
        let at = self.steps.iter().try_fold(&mut changed, |yaml, step| match &mut yaml.value {
            Value::Map(entries) => entries.get_mut(*step).map(|(_, value)| value),
            _ => None,
        });
        if let Some(at) = at {
            *at = value;
        }
        changed
    }

    /// The values of the axis.
    pub fn alternatives(&self, root: &Yaml) -> Vec<Alternative> {
        let Some(yaml) = self.at(root) else { return vec![] };
        let items = match &yaml.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(yaml),
        };
        if self.form != Form::Middleware {
            return items.iter().map(|item| (vec![self.choice(None, text(item))], item.clone())).collect();
        }
        items.iter().flat_map(|item| self.middlewares(item)).collect()
    }

    /// Expands `{fastdds: [udp, shm]}` to two: a transport belongs to its middleware.
    fn middlewares(&self, item: &Yaml) -> Vec<Alternative> {
        let Value::Map(entries) = &item.value else {
            return vec![(vec![self.choice(None, text(item))], item.clone())];
        };
        let [(plugin, transports)] = entries.as_slice() else {
            return vec![(vec![self.choice(None, text(item))], item.clone())];
        };
        let transports = match &transports.value {
            Value::List(transports) if !transports.is_empty() => transports.as_slice(),
            _ => std::slice::from_ref(transports),
        };
        let with = |transport: &Yaml| {
            let choices = vec![self.choice(None, text(plugin)), self.choice(Some("transport"), text(transport))];
            (choices, Yaml { span: item.span, value: Value::Map(vec![(plugin.clone(), transport.clone())]) })
        };
        transports.iter().map(with).collect()
    }

    /// Describes a value of the key itself, or of a key beside it.
    fn choice(&self, beside: Option<&str>, text: String) -> Choice {
        let mut path = self.path.clone();
        if let (Some(beside), Some(last)) = (beside, path.last_mut()) {
            *last = beside.into();
        }
        Choice { path: path.join("."), text }
    }
}

/// An empty list is not an axis: the reader reports what should be there.
fn is_axis(yaml: &Yaml, form: Form) -> bool {
    let is_scalar = |item: &Yaml| matches!(item.value, Value::Scalar(..));
    match &yaml.value {
        Value::List(items) if form.is_list() => items.iter().any(|item| !is_scalar(item)),
        Value::List(items) => !items.is_empty(),
        Value::Map(entries) if form == Form::Middleware => {
            matches!(entries.as_slice(), [(_, Yaml { value: Value::List(transports), .. })] if !transports.is_empty())
        }
        _ => false,
    }
}
