//! Whether there is room for what an import writes, before it is begun.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tacho_events::free::free_bytes;

/// Parts of a trace's size that a run of it takes (events and tables; 0.62 were measured for 10 GB of ros2_tracing), and that analysis takes
/// meanwhile in files without a name (1.0 of the same).
const RUN: f64 = 0.7;
const MEANWHILE: f64 = 1.1;

/// Says of each file system where less is free than an import of traces of this size is likely to take. `run`: where the run is made,
/// `meanwhile`: where analysis makes files without a name; both are there.
pub fn short_of(trace_bytes: u64, run: &Path, meanwhile: &Path) -> Vec<String> {
    let needs = [(run, RUN, "the run"), (meanwhile, MEANWHILE, "analysis, meanwhile,")].map(|(path, part, what)| (path, (trace_bytes as f64 * part) as u64, what));
    let device = |path: &Path| std::fs::metadata(path).ok().map(|of| of.dev());
    let mut said = Vec::new();
    for (path, bytes, what) in needs {
        // Both may be on one.
        let others = needs.iter().filter(|other| other.0 != path && device(other.0) == device(path)).map(|other| other.1).sum::<u64>();
        if let Some(free) = free_bytes(path).filter(|free| *free < bytes + others) {
            let gb = |bytes: u64| bytes as f64 / 1e9;
            let both = if others > 0 { format!(", {:.1} with what else is there", gb(bytes + others)) } else { String::new() };
            said.push(format!("{}: {:.1} GB free; {what} takes about {:.1} GB{both}", path.display(), gb(free), gb(bytes)));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_too_little_is_free_anything_is_said() {
        let folder = tempfile::tempdir().expect("folder");
        assert_eq!(short_of(0, folder.path(), folder.path()), [] as [String; 0]);
        let said = short_of(u64::MAX / 4, folder.path(), Path::new("/dev/shm"));
        assert!(said.len() == 2 && said[0].contains("the run takes about") && said[1].starts_with("/dev/shm"), "{said:?}");
    }
}
