//! Small systems, event by event. Handles are made of a process's own base: two processes share the same pointers on
//! purpose.
#![allow(dead_code)] // each test file uses its part

use tacho_events::testing::FileBuilder;
use tacho_tables::Tables;

pub const NODE: u64 = 0x10;
pub const PUBLISHER: u64 = 0x20;
pub const RMW_PUBLISHER: u64 = 0x21;
pub const SUBSCRIPTION: u64 = 0x30;
pub const RMW_SUBSCRIPTION: u64 = 0x31;
pub const OBJECT: u64 = 0x32;
pub const CALLBACK: u64 = 0x33;
pub const TIMER: u64 = 0x40;
pub const TIMER_CALLBACK: u64 = 0x41;
pub const MESSAGE: u64 = 0x50;

/// Analyses what a builder wrote.
pub fn tables(builder: &FileBuilder) -> Tables {
    tables_of(builder, None)
}

pub fn tables_of(builder: &FileBuilder, workload: Option<&tacho_workload::model::Workload>) -> Tables {
    let folder = tempfile::tempdir().expect("folder");
    let run = builder.write(folder.path()).expect("write");
    tacho_analysis::analyse(&run, workload, &mut |_| {}).expect("analyse")
}

/// The same with what a links file states.
pub fn tables_with(builder: &FileBuilder, stated: &str) -> Tables {
    let stated = tacho_workload::links::parse(stated, "links.yaml").unwrap_or_else(|e| panic!("{e}"));
    let folder = tempfile::tempdir().expect("folder");
    let run = builder.write(folder.path()).expect("write");
    tacho_analysis::analyse_with(&run, None, &stated, &mut |_| {}).expect("analyse").tables
}

/// The parts that a rclcpp program is made of, in rclcpp's order of events.
pub trait Scene {
    fn node(self, pid: u32, name: &str) -> Self;
    fn publisher(self, topic: &str) -> Self;
    fn subscription(self, topic: &str) -> Self;
    /// One that keeps so many messages; others keep 10.
    fn subscription_of_depth(self, depth: u64, topic: &str) -> Self;
    /// A second subscription of the process.
    fn another_subscription(self, offset: u64, topic: &str) -> Self;
    fn timer(self, period_ns: i64) -> Self;
    fn start_timer(self) -> Self;
    fn end_timer(self) -> Self;
    fn publish(self, stamp: i64) -> Self;
    fn start_taking(self, stamp: i64) -> Self;
    fn start_taking_from(self, offset: u64, stamp: i64) -> Self;
    fn end_taking(self) -> Self;
    fn end_taking_from(self, offset: u64) -> Self;
}

impl Scene for FileBuilder {
    fn node(self, pid: u32, name: &str) -> Self {
        self.process(pid).at(0).rcl_init(1).rcl_node_init(NODE, NODE + 1, name, "/")
    }

    fn publisher(self, topic: &str) -> Self {
        self.rmw_publisher_init(RMW_PUBLISHER, [1, 2]).rcl_publisher_init(PUBLISHER, NODE, RMW_PUBLISHER, 10, topic)
    }

    fn subscription(self, topic: &str) -> Self {
        self.another_subscription(0, topic)
    }

    fn subscription_of_depth(self, depth: u64, topic: &str) -> Self {
        subscription(self, 0, depth, topic)
    }

    fn another_subscription(self, offset: u64, topic: &str) -> Self {
        subscription(self, offset, 10, topic)
    }

    fn timer(self, period_ns: i64) -> Self {
        self.rcl_timer_init(TIMER, period_ns)
            .rclcpp_timer_callback_added(TIMER, TIMER_CALLBACK)
            .rclcpp_callback_register(TIMER_CALLBACK, "Talker::tick()")
            .rclcpp_timer_link_node(TIMER, NODE)
    }

    fn start_timer(self) -> Self {
        self.rclcpp_executor_execute(TIMER).callback_start(TIMER_CALLBACK, false)
    }

    fn end_timer(self) -> Self {
        self.callback_end(TIMER_CALLBACK)
    }

    fn publish(self, stamp: i64) -> Self {
        self.rclcpp_publish(0, MESSAGE).rcl_publish(PUBLISHER, MESSAGE).rmw_publish(RMW_PUBLISHER, MESSAGE, stamp)
    }

    fn start_taking(self, stamp: i64) -> Self {
        self.start_taking_from(0, stamp)
    }

    fn start_taking_from(self, offset: u64, stamp: i64) -> Self {
        self.rclcpp_executor_execute(SUBSCRIPTION + offset)
            .rmw_take(RMW_SUBSCRIPTION + offset, MESSAGE, stamp, true)
            .rcl_take(MESSAGE)
            .rclcpp_take(MESSAGE)
            .callback_start(CALLBACK + offset, false)
    }

    fn end_taking(self) -> Self {
        self.callback_end(CALLBACK)
    }

    fn end_taking_from(self, offset: u64) -> Self {
        self.callback_end(CALLBACK + offset)
    }
}

fn subscription(builder: FileBuilder, offset: u64, depth: u64, topic: &str) -> FileBuilder {
    builder
        .rmw_subscription_init(RMW_SUBSCRIPTION + offset, [3, 4])
        .rcl_subscription_init(SUBSCRIPTION + offset, NODE, RMW_SUBSCRIPTION + offset, depth, topic)
        .rclcpp_subscription_init(SUBSCRIPTION + offset, OBJECT + offset)
        .rclcpp_subscription_callback_added(OBJECT + offset, CALLBACK + offset)
        .rclcpp_callback_register(CALLBACK + offset, "Listener::take()")
}
