//! Checks before an import whether there is room for what it writes.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tacho_events::free::free_bytes;

/// Share of a trace's size that its run uses (events and tables; measured: 0.62 for 10 GB of ros2_tracing), and that
/// analysis uses temporarily in files without a name (measured: 1.0).
const RUN: f64 = 0.7;
const MEANWHILE: f64 = 1.1;

/// Reports each file system with less free space than an import of this size is likely to use. `run`: where the run is
/// made; `meanwhile`: where analysis makes files without a name. Both must exist.
pub fn short_of(trace_bytes: u64, run: &Path, meanwhile: &Path) -> Vec<String> {
    needs(trace_bytes, run, meanwhile)
        .into_iter()
        .filter(|need| need.free < need.bytes)
        .map(|need| need.text())
        .collect()
}

/// Reports how much of the run's file system an import of this size is likely to use.
pub fn needed(trace_bytes: u64, run: &Path, meanwhile: &Path) -> Option<String> {
    needs(trace_bytes, run, meanwhile).first().map(Need::text)
}

/// Space needed on one file system.
struct Need<'a> {
    path: &'a Path,
    free: u64,
    bytes: u64,
    what: &'static str,
}

impl Need<'_> {
    fn text(&self) -> String {
        format!("{}: {} free; {} about {}", self.path.display(), size(self.free), self.what, size(self.bytes))
    }
}

fn needs<'a>(trace_bytes: u64, run: &'a Path, meanwhile: &'a Path) -> Vec<Need<'a>> {
    let part = |part: f64| (trace_bytes as f64 * part) as u64;
    let device = |path: &Path| std::fs::metadata(path).ok().map(|of| of.dev());
    let of = |path: &'a Path, bytes, what| Some(Need { path, free: free_bytes(path)?, bytes, what });
    let needs = if device(run) == device(meanwhile) {
        vec![of(run, part(RUN + MEANWHILE), "the run, and analysis meanwhile, take")]
    } else {
        vec![of(run, part(RUN), "the run takes"), of(meanwhile, part(MEANWHILE), "analysis takes meanwhile")]
    };
    needs.into_iter().flatten().collect()
}

fn size(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes < 1e9 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.1} GB", bytes / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_too_little_is_free_anything_is_said() {
        let folder = tempfile::tempdir().expect("folder");
        assert_eq!(short_of(0, folder.path(), folder.path()), [] as [String; 0]);
        let said = short_of(u64::MAX / 4, folder.path(), folder.path());
        assert!(said.len() == 1 && said[0].contains("the run, and analysis meanwhile, take about"), "{said:?}");
        let said = short_of(u64::MAX / 4, folder.path(), Path::new("/dev/shm"));
        assert!(
            said.len() == 2 && said[0].contains("the run takes about") && said[1].starts_with("/dev/shm"),
            "{said:?}"
        );
    }
}
