//! The dustdds plugin: Dust DDS, a DDS in Rust, with the topics, types and graph of ROS 2, so that its nodes and those
//! of other DDS middlewares receive each other's messages.
//!
//! Dust DDS has its own UDP transport and executor, which use all interfaces of a machine and never end their threads,
//! but it lets its user replace both (transport.rs, runtime.rs). RTPS, discovery, QoS and serialisation are all Dust
//! DDS's.

mod announcements;
mod graph;
mod messages;
mod notifier;
mod publisher;
mod qos;
mod runtime;
mod session;
mod subscription;
mod transport;

use messages::{Image, PointCloud2, Ros, TwistStamped, UInt8MultiArray};
use publisher::Publisher;
use session::Session;
use std::sync::Arc;
use subscription::Subscription;
use tacho_seam::{Endpoint, Middleware, OnData, Result, SessionConfig};

struct DustDds(Arc<Session>);

impl DustDds {
    fn publisher<T: Ros>(&self, endpoint: &Endpoint) -> Result<Box<dyn tacho_seam::Publisher>> {
        let writer = self.0.writer::<T>(endpoint)?;
        Ok(Box::new(Publisher::new(self.0.clone(), writer, endpoint.topic, endpoint.size)))
    }

    fn subscription<T: Ros>(
        &self,
        endpoint: &Endpoint,
        on_data: Option<OnData>,
    ) -> Result<Box<dyn tacho_seam::Subscription>> {
        let (reader, notifier) = self.0.reader::<T>(endpoint, on_data)?;
        Ok(Box::new(Subscription::new(self.0.clone(), reader, endpoint.topic, notifier)))
    }
}

impl Middleware for DustDds {
    const NAME: &'static str = "dustdds";
    const TRANSPORTS: &'static [&'static str] = &["udp"];
    type Publisher = Box<dyn tacho_seam::Publisher>;
    type Subscription = Box<dyn tacho_seam::Subscription>;

    fn version() -> Result<String> {
        Ok(concat!("Dust DDS ", env!("DUST_DDS_VERSION")).into())
    }

    fn open(config: &SessionConfig) -> Result<Self> {
        Ok(Self(Arc::new(Session::open(config)?)))
    }

    fn node(&self, name: &str) -> Result<()> {
        self.0.graph.add_node(name)
    }

    /// Chooses as the ros2 plugin does.
    fn type_for(size: usize) -> &'static str {
        if size < 4096 {
            "Bytes"
        } else {
            "PointCloud2"
        }
    }

    fn advertise(&self, endpoint: &Endpoint) -> Result<Self::Publisher> {
        match endpoint.message_type {
            "PointCloud2" | "PointCloud1m" => self.publisher::<PointCloud2>(endpoint),
            "Image" => self.publisher::<Image>(endpoint),
            "TwistStamped" => self.publisher::<TwistStamped>(endpoint),
            _ => self.publisher::<UInt8MultiArray>(endpoint),
        }
    }

    fn subscribe(&self, endpoint: &Endpoint, on_data: Option<OnData>) -> Result<Self::Subscription> {
        match endpoint.message_type {
            "PointCloud2" | "PointCloud1m" => self.subscription::<PointCloud2>(endpoint, on_data),
            "Image" => self.subscription::<Image>(endpoint, on_data),
            "TwistStamped" => self.subscription::<TwistStamped>(endpoint, on_data),
            _ => self.subscription::<UInt8MultiArray>(endpoint, on_data),
        }
    }
}

tacho_seam::export!(DustDds, "../facts");
