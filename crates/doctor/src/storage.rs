//! Lints for file systems: shared memory, and where runs are written.

use crate::{FileSystem, Finding, Storage, LARGEST_MESSAGE};
use tacho_printing::size;
use tacho_runner::leftovers::Leftover;

/// Study A's largest system: 64 nodes, each with one of its largest messages in shared memory.
const SHARED_MEMORY: u64 = 64 * LARGEST_MESSAGE;
/// The most that one process may write, unless `--max-mib` changes it.
const EVENTS_OF_A_PROCESS: u64 = 1 << 30;

pub(crate) fn findings(facts: &Storage) -> Vec<Finding> {
    vec![shared_memory(facts), run_directory(facts), leftovers(facts)]
}

fn shared_memory(facts: &Storage) -> Finding {
    let name = "shared-memory";
    let Some(shm) = &facts.shm else {
        return Finding::costs(
            name,
            "no /dev/shm",
            "shared-memory transports cannot be used: zero copy, latency of large messages (study B, finding 1)",
        )
        .mend("mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm");
    };
    let (Some(total), Some(free)) = (shm.size, shm.free) else {
        return Finding::unknown(name, "the size of /dev/shm cannot be read");
    };
    let found = format!("/dev/shm {}, {} free", size(total), size(free));
    if shm.writable == Some(false) {
        return Finding::costs(
            name,
            format!("{found}, may not be written"),
            "shared-memory transports cannot be used (study B, finding 1)",
        )
        .mend("chmod 1777 /dev/shm");
    }
    if free >= SHARED_MEMORY {
        return Finding::ok(name, found);
    }
    let cost = "less than 64 nodes with one message of 2 MiB each take (study A): shared-memory transports fail, or \
                fall back to UDP unseen";
    let finding = Finding::costs(name, found, cost);
    if total >= SHARED_MEMORY {
        finding.mend("tacho doctor --clean").mend("ls -l /dev/shm   # for what other programs left behind")
    } else {
        finding.mend("mount -o remount,size=1G /dev/shm").mend("docker run --shm-size=1g ...   # in a container")
    }
}

fn run_directory(facts: &Storage) -> Finding {
    let name = "run-directory";
    let Some(FileSystem { folder, kind, free, writable, .. }) = &facts.runs else {
        return Finding::unknown(name, "the folder of runs cannot be read");
    };
    let free_text = free.map_or("free space unknown".to_owned(), |free| format!("{} free", size(free)));
    let found = format!("{} on {}, {free_text}", folder.display(), kind.as_deref().unwrap_or("an unknown file system"));
    let memory = "tacho record -o /dev/shm/run ...   # and copy the run to the disk afterwards";
    if *writable == Some(false) {
        return Finding::broken(
            name,
            format!("{found}, may not be written"),
            "runs cannot be written where they are by default",
        )
        .mend("tacho bench -o <a folder of yours> ...");
    }
    if free.is_some_and(|free| free < EVENTS_OF_A_PROCESS) {
        let cost = "less than the 1 GiB that one process may write: events are then dropped, and counted";
        return Finding::costs(name, found, cost).mend("free space there, or write elsewhere: tacho record -o RUN ...");
    }
    match kind.as_deref() {
        Some("tmpfs" | "ramfs") => Finding::ok(name, format!("{found}; events stay in memory")),
        Some(kind) if is_remote(kind) => Finding::costs(
            name,
            found,
            "events are mapped from a server: a page fault may wait for the network, in the program that is measured \
             (worst case of callback time)",
        )
        .mend(memory),
        Some(_) => Finding::costs(
            name,
            found,
            "events are brought to the disk while the run goes on: it takes CPU time and the disk from the program \
             (outliers of callback time)",
        )
        .mend(memory),
        None => Finding::unknown(name, found),
    }
}

fn leftovers(facts: &Storage) -> Finding {
    let name = "leftovers";
    let found = match &facts.leftovers {
        Some(Ok(found)) => found,
        Some(Err(error)) => return Finding::unknown(name, format!("what killed runs left is not known: {error}")),
        None => return Finding::unknown(name, "what killed runs left is not known"),
    };
    let bytes = |of: &[&Leftover]| size(of.iter().map(|leftover| leftover.bytes).sum());
    let (stay, go): (Vec<_>, Vec<_>) = found.iter().partition(|leftover| leftover.stays.is_some());
    let kept =
        if stay.is_empty() { String::new() } else { format!("; {} more ({}) may be in use", stay.len(), bytes(&stay)) };
    if go.is_empty() {
        return Finding::ok(name, format!("killed runs of this user left nothing{kept}"));
    }
    let cost = "memory until it is removed, or the machine starts again; the next run removes it, too";
    Finding::costs(name, format!("killed runs of this user left {} objects ({}){kept}", go.len(), bytes(&go)), cost)
        .mend("tacho doctor --clean")
}

fn is_remote(kind: &str) -> bool {
    kind.starts_with("nfs")
        || kind.starts_with("fuse")
        || ["cifs", "smb3", "9p", "virtiofs", "ceph", "vboxsf"].contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn shared_memory_holds_a_message_of_every_node() {
        let of = |size, free| {
            shared_memory(&Storage {
                shm: Some(FileSystem { size: Some(size), free: Some(free), ..FileSystem::default() }),
                ..Storage::default()
            })
        };
        assert_eq!(of(8 << 30, 8 << 30).verdict, Verdict::Ok);
        assert!(
            of(64 << 20, 64 << 20).verdict == Verdict::Costs
                && of(64 << 20, 64 << 20).mend[0].starts_with("mount -o remount")
        );
        assert!(of(8 << 30, 1 << 20).mend[1].starts_with("ls"));
        assert_eq!(shared_memory(&Storage::default()).verdict, Verdict::Costs);
        assert_eq!(
            shared_memory(&Storage { shm: Some(FileSystem::default()), ..Storage::default() }).verdict,
            Verdict::Unknown
        );
    }

    #[test]
    fn what_killed_runs_left_costs_and_what_may_be_in_use_does_not() {
        let left = |stays: Option<&str>| Leftover {
            what: "/dev/shm/x".into(),
            bytes: 1024,
            run: "one".into(),
            stays: stays.map(str::to_owned),
        };
        let of = |found| leftovers(&Storage { leftovers: Some(found), ..Storage::default() });
        assert_eq!(of(Ok(vec![])).verdict, Verdict::Ok);
        assert_eq!(of(Ok(vec![left(Some("process 7 uses it"))])).verdict, Verdict::Ok);
        let both = of(Ok(vec![left(None), left(Some("process 7 uses it"))]));
        assert!(
            both.verdict == Verdict::Costs
                && both.mend == ["tacho doctor --clean"]
                && both.found.contains("left 1 objects"),
            "{both:?}"
        );
        assert_eq!(of(Err("no".into())).verdict, Verdict::Unknown);
    }

    #[test]
    fn runs_cost_nothing_in_memory_alone() {
        let of = |kind: &str, free, writable| {
            let runs = FileSystem {
                kind: Some(kind.into()),
                free: Some(free),
                writable: Some(writable),
                ..FileSystem::default()
            };
            run_directory(&Storage { runs: Some(runs), ..Storage::default() })
        };
        assert_eq!(of("tmpfs", 8 << 30, true).verdict, Verdict::Ok);
        assert_eq!(of("ext4", 8 << 30, true).verdict, Verdict::Costs);
        assert!(of("nfs4", 8 << 30, true).cost.unwrap().contains("server"));
        assert!(of("tmpfs", 1 << 20, true).cost.unwrap().contains("dropped"));
        assert_eq!(of("tmpfs", 8 << 30, false).verdict, Verdict::Broken);
        assert_eq!(run_directory(&Storage::default()).verdict, Verdict::Unknown);
    }
}
