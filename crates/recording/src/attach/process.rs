//! A process that tacho is attached to: its event file, and what /proc says about it.

use super::earlier::Earlier;
use super::library;
use crate::machine;
use std::fs::File;
use std::io;
use std::path::Path;
use tacho_events::layout::FileHeader;
use tacho_events::writer::EventFile;

/// What was recorded of a process, and what is known about it.
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
    /// Events dropped because its file had reached its limit.
    pub beyond_limit: u64,
}

pub(super) struct Process {
    pub file: EventFile,
    pub earlier: Earlier<File>,
    pub facts: Attached,
}

impl Process {
    pub fn new(pid: u32, release: Option<(u16, u8, u8)>, events: &Path) -> io::Result<Process> {
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

/// Returns whether the process exists and is not a zombie.
pub(super) fn runs(pid: u32) -> bool {
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

pub(super) fn command(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').replace('\0', " ")
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
}
