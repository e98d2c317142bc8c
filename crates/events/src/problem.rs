//! Counts by name what could not be read: a damaged trace is still a trace, and reports what it lacks.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// One kind of damage in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Short stable name, `record-beyond-chunk`.
    pub name: &'static str,
    /// File it is in.
    pub file: PathBuf,
    /// Byte offset of the first one.
    pub offset: u64,
    /// How many.
    pub count: u64,
    /// What was found the first time, and what was expected.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: offset {}: {}", self.name, self.file.display(), self.offset, self.text)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

/// All damage found in one reading, one entry for each name and file.
#[derive(Debug, Clone, Default)]
pub struct Problems(BTreeMap<(PathBuf, &'static str), Problem>);

impl Problems {
    /// Counts one; `text` is only made for the first of its name in its file.
    pub fn add(&mut self, name: &'static str, file: &Path, offset: u64, text: impl FnOnce() -> String) {
        self.0.entry((file.to_path_buf(), name)).and_modify(|p| p.count += 1).or_insert_with(|| Problem {
            name,
            file: file.to_path_buf(),
            offset,
            count: 1,
            text: text(),
        });
    }

    /// By file, then name.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.values()
    }

    /// Returns how often a name was counted, over all files.
    pub fn count(&self, name: &str) -> u64 {
        self.0.values().filter(|p| p.name == name).map(|p| p.count).sum()
    }

    /// Returns whether nothing was damaged.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
