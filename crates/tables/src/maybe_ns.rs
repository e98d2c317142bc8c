//! A time that may be absent, in eight bytes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// ns, or none. An `Option<i64>` takes twice the memory, and long tables hold many millions of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MaybeNs(i64);

/// No clock and no length of time is 292 years below zero.
const ABSENT: i64 = i64::MIN;

impl MaybeNs {
    /// None.
    pub const NONE: MaybeNs = MaybeNs(ABSENT);

    /// The time, if there is one.
    pub const fn get(self) -> Option<i64> {
        match self.0 {
            ABSENT => None,
            ns => Some(ns),
        }
    }
}

impl Default for MaybeNs {
    fn default() -> MaybeNs {
        MaybeNs::NONE
    }
}

impl From<Option<i64>> for MaybeNs {
    fn from(ns: Option<i64>) -> MaybeNs {
        MaybeNs(ns.unwrap_or(ABSENT))
    }
}

impl From<i64> for MaybeNs {
    fn from(ns: i64) -> MaybeNs {
        MaybeNs(ns)
    }
}

impl PartialEq<Option<i64>> for MaybeNs {
    fn eq(&self, other: &Option<i64>) -> bool {
        self.get() == *other
    }
}

impl fmt::Debug for MaybeNs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Serialize for MaybeNs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'a> Deserialize<'a> for MaybeNs {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<MaybeNs, D::Error> {
        Option::deserialize(deserializer).map(MaybeNs::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_it_was_made_of_in_half_the_memory() {
        for ns in [None, Some(0), Some(-1), Some(i64::MAX), Some(i64::MIN + 1)] {
            assert_eq!(MaybeNs::from(ns).get(), ns);
            let text = serde_json::to_string(&MaybeNs::from(ns)).expect("JSON");
            assert_eq!(text, serde_json::to_string(&ns).expect("JSON"));
            assert_eq!(serde_json::from_str::<MaybeNs>(&text).expect("read").get(), ns);
        }
        assert_eq!(size_of::<MaybeNs>() * 2, size_of::<Option<i64>>());
    }
}
