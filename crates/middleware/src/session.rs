//! Sessions and their endpoints.

use crate::library::Middleware;
use crate::words::{checked, Words};
use crate::Error;
use std::ffi::{c_char, c_int, c_void, CString};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex};
use tacho_abi::{self as abi, Header};
use tacho_workload::model::Qos;

/// The layer below identifies an entity by this value in its own trace events; else it is any unique address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handle(pub u64);

/// A node of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeHandle {
    /// Its name, as given to [`Session::node`].
    pub name: String,
    /// Its handle in trace events.
    pub handle: Handle,
    /// Whether the middleware emits trace events of nodes, publishers and subscriptions itself.
    pub traced: bool,
}

/// The properties of a publisher or subscription that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint<'a> {
    /// Fully qualified, `/points`.
    pub topic: &'a str,
    /// Name of a message type; empty lets the middleware choose by size.
    pub message_type: &'a str,
    /// Bytes of data that a message carries, or at most carries (subscriptions).
    pub size: usize,
    /// The requested QoS; the plugin refuses what it cannot honour.
    pub qos: Qos,
}

type OnData = Box<dyn Fn() + Send + Sync>;

/// One participant of a domain. Closes when it and all its endpoints are gone.
#[derive(Clone)]
pub struct Session(Arc<Open>);

struct Open {
    middleware: Middleware,
    raw: abi::RawSession,
    /// Boxed twice, because the plugin holds the address of the inner box.
    #[allow(clippy::vec_box)]
    notified: Mutex<Vec<Box<OnData>>>,
}

// SAFETY: middleware.h: one session may be used from several threads.
unsafe impl Send for Open {}
unsafe impl Sync for Open {}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: opened by this table, closed once; `notified` is dropped after, when on_data can no longer be called.
        unsafe { (self.middleware.table.close)(self.raw) }
    }
}

fn text(what: &'static str, text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::Text { what, text: text.into() })
}

fn raw_qos(qos: &Qos) -> abi::Qos {
    abi::Qos {
        reliability: qos.reliable.into(),
        durability: qos.transient_local.into(),
        history: qos.keep_all.into(),
        depth: qos.depth,
    }
}

unsafe extern "C" fn notify(context: *mut c_void) {
    // SAFETY: the address of a box in `Open::notified`, which outlives the session.
    let on_data = unsafe { &*(context as *const OnData) };
    on_data();
}

impl Middleware {
    /// Joins a domain over a transport, empty for the default one, and through the interface with an IPv4 address,
    /// empty to stay on this machine.
    pub fn open(&self, domain: u32, transport: &str, address: &str) -> Result<Session, Error> {
        let (transport, address) = (text("transport", transport)?, text("address", address)?);
        let config = abi::SessionConfig { domain, transport: transport.as_ptr(), address: address.as_ptr() };
        let mut raw = std::ptr::null_mut();
        checked(
            || format!("open {} in domain {domain}", self.name()),
            |error| {
                // SAFETY: the configuration lives through the call.
                raw = unsafe { (self.table.open)(&config, error) };
                if raw.is_null() {
                    -1
                } else {
                    0
                }
            },
        )?;
        Ok(Session(Arc::new(Open { middleware: *self, raw, notified: Mutex::default() })))
    }
}

impl Session {
    /// Returns the middleware of the session.
    pub fn middleware(&self) -> Middleware {
        self.0.middleware
    }

    /// Adds a node.
    pub fn node(&self, name: &str) -> Result<NodeHandle, Error> {
        let c_name = text("node", name)?;
        let (mut handle, mut traced): (*const c_void, c_int) = (std::ptr::null(), 0);
        checked(
            || format!("node {name}"),
            |error| {
                // SAFETY: all pointers live through the call.
                unsafe { (self.0.middleware.table.node)(self.0.raw, c_name.as_ptr(), &mut handle, &mut traced, error) }
            },
        )?;
        Ok(NodeHandle { name: name.into(), handle: Handle(handle as u64), traced: traced != 0 })
    }

    /// Adds a publisher to a node.
    pub fn advertise(&self, node: &NodeHandle, endpoint: &Endpoint) -> Result<Publisher, Error> {
        let mut raw = std::ptr::null_mut();
        let handle = self.endpoint("advertise", node, endpoint, |config, handle, error| {
            // SAFETY: all pointers live through the call.
            raw = unsafe { (self.0.middleware.table.advertise)(self.0.raw, config, handle, error) };
            raw.is_null()
        })?;
        let table = self.0.middleware.table;
        let (borrow, publish, words) = (table.borrow, table.publish, Words::new());
        Ok(Publisher {
            raw,
            borrow,
            publish,
            words,
            handle,
            size: endpoint.size,
            topic: endpoint.topic.into(),
            session: self.clone(),
        })
    }

    /// Adds a subscription to a node. The middleware calls `on_data` from any of its threads, at least once after each
    /// message that it puts into an empty queue; `on_data` must return quickly.
    pub fn subscribe(
        &self,
        node: &NodeHandle,
        endpoint: &Endpoint,
        on_data: Option<Box<dyn Fn() + Send + Sync>>,
    ) -> Result<Subscription, Error> {
        let mut raw = std::ptr::null_mut();
        let on_data = on_data.map(Box::new);
        let context = on_data.as_deref().map_or(std::ptr::null_mut(), |b| b as *const OnData as *mut c_void);
        let function: abi::OnData = if on_data.is_some() { Some(notify) } else { None };
        // Kept before the call, because the middleware may notify before the call returns. It is also kept after a
        // failure, which costs some bytes.
        self.0.notified.lock().unwrap_or_else(|e| e.into_inner()).extend(on_data);
        let handle = self.endpoint("subscribe", node, endpoint, |config, handle, error| {
            // SAFETY: all pointers live through the call, `context` as long as the session.
            raw = unsafe { (self.0.middleware.table.subscribe)(self.0.raw, config, function, context, handle, error) };
            raw.is_null()
        })?;
        let words = Words::new();
        Ok(Subscription { session: self.clone(), raw, words, handle, topic: endpoint.topic.into() })
    }

    fn endpoint(
        &self,
        action: &str,
        node: &NodeHandle,
        endpoint: &Endpoint,
        call: impl FnOnce(*const abi::EndpointConfig, *mut *const c_void, *mut c_char) -> bool,
    ) -> Result<Handle, Error> {
        let name = text("node", &node.name)?;
        let topic = text("topic", endpoint.topic)?;
        let message_type = text("message type", endpoint.message_type)?;
        let config = abi::EndpointConfig {
            node: name.as_ptr(),
            topic: topic.as_ptr(),
            message_type: message_type.as_ptr(),
            size: endpoint.size,
            qos: raw_qos(&endpoint.qos),
        };
        let mut handle: *const c_void = std::ptr::null();
        checked(
            || format!("{action} {} by node {}", endpoint.topic, node.name),
            |error| {
                if call(&config, &mut handle, error) {
                    -1
                } else {
                    0
                }
            },
        )?;
        Ok(Handle(handle as u64))
    }
}

/// The buffer of the next message.
pub struct Buffer<'a> {
    /// The bytes to fill.
    pub data: &'a mut [u8],
    /// Whether it still holds what was last filled in.
    pub kept: bool,
    /// The handle of the message in trace events.
    pub message: Handle,
}

/// A publisher of a topic. One thread at a time.
pub struct Publisher {
    raw: abi::RawPublisher,
    /// The function of the table, kept here because each message calls it.
    borrow: abi::Borrow,
    publish: abi::Publish,
    words: Words,
    handle: Handle,
    size: usize,
    topic: String,
    session: Session,
}

// SAFETY: middleware.h: used from one thread at a time, which &mut self ensures.
unsafe impl Send for Publisher {}

impl Publisher {
    /// Returns its handle in trace events.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Returns how many subscriptions are now matched with it.
    pub fn matched(&mut self) -> Result<usize, Error> {
        let (table, raw) = (self.session.0.middleware.table, self.raw);
        // SAFETY: the session is open as long as self.
        checked(|| format!("matched of {}", self.topic), |error| unsafe { (table.publisher_matched)(raw, error) })
            .map(|count| count as usize)
    }

    /// Borrows the buffer of the next message.
    #[inline]
    pub fn borrow(&mut self) -> Result<Buffer<'_>, Error> {
        let (borrow, raw) = (self.borrow, self.raw);
        let (mut data, mut kept, mut message) = (std::ptr::null_mut(), 0, std::ptr::null());
        self.words.checked(
            || format!("borrow on {}", self.topic),
            |error| {
                // SAFETY: as above.
                data = unsafe { borrow(raw, &mut kept, &mut message, error) };
                if data.is_null() {
                    -1
                } else {
                    0
                }
            },
        )?;
        // SAFETY: the seam promises `size` bytes until publish, which needs &mut self.
        let data = unsafe { std::slice::from_raw_parts_mut(data as *mut u8, self.size) };
        Ok(Buffer { data, kept: kept != 0, message: Handle(message as u64) })
    }

    /// Publishes the borrowed buffer under this header.
    #[inline]
    pub fn publish(&mut self, header: &Header) -> Result<(), Error> {
        let (publish, raw) = (self.publish, self.raw);
        // SAFETY: as above.
        self.words.checked(|| format!("publish on {}", self.topic), |error| unsafe { publish(raw, header, error) })?;
        Ok(())
    }
}

/// A subscription to a topic. One thread at a time.
pub struct Subscription {
    session: Session,
    raw: abi::RawSubscription,
    words: Words,
    handle: Handle,
    topic: String,
}

// SAFETY: as Publisher.
unsafe impl Send for Subscription {}

impl Subscription {
    fn table(&self) -> &'static abi::Table {
        self.session.0.middleware.table
    }

    /// Returns its handle in trace events.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Returns how many publishers are now matched with it.
    pub fn matched(&mut self) -> Result<usize, Error> {
        let (table, raw) = (self.table(), self.raw);
        // SAFETY: the session is open as long as self.
        checked(|| format!("matched of {}", self.topic), |error| unsafe { (table.subscription_matched)(raw, error) })
            .map(|count| count as usize)
    }

    /// Returns a descriptor that poll(2) reports as readable when a message may have come since `take` last found none.
    /// Only subscriptions without `on_data` have one, of a middleware that [has
    /// descriptors](crate::Middleware::has_descriptors). It is open as long as the subscription.
    pub fn descriptor(&mut self) -> Result<RawFd, Error> {
        let (table, raw) = (self.table(), self.raw);
        checked(
            || format!("descriptor of {}", self.topic),
            |error| match table.descriptor {
                // SAFETY: as above.
                Some(descriptor) => unsafe { descriptor(raw, error) },
                None => -1,
            },
        )
    }

    /// Takes the oldest message of the queue, if there is one. Dropping the message gives it back.
    #[inline]
    pub fn take(&mut self) -> Result<Option<Message<'_>>, Error> {
        let (table, raw) = (self.table(), self.raw);
        // SAFETY: no message is out: the last one borrowed self.
        self.taken(|message, error| unsafe { (table.take)(raw, message, error) })
    }

    /// Returns what ends a [`call_within`](Self::call_within) without a limit, if the middleware has it.
    pub fn waker(&self) -> Option<Waker> {
        Some(Waker { function: self.session.0.middleware.wake?, raw: self.raw, _session: self.session.clone() })
    }

    /// Waits for a message for at most `limit_ns` ([`NO_LIMIT`] if there is a [`Waker`]) and calls `on_message` with
    /// it, inside the middleware's own callback if it has one. Returns whether a message came. Only a middleware that
    /// [has the function](crate::Middleware::has_call_within) supports it, and if it [has
    /// descriptors](crate::Middleware::has_descriptors), only for a subscription without `on_data`. A panic in
    /// `on_message` ends the process, because there is C below it.
    #[inline]
    pub fn call_within<F: FnMut(&Received)>(&mut self, limit_ns: i64, mut on_message: F) -> Result<bool, Error> {
        unsafe extern "C" fn call<F: FnMut(&Received)>(context: *mut c_void, message: *const abi::Message) {
            // SAFETY: the context is the function below, the message is lent during the call, and Received is nothing
            // but it.
            unsafe { (*context.cast::<F>())(&*message.cast::<Received>()) }
        }
        let (function, raw) = (self.session.0.middleware.call_within, self.raw);
        let context = (&raw mut on_message).cast::<c_void>();
        let called = self.words.checked(
            || format!("take from {}", self.topic),
            |error| match function {
                // SAFETY: no message is out: the last one borrowed self; and the plugin calls on this thread, before it
                // returns.
                Some(function) => unsafe { function(raw, limit_ns, call::<F>, context, error) },
                None => -1,
            },
        )?;
        Ok(called == 1)
    }

    #[inline]
    fn taken(
        &mut self,
        take: impl FnOnce(*mut abi::Message, *mut c_char) -> c_int,
    ) -> Result<Option<Message<'_>>, Error> {
        let mut message =
            abi::Message { header: Header::default(), data: std::ptr::null(), size: 0, loan: std::ptr::null_mut() };
        let taken = self.words.checked(|| format!("take from {}", self.topic), |error| take(&mut message, error))?;
        // Made only if there is a message, because dropping it gives the message back.
        Ok((taken == 1).then(|| Message { subscription: self, received: Received(message) }))
    }
}

/// For [`Subscription::call_within`]: wait without a limit.
pub const NO_LIMIT: i64 = i64::MAX;

/// Ends the waits without a limit of one subscription, from any thread.
pub struct Waker {
    function: abi::Wake,
    raw: abi::RawSubscription,
    _session: Session,
}

// SAFETY: middleware.h: called from any thread while the session is open.
unsafe impl Send for Waker {}
unsafe impl Sync for Waker {}

impl Waker {
    /// Ends the current wait, or else the next one.
    pub fn wake(&self) {
        // SAFETY: the session of the subscription is open as long as self.
        unsafe { (self.function)(self.raw) }
    }
}

/// A message that came.
#[repr(transparent)]
pub struct Received(abi::Message);

impl Received {
    /// Returns its handle in trace events.
    #[inline]
    pub fn handle(&self) -> Handle {
        Handle(self.0.loan as u64)
    }

    /// Returns the header that it came with.
    #[inline]
    pub fn header(&self) -> Header {
        self.0.header
    }

    /// Returns its data.
    pub fn data(&self) -> &[u8] {
        if self.0.size == 0 {
            return &[];
        }
        // SAFETY: lent until give_back, which takes this by value, or for the duration of the call that received it.
        unsafe { std::slice::from_raw_parts(self.0.data as *const u8, self.0.size) }
    }
}

/// A message taken from a subscription, given back when dropped.
pub struct Message<'a> {
    subscription: &'a mut Subscription,
    received: Received,
}

impl std::ops::Deref for Message<'_> {
    type Target = Received;
    #[inline]
    fn deref(&self) -> &Received {
        &self.received
    }
}

impl Drop for Message<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: taken from this subscription and given back once.
        unsafe { (self.subscription.table().give_back)(self.subscription.raw, &mut self.received.0) }
    }
}
