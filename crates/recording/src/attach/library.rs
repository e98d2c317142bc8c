//! Describes the libtracetools that a running process has loaded: its path, its functions and its release.

use object::{Object, ObjectSegment, ObjectSymbol};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A library file as the attaching process sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Library {
    /// Through /proc/PID/root, so that a container's file is found, too.
    pub path: PathBuf,
    /// Device and inode, of which each library is probed once.
    pub identity: (u64, u64),
    /// Release, if it is known.
    pub release: Option<(u16, u8, u8)>,
    /// Offsets in the file of its functions `ros_trace_*`.
    pub functions: HashMap<String, u64>,
}

/// Returns the library that a process has mapped. The error says what was found instead.
pub(super) fn of_process(pid: u32) -> Result<Library, String> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such process (any more)".to_owned(),
        std::io::ErrorKind::PermissionDenied => {
            "it is another user's: attaching needs root; run the same with sudo".to_owned()
        }
        _ => format!("/proc/{pid}/maps: {error}"),
    })?;
    let mapped = mapped_file(&maps, "libtracetools.so").ok_or_else(|| {
        "it has no libtracetools.so loaded: not a ROS 2 program of Humble or later, one that is not up yet, or only \
         what started one (ros2 run, ros2 launch, a shell): attach to the program itself"
            .to_owned()
    })?;
    let path = PathBuf::from(format!("/proc/{pid}/root{mapped}"));
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = std::fs::read(&path).map_err(|error| at(&error))?;
    let functions = functions(&bytes).map_err(|error| at(&error))?;
    if functions.is_empty() {
        return Err(at(&"has no functions ros_trace_*: built with TRACETOOLS_DISABLED"));
    }
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(&path).map_err(|error| at(&error))?;
    let release = release(&path, &functions, &environment(pid));
    Ok(Library { identity: (metadata.dev(), metadata.ino()), release, functions, path })
}

/// Returns the path of the first mapped file with this name, with or without a version.
pub(super) fn mapped_file<'a>(maps: &'a str, name: &str) -> Option<&'a str> {
    maps.lines().filter_map(|line| line.split_once('/').map(|(before, _)| &line[before.len()..])).find(|path| {
        let file = path.rsplit('/').next().unwrap_or_default();
        file.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Returns the environment with which a process was started; empty if we may not read it.
pub(super) fn environment(pid: u32) -> HashMap<String, String> {
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.split('\0')
        .filter_map(|entry| entry.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn functions(bytes: &[u8]) -> Result<HashMap<String, u64>, object::Error> {
    let file = object::File::parse(bytes)?;
    let in_file = |address| {
        offset_in_file(
            address,
            file.segments().map(|segment| (segment.address(), segment.size(), segment.file_range().0)),
        )
    };
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    Ok(defined
        .filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| name.starts_with("ros_trace_"))?;
            Some((name.to_owned(), in_file(symbol.address())?))
        })
        .collect())
}

/// Returns where an address is in the file, from the address, size and offset of each segment. It accepts any values,
/// because the file is not ours.
fn offset_in_file(address: u64, mut segments: impl Iterator<Item = (u64, u64, u64)>) -> Option<u64> {
    let within = |(start, size, offset): (u64, u64, u64)| {
        address.checked_sub(start).filter(|at| *at < size)?.checked_add(offset)
    };
    segments.find_map(within)
}

/// Determines the release from `share/tracetools/package.xml`, otherwise from the library's functions. Iron and Jazzy
/// have the same functions; ROS_DISTRO decides there (docs/event-file.md, "Which tracetools").
fn release(
    library: &Path,
    functions: &HashMap<String, u64>,
    environment: &HashMap<String, String>,
) -> Option<(u16, u8, u8)> {
    let beside = library.ancestors().skip(2).take(2).find_map(|prefix| {
        let text = std::fs::read_to_string(prefix.join("share/tracetools/package.xml")).ok()?;
        version(text.split_once("<version>")?.1.split_once('<')?.0)
    });
    let has = |name: &str| functions.contains_key(name);
    beside.or_else(|| match () {
        () if has("ros_trace_rmw_client_init") => Some((8, 6, 0)),
        () if !has("ros_trace_rclcpp_intra_publish") => Some((4, 1, 0)),
        () => match environment.get("ROS_DISTRO").map(String::as_str) {
            Some("iron") => Some((6, 3, 0)),
            Some("jazzy") => Some((8, 2, 0)),
            _ => None,
        },
    })
}

fn version(text: &str) -> Option<(u16, u8, u8)> {
    let mut parts = text.trim().split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_is_found_by_its_name_alone() {
        let maps = "7f00-7f01 r--p 00000000 fe:00 1 /opt/ros/lib/libtracetools_image.so\n\
                    7f01-7f02 r-xp 00009000 fe:00 2 /opt/a b/lib/libtracetools.so.8\n\
                    7f03-7f04 rw-p 00000000 00:00 0 [heap]\n";
        assert_eq!(mapped_file(maps, "libtracetools.so"), Some("/opt/a b/lib/libtracetools.so.8"));
        assert_eq!(mapped_file(maps, "librcl.so"), None);
    }

    #[test]
    fn an_address_is_found_in_its_segment_and_none_beyond_the_end_of_what_addresses_there_are() {
        let segments =
            [(0x1000, 0x100, 0), (0x2000, 0x800, 0x1000), (u64::MAX - 4, u64::MAX, 8), (0x9000, 1, u64::MAX)];
        let found = |address| offset_in_file(address, segments.into_iter());
        assert_eq!(
            [found(0x10ff), found(0x1100), found(0x2010), found(u64::MAX)],
            [Some(0xff), None, Some(0x1010), Some(12)]
        );
        assert_eq!([found(0xfff), found(0x9000), found(0x9001)], [None, Some(u64::MAX), None]);
    }

    #[test]
    fn without_a_package_the_functions_tell_the_release() {
        let functions = |names: &[&str]| names.iter().map(|name| (name.to_string(), 0)).collect::<HashMap<_, _>>();
        let environment = |distro: &str| HashMap::from([("ROS_DISTRO".to_owned(), distro.to_owned())]);
        let told = |names: &[&str], distro: &str| {
            release(Path::new("/nowhere/lib/libtracetools.so"), &functions(names), &environment(distro))
        };
        assert_eq!(told(&["ros_trace_rcl_init"], ""), Some((4, 1, 0)));
        assert_eq!(told(&["ros_trace_rclcpp_intra_publish"], "jazzy"), Some((8, 2, 0)));
        assert_eq!(told(&["ros_trace_rclcpp_intra_publish"], "iron"), Some((6, 3, 0)));
        assert_eq!(told(&["ros_trace_rclcpp_intra_publish"], ""), None);
        assert_eq!(told(&["ros_trace_rclcpp_intra_publish", "ros_trace_rmw_client_init"], ""), Some((8, 6, 0)));
    }
}
