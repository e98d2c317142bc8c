//! Interned text: names and symbols occur once here and as a number in events.

use std::collections::HashMap;
use std::sync::Arc;

/// A text of a [`Texts`] table; [`Text::EMPTY`] is the empty one of every table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(u32);

/// All texts of one reading.
#[derive(Debug, Clone)]
pub struct Texts {
    by_number: Vec<Arc<str>>,
    by_text: HashMap<Arc<str>, Text>,
}

impl Text {
    /// "".
    pub const EMPTY: Text = Text(0);
}

impl Default for Texts {
    fn default() -> Self {
        let empty: Arc<str> = Arc::from("");
        Texts { by_number: vec![empty.clone()], by_text: HashMap::from([(empty, Text::EMPTY)]) }
    }
}

impl Texts {
    /// Returns the number of a text, new or known.
    pub fn intern(&mut self, text: &str) -> Text {
        if let Some(known) = self.by_text.get(text) {
            return *known;
        }
        // More than 4 billion different names do not fit in memory either.
        let number = Text(u32::try_from(self.by_number.len()).unwrap_or(0));
        let text: Arc<str> = Arc::from(text);
        self.by_number.push(text.clone());
        self.by_text.insert(text, number);
        number
    }

    /// Returns the text of a number of this table; "" for a number of another table.
    pub fn get(&self, text: Text) -> &str {
        self.by_number.get(text.0 as usize).map_or("", |t| t)
    }
}
