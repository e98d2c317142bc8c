//! Recording programs that are running already: `tacho record --attach PID`.
//!
//! Sets uprobes on the functions of libtracetools with perf_event_open(2). Nothing is loaded into the program, and it
//! is not stopped. Each call costs it a trap into the kernel: some microseconds, while the preloaded recorder takes
//! nanoseconds. The probes are defined in tracefs (`uprobe_events`), so the kernel itself fetches arguments and texts
//! at the call. [`earlier`] reconstructs what was made before from what the program does. This needs root.

mod earlier;
mod library;
mod probes;
mod run;

pub use run::{record, Wanted};

use crate::clock::monotonic_ns;
use crate::machine;
use crate::perf::{self, Ring};
use crate::tracefs::Tracefs;
use earlier::Earlier;
use library::Library;
use probes::{Field, Function};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::path::Path;
use tacho_events::layout::{FileHeader, CHUNK_SIZE};
use tacho_events::run::EventGap;
use tacho_events::writer::EventFile;

/// Longest that records stay in the rings.
const DRAIN_EVERY_MS: i32 = 50;
/// Records of several CPUs are put in order when they are this old: by then all earlier ones are in the rings.
const SETTLED_NS: i64 = 5_000_000;
const PERF_RECORD_LOST: u32 = 2;
const PERF_RECORD_SAMPLE: u32 = 9;

/// Why a process cannot be attached to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not one that can be probed.
    #[error("process {pid}{name}: {found}")]
    Process {
        /// The pid as the user gave it.
        pid: u32,
        /// The process's command in brackets, if there is one.
        name: String,
        /// The problem.
        found: String,
    },
    /// The kernel does not let this user set probes.
    #[error("attaching needs uprobes: {0}")]
    NotPermitted(String),
    /// The user requires scheduler events, and they are not available.
    #[error("scheduler events: {0}")]
    Scheduler(String),
    /// Storage cannot be given back there.
    #[error(transparent)]
    Ring(#[from] crate::ring::Error),
    /// A file of the run.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// What was seen of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Process id, as this process sees it.
    pub pid: u32,
    /// Arguments joined by blanks.
    pub command: String,
    /// Events written.
    pub events: u64,
    /// Publishers and subscriptions that existed before and were reconstructed from memory.
    pub told: u64,
    /// Publishers and subscriptions whose topic could not be read.
    pub unreadable: u64,
    /// Whether the node's name is only the program's.
    pub node_unnamed: bool,
    /// Events that came when its file was as large as it may get.
    pub beyond_limit: u64,
}

/// Running programs that are being recorded.
pub struct Attach {
    tracefs: Tracefs,
    rings: Vec<CpuRing>,
    /// By the tracepoint's id.
    probes: HashMap<u16, Probe>,
    defined: Vec<String>,
    processes: BTreeMap<u32, Process>,
    waiting: Vec<Call>,
    /// Most that a file takes.
    max_bytes: u64,
    lost: u64,
    gaps: Vec<EventGap>,
}

/// Calls on a CPU, and when the last one was.
struct CpuRing {
    ring: Ring,
    last_ns: i64,
}

struct Probe {
    function: Function,
    fields: Vec<Field>,
}

struct Process {
    file: EventFile,
    earlier: Earlier<File>,
    facts: Attached,
}

/// A call of one of the functions.
struct Call {
    time: i64,
    pid: u32,
    tid: u32,
    kind: u16,
    words: Vec<u64>,
    texts: Vec<String>,
}

impl Attach {
    /// Probes the processes and makes their files in `events`, which is there; none grows beyond `max_bytes`.
    pub fn start(pids: &[u32], events: &Path, max_bytes: Option<u64>) -> Result<Attach, Error> {
        let mut libraries: BTreeMap<(u64, u64), Library> = BTreeMap::new();
        let mut processes = BTreeMap::new();
        let refused = |pid: u32| move |found: String| Error::Process { pid, name: in_brackets(&command(pid)), found };
        let found: Vec<(u32, Library)> = pids
            .iter()
            .map(|pid| Ok((*pid, library::of_process(*pid).map_err(refused(*pid))?)))
            .collect::<Result<_, Error>>()?;
        for (pid, library) in found {
            let process =
                Process::new(pid, library.release, events).map_err(|error| refused(pid)(error.to_string()))?;
            processes.insert(pid, process);
            libraries.insert(library.identity, library);
        }
        let not_permitted = |what: &str| {
            let what = what.to_owned();
            move |error: io::Error| {
                Error::NotPermitted(format!(
                    "{what}: {error}; run tacho as root, on a kernel with CONFIG_UPROBE_EVENTS"
                ))
            }
        };
        let tracefs = Tracefs::open().map_err(not_permitted("tracefs"))?;
        let mut attach = Attach {
            tracefs,
            rings: Vec::new(),
            probes: HashMap::new(),
            defined: Vec::new(),
            processes,
            waiting: Vec::new(),
            max_bytes: max_bytes.unwrap_or(u64::MAX),
            lost: 0,
            gaps: Vec::new(),
        };
        attach.remove_leftovers();
        for (index, library) in libraries.values().enumerate() {
            attach.define(index, library)?;
        }
        let cpus = perf::online_cpus()?;
        let ids: Vec<u64> = attach.probes.keys().map(|id| u64::from(*id)).collect();
        let begun = monotonic_ns();
        let rings = perf::open_tracepoints(&cpus, &ids).map_err(not_permitted("perf_event_open"))?;
        attach.rings = rings.into_iter().map(|ring| CpuRing { ring, last_ns: begun }).collect();
        Ok(attach)
    }

    /// Definitions of a tacho that was killed: they cost nothing, but stay.
    fn remove_leftovers(&self) {
        let defined = self.tracefs.read("uprobe_events").unwrap_or_default();
        for line in defined.lines() {
            let name = line.split_whitespace().next().and_then(|word| word.split_once(':')).map(|(_, name)| name);
            let owner = name.and_then(|name| name.strip_prefix("tacho_")?.split('/').next()?.parse::<u32>().ok());
            if let (Some(name), Some(owner)) = (name, owner) {
                if !Path::new(&format!("/proc/{owner}")).exists() {
                    // If somebody still uses it, it stays.
                    let _still_used = self.tracefs.append("uprobe_events", &format!("-:{name}"));
                }
            }
        }
    }

    fn define(&mut self, index: usize, library: &Library) -> Result<(), Error> {
        let path = library.path.display();
        for function in probes::functions(library.release) {
            for variant in ["", "do_"] {
                let Some(offset) = library.functions.get(&format!("ros_trace_{variant}{}", function.name)) else {
                    continue;
                };
                let name = format!("tacho_{}/l{index}_{variant}{}", std::process::id(), function.name);
                let line = format!("p:{name} {path}:{offset:#x}{}", probes::fetch(function.arguments));
                let refused = |error: io::Error| {
                    Error::NotPermitted(format!("uprobe_events: {line}: {error}; run tacho as root"))
                };
                self.tracefs.append("uprobe_events", &line).map_err(refused)?;
                self.defined.push(name.clone());
                let format = self.tracefs.read(&format!("events/{name}/format"))?;
                let unknown = |found: String| Error::NotPermitted(format!("tracefs events/{name}/format: {found}"));
                let id = format.lines().find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok());
                let id = id.ok_or_else(|| unknown("no ID".into()))?;
                let fields = probes::fields(function.arguments, &format).map_err(unknown)?;
                self.probes.insert(id, Probe { function, fields });
            }
        }
        Ok(())
    }

    /// Reads what has happened until now, after waiting a little for it; whether any of the processes still runs.
    pub fn read(&mut self) -> io::Result<bool> {
        perf::wait(self.rings.iter().map(|cpu| &cpu.ring), DRAIN_EVERY_MS)?;
        let settled = monotonic_ns() - SETTLED_NS;
        self.drain();
        self.write(settled)?;
        Ok(self.processes.keys().any(|pid| runs(*pid)))
    }

    /// Records lost so far, because rings were full.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the times of losses that were not reported yet.
    pub fn gaps(&mut self) -> Vec<EventGap> {
        std::mem::take(&mut self.gaps)
    }

    /// Removes the probes and completes the files. Returns also the times of losses that were not reported yet.
    pub fn finish(mut self) -> io::Result<(Vec<Attached>, Vec<EventGap>)> {
        self.drain();
        self.write(i64::MAX)?;
        self.rings.clear();
        for name in std::mem::take(&mut self.defined) {
            self.tracefs.append("uprobe_events", &format!("-:{name}"))?;
        }
        let mut attached = Vec::new();
        for (pid, mut process) in std::mem::take(&mut self.processes) {
            process.facts.told = process.earlier.told;
            process.facts.unreadable = process.earlier.unreadable;
            process.file.header.dropped = self.lost + process.facts.beyond_limit;
            match runs(pid) {
                true => process.file.flush()?, // the process continues, unobserved
                false => process.file.finish()?,
            }
            attached.push(process.facts);
        }
        Ok((attached, std::mem::take(&mut self.gaps)))
    }

    fn drain(&mut self) {
        for CpuRing { ring, last_ns } in &mut self.rings {
            let (probes, processes, waiting) = (&self.probes, &self.processes, &mut self.waiting);
            let (lost, gaps) = (&mut self.lost, &mut self.gaps);
            ring.drain(|bytes| match parse(bytes) {
                Some(Record::Call { time, pid, tid, raw }) => {
                    *last_ns = time;
                    if !processes.contains_key(&pid) {
                        return;
                    }
                    let probe = raw.first_chunk::<2>().and_then(|id| probes.get(&u16::from_le_bytes(*id)));
                    let read = probe.and_then(|probe| Some((probe, probes::read(&probe.fields, raw)?)));
                    if let Some((probe, (words, texts))) = read {
                        let texts = texts.into_iter().map(str::to_owned).collect();
                        waiting.push(Call { time, pid, tid, kind: probe.function.kind, words, texts });
                    }
                }
                Some(Record::Lost { time, count }) => {
                    *lost += count;
                    // We do not know whose events they were, so they count as missing in all processes.
                    add_gap(
                        gaps,
                        EventGap {
                            boot_id: None,
                            from_ns: *last_ns,
                            to_ns: time,
                            events: Some(count),
                            cause: TOO_FAST.into(),
                        },
                    );
                    *last_ns = time;
                }
                None => {}
            });
        }
    }

    fn write(&mut self, settled: i64) -> io::Result<()> {
        self.waiting.sort_by_key(|call| call.time); // stable: calls of one thread stay in their order
        let ready = self.waiting.partition_point(|call| call.time <= settled);
        for call in self.waiting.drain(..ready) {
            let Some(process) = self.processes.get_mut(&call.pid) else { continue };
            if process.file.bytes() + CHUNK_SIZE as u64 > self.max_bytes {
                process.facts.beyond_limit += 1;
                continue;
            }
            for (kind, words, texts) in process.earlier.before(call.tid, call.kind, &call.words) {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                process.file.put(call.tid, call.time as u64, kind, &words, &texts)?;
            }
            let texts: Vec<&str> = call.texts.iter().map(String::as_str).collect();
            process.file.put(call.tid, call.time as u64, call.kind, &call.words, &texts)?;
            process.facts.events += 1;
        }
        self.processes.values_mut().try_for_each(|process| {
            process.file.header.dropped = self.lost + process.facts.beyond_limit;
            process.file.flush()
        })
    }
}

impl Drop for Attach {
    fn drop(&mut self) {
        self.rings.clear(); // a definition in use cannot be removed
        for name in &self.defined {
            if let Err(error) = self.tracefs.append("uprobe_events", &format!("-:{name}")) {
                eprintln!("tacho: removing the uprobe {name}: {error}");
            }
        }
    }
}

impl Process {
    fn new(pid: u32, release: Option<(u16, u8, u8)>, events: &Path) -> io::Result<Process> {
        let environment = library::environment(pid);
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
        let executable = std::fs::read_link(format!("/proc/{pid}/exe"))?;
        let command = command(pid);
        let named = node_name(&command);
        let program =
            executable.file_name().map_or_else(|| "program".into(), |name| name.to_string_lossy().into_owned());
        let node_name = named.clone().unwrap_or_else(|| format!("{program}_{pid}"));
        let header = FileHeader {
            pid,
            ppid: parent(pid).unwrap_or(0),
            tracetools: release,
            ros_distro: environment.get("ROS_DISTRO").cloned().unwrap_or_default(),
            rmw_implementation: rmw(&maps).unwrap_or_default(),
            executable: executable.to_string_lossy().into_owned(),
            command: command.clone(),
            ..machine::file_header()
        };
        let file = EventFile::create(&events.join(format!("{pid}-{}.events", header.start.monotonic_ns)), header)?;
        let memory = File::open(format!("/proc/{pid}/mem"))?;
        let facts = Attached {
            pid,
            command,
            events: 0,
            told: 0,
            unreadable: 0,
            node_unnamed: named.is_none(),
            beyond_limit: 0,
        };
        Ok(Process { file, earlier: Earlier::new(memory, node_name), facts })
    }
}

enum Record<'a> {
    Call { time: i64, pid: u32, tid: u32, raw: &'a [u8] },
    Lost { time: i64, count: u64 },
}

const TOO_FAST: &str = "calls came faster than tacho could read them";

/// Joins gaps that follow each other directly, or overlap.
fn add_gap(gaps: &mut Vec<EventGap>, gap: EventGap) {
    match gaps.last_mut().filter(|last| last.to_ns >= gap.from_ns && gap.to_ns >= last.from_ns) {
        Some(last) => {
            (last.from_ns, last.to_ns) = (last.from_ns.min(gap.from_ns), last.to_ns.max(gap.to_ns));
            last.events = last.events.zip(gap.events).map(|(a, b)| a + b);
        }
        None => gaps.push(gap),
    }
}

/// Parses a record of perf_event_open(2). Samples hold TID, TIME and RAW; all other records have these, except RAW, at
/// their end.
fn parse(bytes: &[u8]) -> Option<Record<'_>> {
    let u32_at = |at: usize| bytes.get(at..)?.first_chunk::<4>().map(|word| u32::from_le_bytes(*word));
    let u64_at = |at: usize| bytes.get(at..)?.first_chunk::<8>().map(|word| u64::from_le_bytes(*word));
    match u32_at(0)? {
        PERF_RECORD_SAMPLE => {
            let size = u32_at(24)? as usize;
            Some(Record::Call {
                pid: u32_at(8)?,
                tid: u32_at(12)?,
                time: u64_at(16)? as i64,
                raw: bytes.get(28..28 + size)?,
            })
        }
        PERF_RECORD_LOST => Some(Record::Lost { count: u64_at(16)?, time: u64_at(32)? as i64 }),
        _ => None,
    }
}

/// Returns whether the process exists and is not a zombie.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().next())
        .is_some_and(|state| state != "Z" && state != "X")
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

fn command(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').replace('\0', " ")
}

fn in_brackets(command: &str) -> String {
    match command {
        "" => String::new(),
        command => format!(" ({command})"),
    }
}

/// `__node:=NAME` of the command line, which launch files give to a process of one node.
fn node_name(command: &str) -> Option<String> {
    let mut names = command.split(' ').filter_map(|word| word.strip_prefix("__node:="));
    names.next().filter(|_| names.next().is_none()).map(str::to_owned)
}

/// Returns the middleware among the mapped files: librmw_NAME.so, unless it is one of the layers around it.
fn rmw(maps: &str) -> Option<String> {
    let files = maps.lines().filter_map(|line| line.rsplit('/').next()?.strip_prefix("lib")?.split(".so").next());
    let others = |name: &str| {
        ["rmw_implementation", "rmw_dds_common", "rmw_security_common"].iter().any(|other| name.starts_with(other))
    };
    files
        .filter(|name| {
            name.starts_with("rmw_") && !others(name) && !name.contains("_shared_cpp") && !name.contains("__rosidl")
        })
        .map(str::to_owned)
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_named_by_its_launch_file_where_it_is_alone() {
        assert_eq!(node_name("/opt/talker --ros-args -r __node:=lidar -r __ns:=/front"), Some("lidar".into()));
        assert_eq!(node_name("/opt/container -r a:__node:=b"), None);
        assert_eq!(node_name("x __node:=a __node:=b"), None);
    }

    #[test]
    fn the_middleware_is_found_among_mapped_files() {
        let maps = "1-2 r-xp 0 0:0 1 /x/librmw_implementation.so\n1-2 r-xp 0 0:0 1 /x/librmw_fastrtps_shared_cpp.so\n\
                    1-2 r-xp 0 0:0 1 /x/librmw_fastrtps_cpp.so\n";
        assert_eq!(rmw(maps), Some("rmw_fastrtps_cpp".into()));
    }

    #[test]
    fn a_record_cut_short_is_none() {
        let mut bytes = vec![0; 40];
        bytes[0] = PERF_RECORD_SAMPLE as u8;
        bytes[24] = 12;
        assert!(matches!(parse(&bytes), Some(Record::Call { raw: [_, ..], .. })));
        let lost = [2u32, 40 << 16].map(u32::to_le_bytes).concat();
        let lost = [lost, [77u64, 12, 0, 5_000].map(u64::to_le_bytes).concat()].concat();
        assert!(matches!(parse(&lost), Some(Record::Lost { time: 5_000, count: 12 })));
        bytes[24] = 13;
        assert!(parse(&bytes).is_none());
        assert!(parse(&bytes[..3]).is_none());
    }

    #[test]
    fn gaps_that_touch_each_other_are_one() {
        let gap = |from_ns, to_ns| EventGap { boot_id: None, from_ns, to_ns, events: Some(1), cause: TOO_FAST.into() };
        let mut gaps = Vec::new();
        [gap(10, 20), gap(20, 25), gap(5, 12), gap(40, 50)].into_iter().for_each(|found| add_gap(&mut gaps, found));
        let told: Vec<_> = gaps.iter().map(|gap| (gap.from_ns, gap.to_ns, gap.events)).collect();
        assert_eq!(told, [(5, 25, Some(3)), (40, 50, Some(1))]);
    }
}
