//! The plugin's side of the middleware seam (`native/include/tacho/middleware.h`), for plugins in Rust.
//!
//! A plugin implements [`Middleware`], [`Publisher`] and [`Subscription`] in safe Rust and calls [`export!`] once. The
//! seam handles everything that crosses as C: addresses, texts, panics, and the checks that all plugins share. These
//! make sure that the node was made, that topic, type, transport and QoS are known, that a buffer is borrowed before it
//! is published, and that a message is given back before the next is taken.

mod check;
mod error;
mod message;
mod table;

pub use error::{Error, Result, Say};
pub use message::{ros_type, MessageType, RosType, MESSAGE_TYPES, MIB};
pub use table::table;
pub use tacho_abi::{Header, Table, HEADER_SIZE};

use std::ffi::c_void;
use std::os::fd::RawFd;

/// A session of a middleware: one participant of a domain. Dropped after all its endpoints.
pub trait Middleware: Sized + Send + Sync + 'static {
    /// Its name in `libtacho_<name>.so`.
    const NAME: &'static str;
    /// Its transports, default first.
    const TRANSPORTS: &'static [&'static str];
    /// The message types that it carries.
    const TYPES: &'static [MessageType] = MESSAGE_TYPES;
    /// Whether [`Subscription::descriptor`] is implemented.
    const DESCRIPTOR: bool = false;
    /// The type of its publishers.
    type Publisher: Publisher;
    /// The type of its subscriptions.
    type Subscription: Subscription;

    /// Returns the versions of the middleware and of the layers below.
    fn version() -> Result<String>;
    /// Joins a domain.
    fn open(config: &SessionConfig) -> Result<Self>;
    /// Adds a node; its name is new in this session.
    fn node(&self, name: &str) -> Result<()>;
    /// Chooses the type of a message with this many bytes, if the workload names none.
    fn type_for(_size: usize) -> &'static str {
        "Bytes"
    }
    /// Adds a publisher to a node.
    fn advertise(&self, endpoint: &Endpoint) -> Result<Self::Publisher>;
    /// Adds a subscription to a node. Once it is dropped, `on_data` must not be called any more.
    fn subscribe(&self, endpoint: &Endpoint, on_data: Option<OnData>) -> Result<Self::Subscription>;
}

/// A publisher, used by one thread at a time.
pub trait Publisher: 'static {
    /// Returns how many subscriptions are now matched with it.
    fn matched(&mut self) -> Result<usize>;
    /// Lends the buffer of the next message; the same one if it was not published since.
    fn borrow(&mut self) -> Result<Loan<'_>>;
    /// Publishes the borrowed buffer.
    fn publish(&mut self, header: &Header) -> Result<()>;
}

/// For a plugin whose publishers have several types, one for each message type.
impl Publisher for Box<dyn Publisher> {
    fn matched(&mut self) -> Result<usize> {
        (**self).matched()
    }
    fn borrow(&mut self) -> Result<Loan<'_>> {
        (**self).borrow()
    }
    fn publish(&mut self, header: &Header) -> Result<()> {
        (**self).publish(header)
    }
}

/// A subscription, used by one thread at a time.
pub trait Subscription: 'static {
    /// Returns how many publishers are now matched with it.
    fn matched(&mut self) -> Result<usize>;
    /// Takes the next message, if there is one.
    fn take(&mut self) -> Result<Option<Message<'_>>>;
    /// The caller no longer reads the message that was taken last.
    fn give_back(&mut self);
    /// Returns a descriptor that poll() reports as readable while a message may be there. It is called only if
    /// [`Middleware::DESCRIPTOR`] is set.
    fn descriptor(&mut self) -> Result<RawFd> {
        Err(Error::new("no descriptor to wait on"))
    }
}

/// For a plugin whose subscriptions have several types, one for each message type.
impl Subscription for Box<dyn Subscription> {
    fn matched(&mut self) -> Result<usize> {
        (**self).matched()
    }
    fn take(&mut self) -> Result<Option<Message<'_>>> {
        (**self).take()
    }
    fn give_back(&mut self) {
        (**self).give_back();
    }
    fn descriptor(&mut self) -> Result<RawFd> {
        (**self).descriptor()
    }
}

/// The parameters of joining a domain.
#[derive(Debug, Clone, Copy)]
pub struct SessionConfig<'a> {
    /// Separates the runs on one machine.
    pub domain: u32,
    /// One of [`Middleware::TRANSPORTS`].
    pub transport: &'static str,
    /// IPv4 address of the only interface to use; empty: all traffic stays on this machine.
    pub address: &'a str,
}

/// The properties of a publisher or subscription that is to be made. They are checked, so the plugin only refuses what
/// its middleware cannot do.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint<'a> {
    /// A node of the session.
    pub node: &'a str,
    /// Fully qualified, `/points`.
    pub topic: &'a str,
    /// One of [`Middleware::TYPES`].
    pub message_type: &'static str,
    /// Bytes of data of a message, at most (subscriptions).
    pub size: usize,
    /// The requested QoS.
    pub qos: Qos,
}

/// ROS 2's quality of service, as far as a workload can ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Qos {
    /// Reliable rather than best effort.
    pub reliable: bool,
    /// Transient local rather than volatile.
    pub transient_local: bool,
    /// Keep all rather than keep last.
    pub keep_all: bool,
    /// Depth of keep last; at least 1.
    pub depth: usize,
}

/// A borrowed buffer.
pub struct Loan<'a> {
    /// As many bytes as the endpoint's size.
    pub data: &'a mut [u8],
    /// Whether it still holds what was last filled in.
    pub kept: bool,
    /// The message's address in the trace events of the layer below, or the buffer.
    pub message: *const c_void,
}

/// A taken message.
pub struct Message<'a> {
    /// Its header, as it was published.
    pub header: Header,
    /// Its data, unchanged until it is given back.
    pub data: &'a [u8],
    /// The message's address in the trace events of the layer below, or the message.
    pub message: *const c_void,
}

/// Notifies the user of the seam that a message was put into a queue. Any thread may call it.
#[derive(Clone, Copy)]
pub struct OnData {
    function: unsafe extern "C" fn(*mut c_void),
    context: *mut c_void,
}

// SAFETY: middleware.h: called from any thread.
unsafe impl Send for OnData {}
unsafe impl Sync for OnData {}

impl OnData {
    /// A message is there.
    pub fn call(&self) {
        // SAFETY: the caller of subscribe() keeps `context` until the session is closed, and endpoints are dropped
        // before that.
        unsafe { (self.function)(self.context) }
    }
}

/// Exports `tacho_middleware()` for an implementation of [`Middleware`], and `tacho_facts` from the named file.
#[macro_export]
macro_rules! export {
    ($middleware:ty, $facts:literal) => {
        $crate::export!($middleware);
        const FACTS: &str = concat!(include_str!($facts), "\0");
        /// Facts about the plugin that tacho needs before it loads the plugin (middleware.h).
        #[no_mangle]
        #[allow(non_upper_case_globals)]
        pub static tacho_facts: [u8; FACTS.len()] = match FACTS.as_bytes().first_chunk() {
            Some(bytes) => *bytes,
            None => unreachable!(),
        };
    };
    ($middleware:ty) => {
        /// The plugin's table (middleware.h).
        #[no_mangle]
        pub extern "C" fn tacho_middleware() -> *const $crate::Table {
            static TABLE: std::sync::OnceLock<$crate::Table> = std::sync::OnceLock::new();
            TABLE.get_or_init($crate::table::<$middleware>)
        }
    };
}
