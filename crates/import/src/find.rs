//! Finds traces below a path.

use crate::index;
use std::io;
use std::path::{Path, PathBuf};

/// Deepest nesting of folders; LTTng's deepest layout (rotated, per process) has nine levels.
const DEPTH_MAX: usize = 24;

/// A folder that holds a metadata file, and the files beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder {
    pub metadata: PathBuf,
    pub streams: Vec<PathBuf>,
    /// Streams of which only the index exists.
    pub lacking: Vec<PathBuf>,
}

/// Every trace at or below `path`, in the order of names.
pub(crate) fn traces(path: &Path) -> io::Result<Vec<Folder>> {
    let start = match path.file_name() {
        Some(name) if name == "metadata" && path.is_file() => path.parent().unwrap_or(Path::new(".")),
        _ => path,
    };
    let mut found = Vec::new();
    visit(start, 0, &mut found)?;
    Ok(found)
}

fn visit(folder: &Path, depth: usize, found: &mut Vec<Folder>) -> io::Result<()> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        // Links to folders are not followed, because they may form circles.
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        } else if !hidden && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    let metadata = folder.join("metadata");
    if files.contains(&metadata) {
        files.retain(|file| *file != metadata);
        files.sort();
        // Unreadable indices are reported with the file that each belongs to.
        let mut lacking = index::streams(folder).unwrap_or_default();
        lacking.retain(|stream| files.binary_search(stream).is_err());
        lacking.sort();
        found.push(Folder { metadata, streams: files, lacking });
        return Ok(());
    }
    folders.sort();
    if depth < DEPTH_MAX {
        folders.iter().try_for_each(|folder| visit(folder, depth + 1, found))?;
    }
    Ok(())
}
