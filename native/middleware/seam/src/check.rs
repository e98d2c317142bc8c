//! Requests that every middleware refuses alike.

use crate::{Endpoint, Error, Middleware, Qos, Result};
use std::ffi::{c_char, CStr};
use tacho_abi::{EndpointConfig as RawEndpointConfig, Qos as RawQos};

/// Returns a text of the caller.
///
/// # Safety
/// NUL-terminated, and alive as long as the result.
pub unsafe fn text<'a>(what: &str, text: *const c_char) -> Result<&'a str> {
    // SAFETY: as the caller says.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::new(format!("{what} {text:?} is not UTF-8")))
}

/// Returns the transport of that name, the default one for "".
pub fn transport<M: Middleware>(name: &str) -> Result<&'static str> {
    let wanted = if name.is_empty() { M::TRANSPORTS[0] } else { name };
    M::TRANSPORTS.iter().find(|known| **known == wanted).copied().ok_or_else(|| {
        Error::new(format!("transport \"{name}\" is not known; expected one of {}", M::TRANSPORTS.join(", ")))
    })
}

/// # Safety
/// The texts of `raw` are NUL-terminated, and alive as long as the result.
pub unsafe fn endpoint<'a, M: Middleware>(raw: &'a RawEndpointConfig) -> Result<Endpoint<'a>> {
    // SAFETY: as the caller says.
    let (node, topic, wanted) =
        unsafe { (text("node", raw.node)?, text("topic", raw.topic)?, text("message type", raw.message_type)?) };
    if !topic.starts_with('/') || topic.len() == 1 || topic.ends_with('/') {
        return Err(Error::new(format!("topic \"{topic}\" is not fully qualified; expected one such as /points")));
    }
    let name = if wanted.is_empty() { M::type_for(raw.size) } else { wanted };
    let Some(found) = M::TYPES.iter().find(|known| known.name == name) else {
        let known: Vec<_> = M::TYPES.iter().map(|known| known.name).collect();
        return Err(Error::new(format!(
            "{topic}: message type \"{wanted}\" is not known; expected one of {}",
            known.join(", ")
        )));
    };
    if let Some(only) = found.only_size.filter(|only| *only != raw.size) {
        return Err(Error::new(format!("{topic}: a {name} carries {only} B of data; asked for {} B", raw.size)));
    }
    let qos = qos(&raw.qos).map_err(|error| Error::new(format!("{topic}: {error}")))?;
    Ok(Endpoint { node, topic, message_type: found.name, size: raw.size, qos })
}

fn qos(raw: &RawQos) -> Result<Qos> {
    let one_of_two = |policy: &str, value: u32, names: [&str; 2]| match value {
        0 | 1 => Ok(value == 1),
        _ => Err(Error::new(format!("unknown {policy} {value}; expected 0 ({}) or 1 ({})", names[0], names[1]))),
    };
    let qos = Qos {
        reliable: one_of_two("reliability", raw.reliability, ["best effort", "reliable"])?,
        transient_local: one_of_two("durability", raw.durability, ["volatile", "transient local"])?,
        keep_all: one_of_two("history", raw.history, ["keep last", "keep all"])?,
        depth: raw.depth as usize,
    };
    if !qos.keep_all && qos.depth == 0 {
        return Err(Error::new("keep last with depth 0; expected at least 1"));
    }
    Ok(qos)
}
