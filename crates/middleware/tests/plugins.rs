//! Tests the wrapper over the plugins of a native build, whose libraries are in TACHO_HOME/lib. Without a build the
//! test fails, because it has nothing to test; `make test` builds first.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tacho_middleware::{available, facts, listed, Endpoint, Error, Facts, Header, Middleware};
use tacho_workload::model::Qos;

fn folder() -> PathBuf {
    let home = std::env::var_os("TACHO_HOME").expect("TACHO_HOME must name the build folder (make build)");
    PathBuf::from(home).join("lib")
}

fn wait(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(120), "waited in vain: {what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn a_message_travels(name: &str) {
    let middleware = Middleware::load(&folder(), name).unwrap();
    let session = match middleware.open(1 + std::process::id() % 100, "", "") {
        Ok(session) => session,
        // Not every machine has what the owner of a middleware must buy; the message must name it.
        Err(Error::Refused { cause, .. }) if name == "connext" && cause.contains("RTI_LICENSE_FILE") => {
            return println!("{name} up to its licence check: {cause}");
        }
        Err(error) => panic!("{error}"),
    };
    let node = session.node("talker").unwrap();
    // Best effort, because every transport honours it.
    let qos = Qos { reliable: false, ..Qos::default() };
    let endpoint = Endpoint { topic: "/travels", message_type: "", size: 100, qos };
    let notified = Arc::new(AtomicU32::new(0));
    let counter = notified.clone();
    let on_data = Box::new(move || {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let mut subscription = session.subscribe(&node, &endpoint, Some(on_data)).unwrap();
    let mut publisher = session.advertise(&node, &endpoint).unwrap();
    wait("matched", || publisher.matched().unwrap() == 1 && subscription.matched().unwrap() == 1);
    assert!(subscription.take().unwrap().is_none());

    publisher.borrow().unwrap().data.fill(42);
    let header = Header { sequence: 3, stamp_ns: -4, publisher: 5, reserved: 0 };
    publisher.publish(&header).unwrap();
    wait("notified", || notified.load(Ordering::SeqCst) > 0);
    let message = subscription.take().unwrap().expect("a message is there once on_data was called");
    assert_eq!(message.header(), header);
    assert_eq!(message.data(), [42; 100]);
}

#[test]
fn a_message_travels_in_process() {
    a_message_travels("inproc");
}

/// Each runs in a process of its own, as in a run, because a process can have only one copy of some middlewares'
/// libraries.
#[test]
fn a_message_travels_over_every_plugin_that_was_built() {
    for (name, left_out) in listed(&folder()).unwrap() {
        match left_out {
            Some(Error::NotBuilt { name, reason }) => println!("{name} not tested: {reason}"),
            Some(error) => panic!("{name}: {error}"),
            None => {
                let mut test = Command::new(std::env::current_exe().unwrap());
                test.args(["--ignored", "--exact", "--nocapture", "a_message_travels_over_the_plugin_that_is_named"]);
                let output = test.env("TACHO_TESTED_PLUGIN", &name).output().unwrap();
                let said =
                    [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
                assert!(output.status.success() && said.contains("1 passed"), "{name}: {}\n{said}", output.status);
            }
        }
    }
}

#[test]
#[ignore = "run by the test above for each plugin"]
fn a_message_travels_over_the_plugin_that_is_named() {
    let name = std::env::var("TACHO_TESTED_PLUGIN").expect("the name of a plugin");
    assert!(!Middleware::load(&folder(), &name).unwrap().version().unwrap().is_empty());
    a_message_travels(&name);
}

#[test]
fn an_unknown_plugin_is_named_with_those_that_are_there() {
    let error = Middleware::load(&folder(), "nonsense").err().unwrap().to_string();
    assert!(error.contains("nonsense") && error.contains("inproc"), "{error}");
}

#[test]
fn a_plugin_left_out_of_the_build_says_why() {
    let folder = std::env::temp_dir().join(format!("tacho-missing-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("libtacho_ros9.missing"), "ROS 9 not found; install it\n").unwrap();
    let loaded = Middleware::load(&folder, "ros9").err().unwrap().to_string();
    let listed = available(&folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(loaded.contains("install it"), "{loaded}");
    assert!(matches!(&listed[0].version, Err(Error::NotBuilt { name, .. }) if name == "ros9"));
}

#[test]
fn plugins_export_the_facts_of_their_folder() {
    let built: Vec<String> = listed(&folder())
        .unwrap()
        .into_iter()
        .filter(|(_, left_out)| left_out.is_none())
        .map(|(name, _)| name)
        .collect();
    assert!(facts(&folder(), "inproc").one_process, "there are {}", built.join(", "));
    for name in built {
        assert_eq!(facts(&folder(), &name), Facts::in_this_tree(&name), "{name}");
    }
    assert_eq!(facts(&folder(), "nonsense"), Facts::default());
}

#[test]
fn refused_qos_comes_with_the_plugins_words() {
    let session = Middleware::load(&folder(), "inproc").unwrap().open(1, "", "").unwrap();
    let node = session.node("talker").unwrap();
    let qos = Qos { depth: 0, ..Qos::default() };
    let endpoint = Endpoint { topic: "/refused", message_type: "", size: 1, qos };
    let error = session.advertise(&node, &endpoint).err().unwrap().to_string();
    assert!(error.contains("/refused") && error.contains("depth 0"), "{error}");
}
