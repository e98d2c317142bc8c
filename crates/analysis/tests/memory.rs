//! Memory of a run of some length and of one four times as long, whose tables lie in files: what grows in memory would
//! show as a ratio near four. A process of its own: it counts everything that is allocated in it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use tacho_events::testing::FileBuilder;
use tacho_tables::in_order::use_threads;
use tacho_tables::rows;

/// The system's allocator, and how much was had of it at most.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const STEP_NS: i64 = 1_000_000_000;

/// Two nodes on ROS 1, the second of which hears the first over TCP, and two on ROS 2, the first of which calls the
/// second.
fn system(steps: u64) -> FileBuilder {
    let mut b = FileBuilder::new()
        .process(1)
        .at(0)
        .ros1_node_init(1, "/talker")
        .ros1_publisher_init(0x20, 1, 10, false, "/chatter", "std_msgs/String")
        .at(20)
        .ros1_subscriber_link_init(0x30, 0x31, 1, 7000, 8000, "/chatter", "/listener")
        .process(2)
        .at(0)
        .ros1_node_init(1, "/listener")
        .ros1_subscription_init(0x40, 1, 2, "/chatter", "std_msgs/String")
        .at(15)
        .ros1_publisher_link_init(0x30, 1, 8000, 7000, 0, "/chatter")
        .process(3)
        .at(0)
        .rcl_init(1)
        .rcl_node_init(1, 2, "planner", "/")
        .rmw_client_init(0x61, [7, 8])
        .rcl_client_init(0x60, 1, 0x61, "/get_map")
        .process(4)
        .at(0)
        .rcl_init(1)
        .rcl_node_init(1, 2, "map", "/")
        .rcl_service_init(0x70, 1, 0x71, "/get_map")
        .rclcpp_service_callback_added(0x70, 0x72);
    for step in 0..steps {
        let (at, sequence) = ((step as i64 + 1) * STEP_NS, step as i64);
        b = b
            .process(1)
            .at(at)
            .ros1_publish(0x20, 0)
            .ros1_serialized(0xa, 8, 0)
            .ros1_enqueue(0x30, 0xa)
            .at(at + 10)
            .ros1_write(0x31, step, 0xa, 0);
        b = b
            .process(2)
            .at(at + 50)
            .ros1_receive(0x30, 1, step, 0x9, 0, 0)
            .ros1_queue_push(0x40, 0x41, 1)
            .ros1_received(0x30)
            .at(at + 60)
            .ros1_take(0x41, 1)
            .callback_start(0x40, false)
            .at(at + 70)
            .callback_end(0x40);
        b = b.process(3).at(at + 100).rmw_send_request(0x61, 0x90, sequence);
        b = b
            .process(4)
            .at(at + 200)
            .rclcpp_executor_get_next_ready()
            .rmw_take_request(0x71, 0x91, [7, 8], sequence, true)
            .callback_start(0x72, false)
            .at(at + 300)
            .callback_end(0x72)
            .rmw_send_response(0x71, 0x92, [7, 8], sequence, 0);
        b = b
            .process(3)
            .at(at + 400)
            .rclcpp_executor_get_next_ready()
            .rmw_take_response(0x61, 0x93, sequence, 0, true)
            .at(at + 500)
            .rclcpp_executor_wait_for_work(-1);
    }
    b
}

/// Bytes that the analysis of so many steps held at most.
fn most_held(steps: u64) -> usize {
    let folder = tempfile::tempdir().expect("folder");
    let builder = system(steps);
    let run = builder.write(folder.path()).expect("write");
    drop(builder);
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let tables = tacho_analysis::analyse(&run, None, &mut |_| {}).expect("analyse");
    assert_eq!((tables.services.len() as u64, tables.messages.len() as u64), (steps, steps));
    assert!(tables.services.iter().all(|call| call.response_taken_ns.is_some() && call.execution.is_some()));
    assert!(tables
        .messages
        .iter()
        .all(|message| message.publish_ns.get().is_some() && message.callback_ns.get().is_some()));
    assert_eq!((tables.layers.len() as u64, tables.services.in_file()), (steps, true));
    MOST.load(Ordering::Relaxed) - before
}

#[test]
fn ros1_and_services_take_no_more_memory_for_a_run_four_times_as_long() {
    rows::keep_in_memory(0);
    use_threads(1);
    let (short, long) = (most_held(25_000), most_held(100_000));
    println!("{short} and {long} bytes");
    assert!((long as f64) < 2.0 * short as f64, "{short} and {long} bytes");
}
