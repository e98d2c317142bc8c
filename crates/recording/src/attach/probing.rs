//! Defines the probes, reads the calls from the kernel, and writes them in order of time.

use super::library::{self, Library};
use super::probes::{self, Field, Function};
use super::process::{command, runs, Attached, Process};
use super::record::{add_gap, parse, Record, TOO_FAST};
use crate::clock::monotonic_ns;
use crate::perf::{self, Ring};
use crate::pid_namespace;
use crate::tracefs::Tracefs;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use tacho_events::layout::CHUNK_SIZE;
use tacho_events::run::EventGap;

/// Longest time that records stay in the rings.
const DRAIN_EVERY_MS: i32 = 50;
/// Records of several CPUs are put in order when they are this old: by then all earlier ones are in the rings.
const SETTLED_NS: i64 = 5_000_000;

/// Why a process cannot be attached to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process cannot be probed.
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
    /// The ring's storage cannot be given back.
    #[error(transparent)]
    Ring(#[from] crate::ring::Error),
    /// A file of the run cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
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
    /// Most bytes of a file.
    max_bytes: u64,
    lost: u64,
    gaps: Vec<EventGap>,
}

/// The ring of one CPU, and the time of its last call.
struct CpuRing {
    ring: Ring,
    last_ns: i64,
}

struct Probe {
    function: Function,
    fields: Vec<Field>,
}

/// A call of a probed function.
struct Call {
    time: i64,
    pid: u32,
    tid: u32,
    kind: u16,
    words: Vec<u64>,
    texts: Vec<String>,
}

impl Attach {
    /// Probes the processes and makes their files in `events`, which must exist. No file grows beyond `max_bytes`.
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

    /// Removes definitions of a tacho that was killed: they cost nothing, but would stay for ever. All pid namespaces
    /// share tracefs, and of another one's processes nobody here knows whether they live.
    fn remove_leftovers(&self) {
        let here = pid_namespace::number().unwrap_or(0).to_string();
        let defined = self.tracefs.read("uprobe_events").unwrap_or_default();
        for line in defined.lines() {
            let name = line.split_whitespace().next().and_then(|word| word.split_once(':')).map(|(_, name)| name);
            let owner = name.and_then(|name| name.strip_prefix("tacho_")?.split('/').next()?.split_once('_'));
            if let (Some(name), Some((owner, namespace))) = (name, owner) {
                if namespace == here && !Path::new(&format!("/proc/{owner}")).exists() {
                    // A definition that is still in use stays.
                    let _still_used = self.remove(name);
                }
            }
        }
    }

    /// Removes a definition. One that is gone is no error: it can go only when it is no longer in use.
    fn remove(&self, name: &str) -> io::Result<()> {
        match self.tracefs.append("uprobe_events", &format!("-:{name}")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(io::Error::new(error.kind(), format!("removing the uprobe {name}: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    fn define(&mut self, index: usize, library: &Library) -> Result<(), Error> {
        let path = library.path.display();
        let owner = format!("{}_{}", std::process::id(), pid_namespace::number().unwrap_or(0));
        for function in probes::functions(library.release) {
            for variant in ["", "do_"] {
                let Some(offset) = library.functions.get(&format!("ros_trace_{variant}{}", function.name)) else {
                    continue;
                };
                let name = format!("tacho_{owner}/l{index}_{variant}{}", function.name);
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

    /// Waits briefly, then reads all calls so far. Returns whether any of the processes still runs.
    pub fn read(&mut self) -> io::Result<bool> {
        perf::wait(self.rings.iter().map(|cpu| &cpu.ring), DRAIN_EVERY_MS)?;
        let settled = monotonic_ns() - SETTLED_NS;
        self.drain();
        self.write(settled)?;
        Ok(self.processes.keys().any(|pid| runs(*pid)))
    }

    /// Records lost so far because rings were full.
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
            self.remove(&name)?;
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
            if let Err(error) = self.remove(name) {
                eprintln!("tacho: {error}");
            }
        }
    }
}

fn in_brackets(command: &str) -> String {
    match command {
        "" => String::new(),
        command => format!(" ({command})"),
    }
}
