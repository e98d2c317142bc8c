//! The functions of the table: each finds its object, calls the plugin, and turns errors and panics into texts.

use crate::{check, Error, Middleware, OnData, Publisher, Result, SessionConfig, Subscription};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tacho_abi::{
    self as abi, EndpointConfig as RawEndpointConfig, Header, Message as RawMessage, OnData as RawOnData,
    SessionConfig as RawSessionConfig, Table,
};

/// The object at a session's address.
struct Session<M: Middleware> {
    /// The address of the box is the handle.
    nodes: Mutex<HashMap<String, Box<u8>>>,
    publishers: Mutex<Vec<Address<PublisherOf<M>>>>,
    subscriptions: Mutex<Vec<Address<SubscriptionOf<M>>>>,
    inner: M,
}

struct PublisherOf<M: Middleware> {
    topic: String,
    size: usize,
    borrowed: bool,
    inner: M::Publisher,
}

struct SubscriptionOf<M: Middleware> {
    topic: String,
    lent: bool,
    inner: M::Subscription,
}

/// The session owns it, and the caller uses it until it closes the session.
struct Address<T>(*mut T);

// SAFETY: the session only frees it when nobody else uses it any more; middleware.h allows endpoints to change threads.
unsafe impl<T> Send for Address<T> {}

impl<T> Address<T> {
    fn new(value: T) -> Self {
        Self(Box::into_raw(Box::new(value)))
    }
}

impl<T> Drop for Address<T> {
    fn drop(&mut self) {
        // SAFETY: made by new(), freed once.
        drop(unsafe { Box::from_raw(self.0) })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the table of a middleware; everything that it points to lives as long as the process.
pub fn table<M: Middleware>() -> Table {
    Table {
        abi: abi::ABI,
        name: forever(M::NAME),
        transports: forever_list(M::TRANSPORTS.iter().copied()),
        types: forever_list(M::TYPES.iter().map(|known| known.name)),
        version: version::<M>,
        open: open::<M>,
        close: close::<M>,
        node: node::<M>,
        advertise: advertise::<M>,
        subscribe: subscribe::<M>,
        publisher_matched: publisher_matched::<M>,
        subscription_matched: subscription_matched::<M>,
        borrow: borrow::<M>,
        publish: publish::<M>,
        take: take::<M>,
        give_back: give_back::<M>,
        descriptor: M::DESCRIPTOR.then_some(descriptor::<M>),
    }
}

fn forever(text: &str) -> *const c_char {
    CString::new(text).expect("a name without NUL").into_raw()
}

fn forever_list<'a>(names: impl Iterator<Item = &'a str>) -> *const *const c_char {
    let list: Vec<_> = names.map(forever).chain([std::ptr::null()]).collect();
    list.leak().as_ptr()
}

/// Writes as much of a text as fits, with its NUL, and splits no character.
///
/// # Safety
/// `out` has room for `size` bytes, at least one.
unsafe fn write(text: &str, out: *mut c_char, size: usize) {
    let mut length = text.len().min(size - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    // SAFETY: length + 1 <= size.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), out, length);
        *out.add(length) = 0;
    }
}

/// Runs the plugin's part; an error or panic in it becomes a text and `failure`.
///
/// # Safety
/// `error` has room for ERROR_SIZE bytes.
unsafe fn guarded<M: Middleware, T>(error: *mut c_char, failure: T, part: impl FnOnce() -> Result<T>) -> T {
    let cause = match catch_unwind(AssertUnwindSafe(part)) {
        Ok(Ok(value)) => return value,
        Ok(Err(cause)) => cause.to_string(),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            format!("panicked, which is a bug: {}", words.unwrap_or("without a text"))
        }
    };
    // SAFETY: as the caller says.
    unsafe { write(&format!("{}: {cause}", M::NAME), error, abi::ERROR_SIZE) };
    failure
}

unsafe extern "C" fn version<M: Middleware>(out: *mut c_char, size: usize, error: *mut c_char) -> c_int {
    // SAFETY: middleware.h gives the sizes of both buffers.
    unsafe {
        guarded::<M, _>(error, -1, || {
            write(&M::version()?, out, size);
            Ok(0)
        })
    }
}

unsafe extern "C" fn open<M: Middleware>(config: *const RawSessionConfig, error: *mut c_char) -> *mut c_void {
    // SAFETY: middleware.h: the configuration and its texts are alive through the call.
    unsafe {
        guarded::<M, _>(error, std::ptr::null_mut(), || {
            let raw = &*config;
            let transport = check::transport::<M>(check::text("transport", raw.transport)?)?;
            let address = check::text("address", raw.address)?;
            let inner = M::open(&SessionConfig { domain: raw.domain, transport, address })?;
            let (nodes, publishers, subscriptions) = Default::default();
            Ok(Box::into_raw(Box::new(Session { nodes, publishers, subscriptions, inner })).cast())
        })
    }
}

unsafe extern "C" fn close<M: Middleware>(session: *mut c_void) {
    // If a part panics, the rest stays open, because nobody could handle the error.
    let _ = catch_unwind(|| {
        // SAFETY: made by open(), closed once.
        let session = unsafe { Box::from_raw(session.cast::<Session<M>>()) };
        locked(&session.subscriptions).clear();
        locked(&session.publishers).clear();
    });
}

unsafe extern "C" fn node<M: Middleware>(
    session: *mut c_void,
    name: *const c_char,
    handle: *mut *const c_void,
    traced: *mut c_int,
    error: *mut c_char,
) -> c_int {
    // SAFETY: middleware.h: an open session, and addresses that are alive through the call.
    unsafe {
        guarded::<M, _>(error, -1, || {
            let session = &*session.cast::<Session<M>>();
            let name = check::text("node", name)?;
            let mut nodes = locked(&session.nodes);
            if nodes.contains_key(name) {
                return Err(Error::new(format!("this session already has a node \"{name}\"")));
            }
            session.inner.node(name)?;
            let made = nodes.entry(name.into()).or_default();
            *handle = std::ptr::from_ref::<u8>(made).cast();
            *traced = 0;
            Ok(0)
        })
    }
}

fn has_node<M: Middleware>(session: &Session<M>, topic: &str, node: &str) -> Result<()> {
    if locked(&session.nodes).contains_key(node) {
        return Ok(());
    }
    Err(Error::new(format!("{topic}: this session has no node \"{node}\"; make it first")))
}

unsafe extern "C" fn advertise<M: Middleware>(
    session: *mut c_void,
    config: *const RawEndpointConfig,
    handle: *mut *const c_void,
    error: *mut c_char,
) -> *mut c_void {
    // SAFETY: as in node().
    unsafe {
        guarded::<M, _>(error, std::ptr::null_mut(), || {
            let session = &*session.cast::<Session<M>>();
            let endpoint = check::endpoint::<M>(&*config)?;
            has_node(session, endpoint.topic, endpoint.node)?;
            let inner = session.inner.advertise(&endpoint)?;
            let made = PublisherOf::<M> { topic: endpoint.topic.into(), size: endpoint.size, borrowed: false, inner };
            let made = Address::new(made);
            let address: *mut c_void = made.0.cast();
            locked(&session.publishers).push(made);
            *handle = address;
            Ok(address)
        })
    }
}

unsafe extern "C" fn subscribe<M: Middleware>(
    session: *mut c_void,
    config: *const RawEndpointConfig,
    on_data: RawOnData,
    context: *mut c_void,
    handle: *mut *const c_void,
    error: *mut c_char,
) -> *mut c_void {
    // SAFETY: as in node().
    unsafe {
        guarded::<M, _>(error, std::ptr::null_mut(), || {
            let session = &*session.cast::<Session<M>>();
            let endpoint = check::endpoint::<M>(&*config)?;
            has_node(session, endpoint.topic, endpoint.node)?;
            let on_data = on_data.map(|function| OnData { function, context });
            let inner = session.inner.subscribe(&endpoint, on_data)?;
            let made = Address::new(SubscriptionOf::<M> { topic: endpoint.topic.into(), lent: false, inner });
            let address: *mut c_void = made.0.cast();
            locked(&session.subscriptions).push(made);
            *handle = address;
            Ok(address)
        })
    }
}

fn count(peers: usize) -> c_int {
    c_int::try_from(peers).unwrap_or(c_int::MAX)
}

unsafe extern "C" fn publisher_matched<M: Middleware>(publisher: *mut c_void, error: *mut c_char) -> c_int {
    // SAFETY: made by advertise(), and used by one thread at a time.
    unsafe { guarded::<M, _>(error, -1, || Ok(count((*publisher.cast::<PublisherOf<M>>()).inner.matched()?))) }
}

unsafe extern "C" fn subscription_matched<M: Middleware>(subscription: *mut c_void, error: *mut c_char) -> c_int {
    // SAFETY: made by subscribe(), and used by one thread at a time.
    unsafe { guarded::<M, _>(error, -1, || Ok(count((*subscription.cast::<SubscriptionOf<M>>()).inner.matched()?))) }
}

unsafe extern "C" fn borrow<M: Middleware>(
    publisher: *mut c_void,
    kept: *mut c_int,
    message: *mut *const c_void,
    error: *mut c_char,
) -> *mut c_void {
    // SAFETY: as in publisher_matched().
    unsafe {
        guarded::<M, _>(error, std::ptr::null_mut(), || {
            let publisher = &mut *publisher.cast::<PublisherOf<M>>();
            let loan = publisher.inner.borrow()?;
            assert_eq!(loan.data.len(), publisher.size, "a buffer of another size was lent");
            *kept = loan.kept.into();
            *message = loan.message;
            publisher.borrowed = true;
            Ok(loan.data.as_mut_ptr().cast())
        })
    }
}

unsafe extern "C" fn publish<M: Middleware>(
    publisher: *mut c_void,
    header: *const Header,
    error: *mut c_char,
) -> c_int {
    // SAFETY: as in publisher_matched().
    unsafe {
        guarded::<M, _>(error, -1, || {
            let publisher = &mut *publisher.cast::<PublisherOf<M>>();
            if !std::mem::take(&mut publisher.borrowed) {
                return Err(Error::new(format!("{}: publish without a borrowed buffer", publisher.topic)));
            }
            publisher.inner.publish(&*header)?;
            Ok(0)
        })
    }
}

unsafe extern "C" fn take<M: Middleware>(
    subscription: *mut c_void,
    message: *mut RawMessage,
    error: *mut c_char,
) -> c_int {
    // SAFETY: as in subscription_matched().
    unsafe {
        guarded::<M, _>(error, -1, || {
            let subscription = &mut *subscription.cast::<SubscriptionOf<M>>();
            if subscription.lent {
                let topic = &subscription.topic;
                return Err(Error::new(format!("{topic}: take before the last message was given back")));
            }
            let Some(taken) = subscription.inner.take()? else { return Ok(0) };
            *message = RawMessage {
                header: taken.header,
                data: taken.data.as_ptr().cast(),
                size: taken.data.len(),
                loan: taken.message.cast_mut(),
            };
            subscription.lent = true;
            Ok(1)
        })
    }
}

unsafe extern "C" fn give_back<M: Middleware>(subscription: *mut c_void, message: *mut RawMessage) {
    // Nobody could handle a panic here.
    let _ = catch_unwind(|| {
        // SAFETY: as in subscription_matched().
        unsafe {
            let subscription = &mut *subscription.cast::<SubscriptionOf<M>>();
            subscription.lent = false;
            (*message).loan = std::ptr::null_mut();
            subscription.inner.give_back();
        }
    });
}

unsafe extern "C" fn descriptor<M: Middleware>(subscription: *mut c_void, error: *mut c_char) -> c_int {
    // SAFETY: as in subscription_matched().
    unsafe { guarded::<M, _>(error, -1, || (*subscription.cast::<SubscriptionOf<M>>()).inner.descriptor()) }
}

#[cfg(test)]
mod tests;
