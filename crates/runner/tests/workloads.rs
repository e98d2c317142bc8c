//! Whole runs of small workloads on real middleware. TACHO_HOME names the native build (`make build`); the node program
//! is the one that cargo built. Times are compared with the workload's own, never with a clock's absolute value.

mod lab;

use lab::{figures, payloads, workload, Lab};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tacho_events::run::RunDirectory;
use tacho_events::{Payload, Reader};
use tacho_runner::bench::Progress;
use tacho_runner::callback_check;
use tacho_workload::model::Workload;

// Queues that a busy machine does not overwrite.
const CHAIN: &str = "
nodes:
  lidar:   {publishes: {/points: {size: 4 KiB, rate: 50 Hz, depth: 100}}}
  filter:
    {subscribes: {/points: {depth: 100}}, spin: 100 Hz, work: 200 us, publishes: {/filtered: {size: 64 B, depth: 100}}}
  control: {subscribes: {/filtered: {depth: 100}}, spin: 100 Hz}
run: {duration: 1 s, in_node_clock: true}
";

/// Those that were built.
fn middlewares() -> Vec<&'static str> {
    let home = std::env::var_os("TACHO_HOME").expect("TACHO_HOME must name the build folder (make build)");
    let found = tacho_middleware::available(&Path::new(&home).join("lib")).unwrap();
    let usable = |name: &&str| found.iter().any(|f| f.name == *name && f.version.is_ok());
    ["inproc", "ros2"].into_iter().filter(usable).collect()
}

#[test]
fn a_spinning_chain_delivers_every_message_on_every_middleware() {
    for middleware in middlewares() {
        let lab = Lab::new();
        let ran = lab.run(&workload(middleware, CHAIN)).unwrap();
        assert_eq!(ran.failures, [] as [String; 0]);
        let (lidar, filter, control) = (figures(&ran, "lidar"), figures(&ran, "filter"), figures(&ran, "control"));
        let sent = lidar.outputs[0].sent;
        // Warm-up of 0.3 s and 1 s at 50 Hz: all that was due was sent or counted.
        assert_eq!(sent + lidar.outputs[0].skipped.unwrap(), 65, "{middleware}");
        assert_eq!(filter.taken, [sent], "{middleware}");
        assert_eq!(filter.outputs[0].sent, sent, "{middleware}");
        assert_eq!(filter.outputs[0].skipped, None, "nothing is due by the clock");
        assert_eq!(control.taken, [sent], "{middleware}");
        assert!(ran.info.processes.iter().all(|exit| exit.code == Some(0)));
        assert!(!ran.info.cut_short && ran.info.missing.is_empty(), "{:?}", ran.info.missing);

        // What the nodes counted is what was recorded.
        let events = payloads(&lab.run_directory());
        let count = |is: fn(&Payload) -> bool| events.iter().filter(|p| is(p)).count() as u64;
        assert_eq!(count(|p| matches!(p, Payload::NodePublish { .. })), 2 * sent);
        assert_eq!(count(|p| matches!(p, Payload::NodeTake { .. })), 2 * sent);
        assert_eq!(count(|p| matches!(p, Payload::CallbackEnd { .. })), 3 * sent);
        assert_eq!(count(|p| matches!(p, Payload::NodeWake { .. })), filter.wakes + control.wakes);

        // And what the clocks inside the nodes say: in order, none twice, none before it was sent.
        let text = std::fs::read_to_string(lab.run_directory().clock().join("control.messages.csv")).unwrap();
        let rows: Vec<Vec<i64>> =
            text.lines().skip(1).map(|l| l.split(',').map(|v| v.parse().unwrap()).collect()).collect();
        assert_eq!(rows.iter().map(|r| r[1]).collect::<Vec<_>>(), (0..sent as i64).collect::<Vec<_>>());
        assert!(rows.iter().all(|r| r[2] < r[3]));
    }
}

#[test]
fn what_was_sent_last_still_arrives_at_the_end_of_a_slow_chain() {
    let text = "
nodes:
  source: {spin: 10 Hz, publishes: {/a: {size: 16 B, rate: 10 Hz}}}
  second: {subscribes: [/a], spin: 10 Hz, publishes: {/b: {size: 16 B}}}
  third:  {subscribes: [/b], spin: 10 Hz, publishes: {/c: {size: 16 B}}}
  fourth: {subscribes: [/c], spin: 10 Hz, publishes: {/d: {size: 16 B}}}
  sink:   {subscribes: [/d], spin: 10 Hz}
run: {duration: 1 s}
";
    for seed in 1..4 {
        let mut workload = workload("inproc", text);
        workload.run.seed = seed;
        let ran = Lab::new().run(&workload).unwrap();
        assert_eq!(figures(&ran, "sink").taken, [figures(&ran, "source").outputs[0].sent]);
    }
}

#[test]
fn events_of_a_callback_come_in_the_order_of_rclcpp() {
    let lab = Lab::new();
    lab.run(&workload("inproc", CHAIN)).unwrap();
    let mut reader = Reader::open(&lab.run_directory()).unwrap();
    let mut of_thread: std::collections::BTreeMap<_, Vec<Payload>> = Default::default();
    while let Some(event) = reader.next_event() {
        of_thread.entry(event.thread).or_default().push(event.payload);
    }
    let mut seen = 0;
    for events in of_thread.values() {
        for (index, _) in events.iter().enumerate().filter(|(_, p)| matches!(p, Payload::NodeTake { .. })) {
            assert!(matches!(events[index - 1], Payload::CallbackStart { .. }));
            assert!(matches!(events[index - 2], Payload::RclcppTake { .. }));
            assert!(matches!(events[index - 3], Payload::RclcppExecutorExecute { .. }));
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn a_spinning_node_takes_one_message_of_each_queue_a_wake() {
    let text = "
nodes:
  fast:  {publishes: {/a: {rate: 200 Hz, size: 16 B, depth: 1000}, /b: {rate: 200 Hz, size: 16 B, depth: 1000}}}
  slow:  {subscribes: {/a: {depth: 1000}, /b: {depth: 1000}}, spin: 50 Hz}
run: {duration: 1 s}
";
    let lab = Lab::new();
    let ran = lab.run(&workload("inproc", text)).unwrap();
    let slow = figures(&ran, "slow");
    for taken in &slow.taken {
        // Four come for each wake: but for the first wakes there is always one to take, and never a second one is
        // taken.
        assert!(*taken <= slow.wakes && *taken + 3 >= slow.wakes, "{taken} taken at {} wakes", slow.wakes);
    }
    let mut takes = 0;
    for payload in payloads(&lab.run_directory()) {
        match payload {
            Payload::NodeWake { .. } => takes = 0,
            Payload::NodeTake { .. } => takes += 1,
            _ => {}
        }
        assert!(takes <= 2);
    }
}

#[test]
fn sends_of_a_publisher_that_cannot_keep_up_are_sent_or_skipped_and_none_is_forgotten() {
    for executor in [
        "spin: 100 Hz, publishes: {/late: {size: 16 B}}",
        "publishes: {/late: {size: 16 B, rate: 100 Hz}}",
        "on: timer 100 Hz, publishes: {/late: {size: 16 B}}",
    ] {
        // Work of two and a half periods.
        let text = format!(
            "\nnodes:\n  late: {{{executor}, work: 25 ms}}\n  sink: {{subscribes: [/late]}}\nrun: {{duration: 1 s}}\n"
        );
        let lab = Lab::new();
        let ran = lab.run(&workload("inproc", &text)).unwrap();
        let output = &figures(&ran, "late").outputs[0];
        let skipped = output.skipped.unwrap();
        assert_eq!(output.sent + skipped, 130, "{executor}: 1.3 s at 100 Hz are due");
        assert!(skipped > output.sent, "{executor}: {} sent, {skipped} skipped", output.sent);
        let recorded: u64 = payloads(&lab.run_directory())
            .iter()
            .map(|p| if let Payload::NodeSkipped { count, .. } = p { *count } else { 0 })
            .sum();
        assert_eq!(recorded, skipped, "{executor}");
    }
}

#[test]
fn a_source_that_spins_faster_keeps_its_sending_rate() {
    let text = "
nodes:
  source: {spin: 300 Hz, work: 100 us, publishes: {/points: {rate: 10 Hz, size: 16 B}}}
  sink:   {subscribes: [/points]}
run: {duration: 1 s}
";
    let lab = Lab::new();
    let ran = lab.run(&workload("inproc", text)).unwrap();
    let source = figures(&ran, "source");
    assert_eq!(source.outputs[0].sent + source.outputs[0].skipped.unwrap(), 13, "1.3 s at 10 Hz are due");
    assert_eq!(source.callbacks, source.outputs[0].sent, "it computes only when something is due");
    assert!(source.wakes > 10 * source.callbacks);
}

#[test]
fn messages_that_are_only_kept_as_the_latest_do_not_make_a_node_compute() {
    let text = "
nodes:
  camera: {publishes: {/image: {rate: 100 Hz, size: 16 B}}}
  map:    {publishes: {/map: {rate: 20 Hz, size: 16 B}}}
  fusion: {subscribes: {/image: {latest: true}, /map: {depth: 100}}, publishes: {/fused: {size: 16 B}}}
  sink:   {subscribes: {/fused: {depth: 100}}}
run: {duration: 1 s}
";
    let ran = Lab::new().run(&workload("inproc", text)).unwrap();
    let fusion = figures(&ran, "fusion");
    assert_eq!(fusion.outputs[0].sent, fusion.taken[1]);
    assert!(fusion.taken[0] > 3 * fusion.taken[1]);
    assert_eq!(figures(&ran, "sink").taken, [fusion.taken[1]]);
}

/// Waits in another thread until the nodes of a run have begun to exchange messages, then acts with their process ids
/// by name.
fn once_running(
    run: RunDirectory,
    nodes: usize,
    act: impl FnOnce(Vec<(String, i32)>) + Send + 'static,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let until = Instant::now() + Duration::from_secs(600);
        loop {
            assert!(Instant::now() < until, "the run did not begin");
            std::thread::sleep(Duration::from_millis(20));
            let begun = run.events().read_dir().is_ok()
                && Reader::open(&run).is_ok_and(|mut reader| {
                    let mut takes = 0;
                    while let Some(event) = reader.next_event() {
                        takes += usize::from(matches!(event.payload, Payload::NodeTake { .. }));
                    }
                    takes > 100 // of the chain's 100 a second: the warm-up is over
                });
            if begun {
                break;
            }
        }
        let files = run.events().read_dir().unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
        let pids =
            files.filter(|f| f.ends_with(".events")).map(|f| f.split('-').next().unwrap().parse::<i32>().unwrap());
        let named: Vec<(String, i32)> = pids
            .map(|pid| {
                let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
                (String::from_utf8(words).unwrap().split('\0').nth(1).unwrap().to_owned(), pid)
            })
            .collect();
        assert_eq!(named.len(), nodes);
        act(named)
    })
}

fn longer(middleware: &str, seconds: u64) -> Workload {
    let mut workload = workload(middleware, CHAIN);
    workload.run.duration = Duration::from_secs(seconds);
    workload
}

#[test]
fn a_node_that_is_killed_is_named_and_the_others_go_on() {
    if !middlewares().contains(&"ros2") {
        println!("not tested: nodes are processes of their own only on ros2, which was not built");
        return;
    }
    let lab = Lab::new();
    let killer = once_running(lab.run_directory(), 3, |nodes| {
        let (_, pid) = nodes.iter().find(|(name, _)| name == "control").unwrap();
        // SAFETY: a process of this test's run.
        assert_eq!(unsafe { libc::kill(*pid, libc::SIGKILL) }, 0);
    });
    let ran = lab.run(&longer("ros2", 10)).unwrap();
    killer.join().unwrap();
    assert_eq!(ran.failures.len(), 1);
    assert!(ran.failures[0].contains("control") && ran.failures[0].contains("signal 9"), "{:?}", ran.failures);
    let info = lab.run_directory().info().unwrap();
    assert_eq!(info.processes.iter().find(|exit| exit.name == "control").unwrap().signal, Some(9));
    assert!(info.missing.iter().any(|text| text.contains("control")), "{:?}", info.missing);
    assert_eq!(figures(&ran, "filter").taken, [figures(&ran, "lidar").outputs[0].sent]);
    let control_took =
        payloads(&lab.run_directory()).iter().filter(|p| matches!(p, Payload::NodeTake { .. })).count() as u64;
    assert!(control_took > figures(&ran, "filter").taken[0], "what the killed node had recorded is there");
}

#[test]
fn an_interrupt_leaves_a_usable_run_and_no_process() {
    for middleware in middlewares() {
        let lab = Lab::new();
        let processes = if middleware == "inproc" { 1 } else { 3 };
        let pids = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let seen = pids.clone();
        let interrupter = once_running(lab.run_directory(), processes, move |nodes| seen.lock().unwrap().extend(nodes));
        let lab_ref = &lab;
        let start = Instant::now();
        let ran = std::thread::scope(|scope| {
            scope.spawn(move || {
                interrupter.join().unwrap();
                lab_ref.interrupted.store(true, Ordering::Relaxed);
            });
            lab_ref.run(&longer(middleware, 600)).unwrap()
        });
        assert!(start.elapsed() < Duration::from_secs(500));
        let info = lab.run_directory().info().unwrap();
        assert!(info.cut_short && info.missing.iter().any(|text| text.contains("interrupted")));
        assert!(info.measured_to_ns > info.measured_from_ns, "it was interrupted after the warm-up");
        assert_eq!(ran.nodes.len(), 3, "every node still told its figures");
        let lidar = &figures(&ran, "lidar").outputs[0];
        assert!(lidar.sent > 0 && lidar.sent + lidar.skipped.unwrap() < 600 * 50);
        for (name, pid) in pids.lock().unwrap().iter() {
            assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{name} is still there");
        }
    }
}

#[test]
fn a_workload_that_the_middleware_refuses_says_why_and_leaves_a_run() {
    let mut workload = workload("inproc", CHAIN);
    workload.transport = "carrier pigeon".into();
    let lab = Lab::new();
    let error = format!("{:#}", lab.run(&workload).err().unwrap());
    assert!(error.contains("carrier pigeon"), "{error}");
    let info = lab.run_directory().info().unwrap();
    assert!(info.cut_short && info.missing.iter().any(|text| text.contains("carrier pigeon")), "{:?}", info.missing);
}

#[test]
fn a_callback_check_costs_less_than_the_time_between_two_wakes() {
    for middleware in middlewares() {
        let lab = Lab::new();
        let ns = lab
            .bench(|bench| {
                callback_check::measure(bench, &workload(middleware, CHAIN), &lab.run_directory(), &mut |_| ())
            })
            .unwrap();
        println!("{middleware}: {ns:.0} ns a check");
        assert!(ns > 0.0 && ns < 1e9 / 500.0, "{middleware}: {ns} ns");
    }
}

#[test]
fn nodes_run_on_the_cpus_that_they_are_given() {
    let mut given = workload("inproc", CHAIN);
    given.run.cpus = vec![("filter".into(), vec![0])];
    let lab = Lab::new();
    assert_eq!(lab.run(&given).unwrap().failures.len(), 0);
    given.run.cpus = vec![("filter".into(), vec![1000])];
    let lab = Lab::new();
    let refused = format!("{:#}", lab.run(&given).unwrap_err());
    assert!(refused.contains("node filter: CPUs [1000]"), "{refused}");
}

#[test]
fn every_send_by_the_clock_says_when_it_was_due() {
    let lab = Lab::new();
    let ran = lab.run(&workload("inproc", CHAIN)).unwrap();
    let mut reader = Reader::open(&lab.run_directory()).unwrap();
    let (mut due, mut published) = (Vec::new(), Vec::new());
    while let Some(event) = reader.next_event() {
        match event.payload {
            Payload::NodeDue { publisher, sequence, due_ns } => due.push((publisher, sequence, due_ns)),
            Payload::NodePublish { publisher, sequence, .. } => {
                published.push((publisher, sequence, event.time.as_ns()))
            }
            _ => {}
        }
    }
    let lidar = due[0].0;
    assert!(due.iter().all(|d| d.0 == lidar), "what answers a message is never due by the clock");
    published.retain(|p| p.0 == lidar);
    assert_eq!(published.len() as u64, figures(&ran, "lidar").outputs[0].sent);
    assert_eq!(due.len(), published.len());
    for (due, published) in due.iter().zip(&published) {
        assert_eq!(due.1, published.1);
        assert!(due.2 <= published.2 + 1_000, "due {} ns after it was published", due.2 - published.2);
    }
    // All on one grid of 50 Hz, none twice.
    assert!(due.windows(2).all(|pair| pair[1].2 > pair[0].2 && (pair[1].2 - pair[0].2) % 20_000_000 == 0));
}

#[test]
fn what_a_middleware_lets_wait_for_by_descriptor_is_waited_for_as_rclcpp_waits() {
    for transport in ["udp", "tcp"] {
        let reliability = if transport == "tcp" { "reliable" } else { "best_effort" };
        let text = format!(
            "
transport: {transport}
nodes:
  source: {{publishes: {{/a: {{size: 64 B, rate: 100 Hz, reliability: {reliability}}}}}}}
  sink:
    subscribes: {{/a: {{depth: 100, reliability: {reliability}}}}}
    publishes: {{/b: {{size: 64 B, reliability: {reliability}}}}}
  spun:   {{subscribes: {{/b: {{depth: 100, reliability: {reliability}}}}}, spin: 200 Hz}}
  both:
    subscribes: {{/a: {{depth: 100, reliability: {reliability}}}, /b: {{depth: 100, reliability: {reliability}}}}}
run: {{duration: 1 s}}
"
        );
        let lab = Lab::new();
        let ran = lab.run(&workload("socket", &text)).unwrap();
        let sent = figures(&ran, "source").outputs[0].sent;
        assert_eq!(
            (&figures(&ran, "sink").taken[..], &figures(&ran, "spun").taken[..]),
            (&[sent][..], &[sent][..]),
            "{transport}"
        );
        // One input is waited for inside the middleware, two in a poll.
        assert_eq!(figures(&ran, "both").taken, [sent, sent], "{transport}");
        let events = payloads(&lab.run_directory());
        let count = |is: fn(&Payload) -> bool| events.iter().filter(|p| is(p)).count() as u64;
        // A spinning node still is told; nobody is, where the executor itself is woken.
        assert_eq!(count(|p| matches!(p, Payload::NodeDataAvailable { .. })), sent, "{transport}");
        let waits = count(|p| matches!(p, Payload::RclcppExecutorWaitForWork { .. }));
        // Of `sink` one a message, of `both` one or two; fewer where messages came while a node was busy.
        assert!((sent / 2..7 * sent + 20).contains(&waits), "{transport}: {waits} waits for {sent} messages");
    }
}

#[test]
fn a_node_that_waits_in_a_take_hears_that_the_user_ends_the_run() {
    // After its first message nothing comes for longer than the runner waits for the end of a node.
    let text = "
transport: udp
nodes:
  source: {publishes: {/a: {size: 64 B, rate: 0.01 Hz, reliability: best_effort}}}
  sink:   {subscribes: {/a: {reliability: best_effort}}}
run: {duration: 300 s}
";
    let lab = Lab::new();
    let mut interrupt = |progress: Progress<'_>| lab.interrupted.store(progress.what == "measuring", Ordering::Relaxed);
    let ran =
        lab.bench(|bench| bench.repeat(&workload("socket", text), 0, &lab.run_directory(), &mut interrupt)).unwrap();
    assert!(ran.info.cut_short);
    assert_eq!(ran.failures, Vec::<String>::new());
    assert_eq!(ran.nodes.len(), 2, "both said what they did: {:?}", ran.nodes);
}

/// Two topics of one camera, what is made of one, and a third that comes at a lower rate.
const JOINED: &str = "
nodes:
  camera: {publishes: {/left: {rate: 50 Hz, depth: 100}, /right: {rate: 50 Hz, depth: 100}}}
  slow: {subscribes: {/left: {depth: 100}}, work: 2 ms, publishes: {/seen: {depth: 100}}}
  lidar: {publishes: {/points: {rate: 20 Hz}}}
  exact:
    on: match exact
    match: {queue: 100}
    subscribes: {/left: {depth: 100}, /right: {depth: 100}, /seen: {depth: 100}}
    publishes: [/exact]
  near: {on: match approximate, subscribes: [/left, /points], publishes: [/near]}
  sink: {subscribes: [/exact, /near]}
run: {duration: 1 s}
";
#[test]
fn nodes_that_match_their_inputs_compute_on_sets() {
    for middleware in middlewares() {
        let lab = Lab::new();
        let ran = lab.run(&workload(middleware, JOINED)).unwrap();
        let of = |node| (figures(&ran, node).sets, figures(&ran, node).outputs[0].sent);
        let [(_, pictures), (_, scans), (sets, near)] = ["camera", "lidar", "near"].map(of);
        // What rests on one picture has its stamp: each makes a set.
        assert_eq!((of("exact"), sets), ((Some(pictures), pictures), Some(near)), "{middleware}");
        // One set a scan at most; the first and the last may lack a picture that is closer.
        assert!(scans > 10 && (scans - 4..=scans).contains(&near), "{middleware}: {near} of {scans}");
        // What the nodes recorded: by publisher, stamps of the messages in sets.
        let mut used: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
        for payload in payloads(&lab.run_directory()) {
            if let Payload::NodeUses { publisher_id, stamp_ns, .. } = payload {
                used.entry(publisher_id).or_default().push(stamp_ns);
            }
        }
        let [left, right, seen] = [0, 1, 2].map(|publisher| used[&publisher].clone());
        assert!(right == seen && right.is_sorted() && right.iter().all(|stamp| left.contains(stamp)), "{middleware}");
        assert_eq!((right.len() as u64, left.len() as u64), (pictures, pictures + near), "{middleware}");
    }
}
