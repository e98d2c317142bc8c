//! Finds the files of a bag.

use crate::mcap::{read_up_to, MAGIC};
use crate::reader::Error;
use std::io;
use std::path::{Path, PathBuf};
use tacho_events::regular;

/// First bytes of a database (SQLite file format, 1.3.1).
const SQLITE: [u8; 16] = *b"SQLite format 3\0";

/// Returns the files among paths that a user gave, or in folders that `ros2 bag record` made, in the order in which
/// they were written: all MCAP (`.mcap`) or all SQLite (`.db3`). `None`: no path is a bag.
pub fn files(paths: &[PathBuf]) -> Result<Option<Vec<PathBuf>>, Error> {
    let mut found = Vec::new();
    for path in paths {
        found.push(of_path(path).map_err(|source| Error::Io { path: path.clone(), source })?);
        if let (Some([]), Some(other)) = (found.last().map(Vec::as_slice), other_bag(path)) {
            return Err(Error::OtherBag(other));
        }
    }
    if found.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    if let Some(other) = found.iter().position(Vec::is_empty) {
        return Err(Error::BagAndOther(paths[other].clone()));
    }
    let found = found.concat();
    if let Some(other) = found.iter().find(|path| is_sqlite(path) != is_sqlite(&found[0])) {
        return Err(Error::TwoFormats(found[0].clone(), other.clone()));
    }
    let mut any = false;
    for path in &found {
        any |= begins_as_bag(path).map_err(|source| Error::Io { path: path.clone(), source })?;
    }
    // One of several files may be empty, because it was only just created.
    if any {
        Ok(Some(found))
    } else {
        Err(Error::NotBag(found[0].clone()))
    }
}

/// Whether a bag's file is a database, by its name.
pub(super) fn is_sqlite(path: &Path) -> bool {
    ends_with(path, "db3")
}

fn begins_as_bag(path: &Path) -> io::Result<bool> {
    let expected = if is_sqlite(path) { &SQLITE[..] } else { &MAGIC };
    let mut start = [0; SQLITE.len()];
    let count = read_up_to(&mut regular::open(path)?, &mut start)?;
    Ok(start[..count].starts_with(expected))
}

fn of_path(path: &Path) -> io::Result<Vec<PathBuf>> {
    let is_bag = |path: &PathBuf| ends_with(path, "mcap") || is_sqlite(path);
    if !path.is_dir() {
        return Ok([path.to_path_buf()].into_iter().filter(is_bag).collect());
    }
    let mut found: Vec<PathBuf> = listed(path)?.into_iter().filter(is_bag).collect();
    // bag_2.mcap, then bag_10.mcap.
    found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(found)
}

/// Finds a bag in another format, at this path or in this folder.
fn other_bag(path: &Path) -> Option<PathBuf> {
    let files = if path.is_dir() { listed(path).unwrap_or_default() } else { vec![path.to_path_buf()] };
    files.into_iter().find(|path| ["bag", "zstd"].iter().any(|ending| ends_with(path, ending)))
}

fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

fn ends_with(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}
