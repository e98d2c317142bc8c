//! Names that many rows have, once.

use std::collections::HashMap;

/// Names in the order in which they were first asked for.
#[derive(Default)]
pub struct Names {
    numbers: HashMap<String, i64>,
    names: Vec<String>,
}

impl Names {
    /// The number of a name.
    pub fn number(&mut self, name: &str) -> i64 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as i64;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }

    /// All of them, by number.
    pub fn all(self) -> Vec<String> {
        self.names
    }
}
