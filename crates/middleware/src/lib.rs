//! Finds and loads middleware plugins.
//!
//! A middleware is a shared object `libtacho_<name>.so` that implements `native/include/tacho/middleware.h`. This crate
//! finds it in a folder, checks its ABI and wraps it so that its rules hold by construction: endpoints keep their
//! session open, a subscription lends at most one message at a time, and the target of `on_data` outlives the session.
//!
//! ```no_run
//! use tacho_middleware::{Endpoint, Middleware};
//! let ros2 = Middleware::load("build/lib".as_ref(), "ros2")?;
//! let session = ros2.open(42, "", "")?;
//! let node = session.node("lidar")?;
//! let endpoint = Endpoint { topic: "/points", message_type: "", size: 64, qos: Default::default() };
//! let mut points = session.advertise(&node, &endpoint)?;
//! points.borrow()?.data.fill(7);
//! points.publish(&Default::default())?;
//! # Ok::<(), tacho_middleware::Error>(())
//! ```

mod error;
mod facts;
mod library;
mod session;
mod words;

pub use error::Error;
pub use facts::facts;
pub use library::{available, listed, Found, Middleware};
pub use session::{
    Buffer, Endpoint, Handle, Message, NodeHandle, Publisher, Received, Session, Subscription, Waker, NO_LIMIT,
};
pub use tacho_abi::{Facts, Header};
