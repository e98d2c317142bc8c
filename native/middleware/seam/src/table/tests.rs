//! A middleware that misbehaves on demand, used through its table as C does.

use super::*;
use crate::{Endpoint, Loan, Message};
use std::ffi::CStr;
use tacho_abi::Qos as RawQos;

struct Echo;
struct Out(Vec<u8>);
struct In(Option<Header>);

impl Middleware for Echo {
    const NAME: &'static str = "echo";
    const TRANSPORTS: &'static [&'static str] = &["here", "there"];
    type Publisher = Out;
    type Subscription = In;

    fn version() -> Result<String> {
        Ok("echo 1".into())
    }
    fn open(config: &SessionConfig) -> Result<Self> {
        match config.address {
            "" => Ok(Self),
            "panic" => panic!("at the {}", config.transport),
            _ => Err(Error::new("ü".repeat(2000))),
        }
    }
    fn node(&self, _name: &str) -> Result<()> {
        Ok(())
    }
    fn advertise(&self, endpoint: &Endpoint) -> Result<Out> {
        Ok(Out(vec![0; endpoint.size]))
    }
    fn subscribe(&self, _endpoint: &Endpoint, on_data: Option<OnData>) -> Result<In> {
        if let Some(on_data) = on_data {
            on_data.call();
        }
        Ok(In(Some(Header { sequence: 7, ..Header::default() })))
    }
}

impl Publisher for Out {
    fn matched(&mut self) -> Result<usize> {
        Ok(3)
    }
    fn borrow(&mut self) -> Result<Loan<'_>> {
        let message = self.0.as_ptr().cast();
        Ok(Loan { data: &mut self.0, kept: false, message })
    }
    fn publish(&mut self, _header: &Header) -> Result<()> {
        Ok(())
    }
}

impl Subscription for In {
    fn matched(&mut self) -> Result<usize> {
        panic!("counting")
    }
    fn take(&mut self) -> Result<Option<Message<'_>>> {
        Ok(self.0.take().map(|header| Message { header, data: b"abc", message: std::ptr::null() }))
    }
    fn give_back(&mut self) {}
}

fn opened(transport: &CStr, address: &CStr) -> std::result::Result<*mut c_void, String> {
    let mut error = [1 as c_char; abi::ERROR_SIZE];
    let config = RawSessionConfig { domain: 1, transport: transport.as_ptr(), address: address.as_ptr() };
    // SAFETY: everything is alive through the call.
    let session = unsafe { (table::<Echo>().open)(&config, error.as_mut_ptr()) };
    if session.is_null() {
        Err(text(&error))
    } else {
        Ok(session)
    }
}

fn text(error: &[c_char]) -> String {
    // SAFETY: written by the table with its NUL.
    unsafe { CStr::from_ptr(error.as_ptr()) }.to_str().expect("no character cut in two").into()
}

fn config<'a>(node: &'a CStr, message_type: &'a CStr, size: usize, qos: [u32; 4]) -> RawEndpointConfig {
    let [reliability, durability, history, depth] = qos;
    RawEndpointConfig {
        node: node.as_ptr(),
        topic: c"/topic".as_ptr(),
        message_type: message_type.as_ptr(),
        size,
        qos: RawQos { reliability, durability, history, depth },
    }
}

#[test]
fn errors_and_panics_become_texts_that_fit() {
    assert_eq!(
        opened(c"nowhere", c"").unwrap_err(),
        "echo: transport \"nowhere\" is not known; expected one of here, there"
    );
    assert_eq!(opened(c"there", c"panic").unwrap_err(), "echo: panicked, which is a bug: at the there");
    let long = opened(c"", c"long").unwrap_err();
    assert!(long.starts_with("echo: üü") && (abi::ERROR_SIZE - 2..abi::ERROR_SIZE).contains(&long.len()));
}

#[test]
fn endpoints_are_checked_before_the_plugin_sees_them() {
    let table = table::<Echo>();
    let session = opened(c"", c"").unwrap();
    let mut error = [0 as c_char; abi::ERROR_SIZE];
    let (mut handle, mut traced) = (std::ptr::null(), 0);
    // SAFETY: everything is alive through the calls.
    unsafe {
        assert_eq!((table.node)(session, c"node".as_ptr(), &mut handle, &mut traced, error.as_mut_ptr()), 0);
        assert_eq!((table.node)(session, c"node".as_ptr(), &mut handle, &mut traced, error.as_mut_ptr()), -1);
        assert_eq!(text(&error), "echo: this session already has a node \"node\"");
        for (config, expected) in [
            (config(c"other", c"", 1, [1, 0, 0, 1]), "has no node \"other\""),
            (config(c"node", c"Odd", 1, [1, 0, 0, 1]), "message type \"Odd\" is not known; expected one of Bytes, "),
            (config(c"node", c"TwistStamped", 1, [1, 0, 0, 1]), "carries 48 B of data; asked for 1 B"),
            (config(c"node", c"", 1, [2, 0, 0, 1]), "unknown reliability 2; expected 0 (best effort) or 1 (reliable)"),
            (config(c"node", c"", 1, [1, 0, 0, 0]), "keep last with depth 0; expected at least 1"),
        ] {
            assert!((table.advertise)(session, &config, &mut handle, error.as_mut_ptr()).is_null());
            assert!(text(&error).contains(expected), "{:?} lacks {expected:?}", text(&error));
        }
        (table.close)(session);
    }
}

unsafe extern "C" fn bump(context: *mut c_void) {
    // SAFETY: the test gives the address of an integer.
    unsafe { *context.cast::<u32>() += 1 }
}

#[test]
fn a_buffer_is_borrowed_before_and_a_message_given_back_after() {
    let table = table::<Echo>();
    let session = opened(c"", c"").unwrap();
    let mut error = [0 as c_char; abi::ERROR_SIZE];
    let (mut handle, mut traced, mut kept, mut message, mut told) = (std::ptr::null(), 0, 0, std::ptr::null(), 0u32);
    let config = config(c"node", c"", 5, [1, 0, 0, 1]);
    let words = error.as_mut_ptr();
    let context: *mut c_void = std::ptr::from_mut(&mut told).cast();
    // SAFETY: everything is alive through the calls.
    unsafe {
        (table.node)(session, c"node".as_ptr(), &mut handle, &mut traced, words);
        let publisher = (table.advertise)(session, &config, &mut handle, words);
        assert_eq!((table.publisher_matched)(publisher, words), 3);
        assert_eq!((table.publish)(publisher, &Header::default(), words), -1);
        assert_eq!(text(&error), "echo: /topic: publish without a borrowed buffer");
        assert!(!(table.borrow)(publisher, &mut kept, &mut message, words).is_null());
        assert_eq!((table.publish)(publisher, &Header::default(), words), 0);
        assert_eq!((table.publish)(publisher, &Header::default(), words), -1);

        let subscription = (table.subscribe)(session, &config, Some(bump), context, &mut handle, words);
        assert_eq!(told, 1);
        assert_eq!((table.subscription_matched)(subscription, words), -1);
        assert_eq!(text(&error), "echo: panicked, which is a bug: counting");
        let mut taken = std::mem::zeroed::<RawMessage>();
        assert_eq!((table.take)(subscription, &mut taken, words), 1);
        assert_eq!((taken.header.sequence, taken.size), (7, 3));
        assert_eq!((table.take)(subscription, &mut taken, words), -1);
        assert_eq!(text(&error), "echo: /topic: take before the last message was given back");
        (table.give_back)(subscription, &mut taken);
        assert_eq!((table.take)(subscription, &mut taken, words), 0);
        (table.close)(session);
    }
}

crate::export!(Echo, "../../../dustdds/facts");

#[test]
fn a_plugin_exports_its_table_and_the_text_of_its_facts() {
    // SAFETY: made once, for as long as the process lives.
    assert_eq!(unsafe { (*tacho_middleware()).abi }, abi::ABI);
    let facts = CStr::from_bytes_with_nul(&tacho_facts).unwrap().to_str().unwrap();
    assert!(facts.lines().any(|line| line == "ros-on-dds"), "{facts}");
}
