//! Names in rows of long tables.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

/// A name that many rows have, of a thread, an interrupt or a service: once in memory for as long as the program runs,
/// so that a row is copied like a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(&'static str);

static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

impl Name {
    /// The text itself.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let names = names.get_or_insert_with(HashSet::new);
        if let Some(known) = names.get(text) {
            return Name(known);
        }
        let kept: &'static str = Box::leak(text.into());
        names.insert(kept);
        Name(kept)
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
        String::deserialize(from).map(|text| Name::from(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_text_however_often_it_occurs() {
        let (one, again) = (Name::from("burner"), Name::from(String::from("burner").as_str()));
        assert_eq!((one, &*one), (again, "burner"));
        assert!(std::ptr::eq(one.as_str(), again.as_str()));
        assert_ne!(one, Name::from("other"));
    }
}
