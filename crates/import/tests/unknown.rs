//! Unknown events of ROS, and traces without any: the reader reports them and what it expected.

mod written;

use tacho_events::run::RunInfo;
use tacho_events::RunDirectory;
use tacho_import::{import, Imported, Reader};
use written::{preamble, write, Bits};

const STREAM: &str = "stream { event.header := struct { u16 id; time_t timestamp; };
    event.context := struct { i32 _vpid; i32 _vtid; }; };";

/// Events of the classes of `described`, each with one word.
fn imported(described: &str, ids: &[i128]) -> (Imported, RunInfo, Vec<(String, u64, String)>) {
    let folder = tempfile::tempdir().expect("folder");
    let event = |bits: Bits, (time, id): (usize, &i128)| {
        bits.put(*id, 16).put(time as i128, 64).put(7, 32).put(8, 32).put(5, 64)
    };
    let bytes = ids.iter().enumerate().fold(Bits::new(false), event).bytes();
    let trace = write(&folder.path().join("trace"), &(preamble(false, "", "") + STREAM + described), &[bytes]);
    let run = RunDirectory::new(folder.path().join("run"));
    let imported =
        import(Reader::open(&[trace]).expect("trace"), &run, RunInfo::default(), &mut |_| true).expect("imported");
    let notes = tacho_analysis::analyse(&run, None, &mut |_| {}).expect("analysed").notes;
    (
        imported,
        run.info().expect("run.json"),
        notes.into_iter().map(|note| (note.name, note.count, note.text)).collect(),
    )
}

#[test]
fn events_of_ros_that_are_not_known_are_noted_by_name_and_count() {
    let (imported, info, notes) = imported(
        "event { id = 0; name = \"ros2:rcl_init\"; fields := struct { u64 _context_handle; }; };
         event { id = 1; name = \"ros2:rclcpp_from_the_future\"; fields := struct { u64 _x; }; };
         event { id = 2; name = \"ros2:callback_end\"; fields := struct { u64 _renamed; }; };
         event { id = 3; name = \"myco:step\"; fields := struct { u64 _x; }; };
         event { id = 4; name = \"ros2:rcl_never\"; fields := struct { u64 _x; }; };",
        &[0, 1, 1, 2, 3],
    );
    assert_eq!((imported.events, imported.of_ros), (1, 1));
    let unknown: Vec<_> = info.unknown_events.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(unknown, [("ros2:callback_end", 1), ("ros2:rclcpp_from_the_future", 2)]);
    let (_, count, text) = notes.iter().find(|(name, ..)| name == "unknown-ros-events").expect("noted");
    assert_eq!(*count, 3);
    assert!(text.contains("ros2:rclcpp_from_the_future (2), ros2:callback_end (1)"), "{text}");
    assert!(!info.missing.iter().any(|text| text.contains("no events of ROS in it")), "{:?}", info.missing);
}

#[test]
fn a_trace_without_events_of_ros_says_so_and_what_to_enable() {
    let (imported, info, _) =
        imported("event { id = 3; name = \"myco:step\"; fields := struct { u64 _x; }; };", &[3, 3]);
    assert_eq!((imported.events, imported.of_ros), (0, 0));
    let said = info.missing.iter().find(|text| text.contains("no events of ROS in it")).expect("said");
    for expected in ["myco:step (2)", "lttng enable-event --userspace 'ros2:*'", "--type=vpid", "ros2 trace"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn events_of_ros_of_which_none_can_be_used_are_not_called_absent() {
    let (_, info, _) =
        imported("event { id = 1; name = \"ros2:rclcpp_from_the_future\"; fields := struct { u64 _x; }; };", &[1]);
    let said = info.missing.iter().find(|text| text.contains("none of the 1 events of ROS")).expect("said");
    assert!(said.contains("ros2:rclcpp_from_the_future (1)"), "{said}");
}
