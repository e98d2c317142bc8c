//! The entities of a node: subscriptions, publishers, timers. Each is traced as rclcpp traces it.

use crate::node::refusals::Refusals;
use crate::node::signal::{Arrivals, Available, Signal};
use crate::node::trace::Trace;
use crate::protocol::{Input, NodePlan, Output};
use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use tacho_middleware::{Endpoint, Error, NodeHandle, Publisher, Session, Subscription};
use tacho_workload::model::Publication;
use tacho_workload::random::Draws;

/// An address that is unique while the process runs; it stands for an object of the client library.
pub fn address() -> u64 {
    Box::leak(Box::new(0u64)) as *mut u64 as u64
}

fn c_text(text: &str) -> CString {
    CString::new(text).expect("names of a workload hold no NUL")
}

/// A subscription and its callback.
pub struct NodeSubscription {
    /// The middleware's subscription.
    pub subscription: Subscription,
    /// Its handle in the middleware.
    pub handle: u64,
    /// Address of its object in the client library.
    pub object: u64,
    /// Address of its callback.
    pub callback: u64,
    /// Whether messages are only kept as the latest.
    pub latest: bool,
    /// Whether a message may be available.
    pub available: Arc<Available>,
    /// Number of publishers that it should match.
    pub expected: usize,
    /// Its topic.
    pub topic: String,
    /// Messages taken.
    pub taken: u64,
}

/// A publisher.
pub struct NodePublisher {
    /// The middleware's publisher.
    pub publisher: Publisher,
    /// Its handle in the middleware.
    pub handle: u64,
    /// Id, unique in the run.
    pub id: u32,
    /// Sequence number of the next message.
    pub sequence: u64,
    /// Bytes of data in a message.
    pub size: u64,
    /// Its own rate, if the workload gives one.
    pub rate_hz: Option<f64>,
    /// Number of subscriptions that it should match.
    pub expected: usize,
    /// Its topic.
    pub topic: String,
    /// Sends that were due but did not happen; `None` if it has no rate.
    pub skipped: Option<u64>,
    /// Sends that the middleware refused.
    pub refusals: Refusals,
}

/// A timer and its callback.
#[derive(Debug, Clone, Copy)]
pub struct Timer {
    /// Address that stands for the rcl_timer_t.
    pub handle: u64,
    /// Address of its callback.
    pub callback: u64,
}

/// Makes the node itself.
pub fn node(session: &Session, plan: &NodePlan, trace: &Trace) -> Result<NodeHandle, Error> {
    let node = session.node(&plan.node.name)?;
    if !node.traced {
        let (name, namespace) = (c_text(&plan.node.name), c_text("/"));
        trace.rcl_node_init(node.handle.0, 0, &name, &namespace);
    }
    Ok(node)
}

/// Makes a subscription that raises `signal` when data is available. If the signal is a descriptor, the kernel wakes
/// the node instead, and no thread can record when a message arrived.
pub fn subscription(
    session: &Session,
    node: &NodeHandle,
    of_workload: &tacho_workload::model::Subscription,
    input: &Input,
    latest: bool,
    (signal, arrivals): (&Arc<Signal>, Option<&Arc<Arrivals>>),
    trace: Trace,
) -> Result<NodeSubscription, Error> {
    let available = Arc::new(Available::of(arrivals));
    // The middleware may call before it has returned the handle; until then it is 0.
    let handle = Arc::new(AtomicU64::new(0));
    let on_data = {
        let (available, signal, handle) = (available.clone(), signal.clone(), handle.clone());
        Box::new(move || {
            // Record the event before waking the node, so that what the message causes comes later.
            match handle.load(Ordering::Acquire) {
                0 => {} // recorded below
                known => trace.node_data_available(known),
            }
            available.set();
            signal.raise();
        })
    };
    let endpoint = Endpoint {
        topic: &of_workload.topic,
        message_type: &input.message_type,
        size: input.size_bytes as usize,
        qos: of_workload.qos,
    };
    let subscription = match **signal {
        Signal::Condition { .. } => session.subscribe(node, &endpoint, Some(on_data))?,
        Signal::Descriptor(_) => session.subscribe(node, &endpoint, None)?,
    };
    let raw = subscription.handle().0;
    if !node.traced {
        let topic = c_text(&of_workload.topic);
        let depth = of_workload.qos.depth as usize;
        trace.rcl_subscription_init(raw, node.handle.0, raw, &topic, depth);
    }
    let (object, callback) = (address(), address());
    let symbol = c_text(&format!("/{} on {}", node.name, of_workload.topic));
    trace.rclcpp_subscription_init(raw, object);
    trace.rclcpp_subscription_callback_added(object, callback);
    trace.rclcpp_callback_register(callback, &symbol);
    handle.store(raw, Ordering::Release);
    if available.is_set() {
        trace.node_data_available(raw);
    }
    let topic = of_workload.topic.clone();
    Ok(NodeSubscription {
        subscription,
        handle: raw,
        object,
        callback,
        latest,
        available,
        expected: input.publishers,
        topic,
        taken: 0,
    })
}

/// Makes a publisher.
pub fn publisher(
    session: &Session,
    node: &NodeHandle,
    of_workload: &Publication,
    output: &Output,
    payload: &mut Draws,
    trace: &Trace,
) -> Result<NodePublisher, Error> {
    let endpoint = Endpoint {
        topic: &of_workload.topic,
        message_type: &of_workload.message_type,
        size: of_workload.size_bytes as usize,
        qos: of_workload.qos,
    };
    let mut publisher = session.advertise(node, &endpoint)?;
    let handle = publisher.handle().0;
    if !node.traced {
        let topic = c_text(&of_workload.topic);
        let depth = of_workload.qos.depth as usize;
        trace.rcl_publisher_init(handle, node.handle.0, handle, &topic, depth);
    }
    // Fill it now, so that the first message costs no more than the others.
    payload.fill(publisher.borrow()?.data);
    Ok(NodePublisher {
        publisher,
        handle,
        id: output.publisher_id,
        sequence: 0,
        size: of_workload.size_bytes,
        rate_hz: of_workload.rate_hz,
        expected: output.subscribers,
        topic: of_workload.topic.clone(),
        skipped: None,
        refusals: Refusals::default(),
    })
}

/// Makes a timer of a node.
pub fn timer(node: &NodeHandle, hz: f64, what: &str, trace: &Trace) -> Timer {
    let (handle, callback) = (address(), address());
    let symbol = c_text(&format!("/{} {what}", node.name));
    trace.rcl_timer_init(handle, (1e9 / hz).round() as i64);
    trace.rclcpp_timer_callback_added(handle, callback);
    trace.rclcpp_callback_register(callback, &symbol);
    trace.rclcpp_timer_link_node(handle, node.handle.0);
    Timer { handle, callback }
}
