//! What is written is read back, over generated workloads; and no input makes the parser panic.

mod generated;

use generated::Draw;
use tacho_workload::model::Qos;
use tacho_workload::{parse, sweep, write, Overrides};

#[test]
fn what_is_written_is_read_back() {
    for seed in 0..3000 {
        let workload = if seed % 3 == 0 { Draw::new(seed).topology() } else { Draw::new(seed).workload() };
        let text = write(&workload);
        match parse(&text, "written.yaml") {
            Ok((read, _)) => assert_eq!(read, workload, "seed {seed}\n{text}"),
            Err(errors) => panic!("seed {seed}\n{text}\n{errors}"),
        }
    }
}

#[test]
fn a_topology_is_written_as_a_rule_unless_it_was_changed() {
    let text = "topology: {kind: one-to-many, nodes: 31, size: 64 KiB, rate: 10 Hz}\nrun: {priority: {all: fifo 80}}\n";
    let (mut workload, _) = parse(text, "w.yaml").unwrap_or_else(|e| panic!("{e}"));
    let rule = "topology:\n  kind: one-to-many\n  nodes: 31\n  size: 64 KiB\n  rate: 10 Hz\n";
    assert!(write(&workload).contains(rule), "{}", write(&workload));
    assert!(write(&workload).contains("  priority: {all: fifo 80}\n"), "{}", write(&workload));
    workload.nodes[3].subscribes[0].qos.depth = 1;
    assert!(write(&workload).contains("topology: one-to-many\nnodes:\n"), "{}", write(&workload));
}

#[test]
fn each_side_of_a_topology_has_its_own_qos_or_the_topology_s() {
    let of = |qos: &str| format!("topology: {{kind: pairs, nodes: 1, rate: 10 Hz, {qos}}}\n");
    let sides = |qos: &str| {
        let (workload, _) = parse(&of(qos), "w.yaml").unwrap_or_else(|e| panic!("{qos}\n{e}"));
        let (read, _) = parse(&write(&workload), "written.yaml").unwrap_or_else(|e| panic!("{qos}\n{e}"));
        assert_eq!(read, workload, "{}", write(&workload));
        (workload.nodes[1].publishes[0].qos, workload.nodes[0].subscribes[0].qos, write(&workload))
    };
    // Study C, table 2.
    let (offered, asked, written) = sides("depth: 7, subscribers: {reliability: best_effort, depth: 5}");
    assert_eq!((offered.reliable, offered.depth, asked.reliable, asked.depth), (true, 7, false, 5));
    assert!(
        written.contains("  subscribers: {reliability: best_effort, depth: 5}\n") && written.contains("  depth: 7\n"),
        "{written}"
    );
    assert_eq!(sides("depth: 5, publishers: {depth: 7}, subscribers: {reliability: best_effort}").0, offered);
    // A policy that a side does not say is the topology's; the depth of keep all is none.
    let (offered, asked, _) = sides("durability: transient_local, depth: 3, publishers: {history: keep_all}");
    assert_eq!((offered.keep_all, offered.transient_local, offered.depth), (true, true, Qos::default().depth));
    assert_eq!((asked.keep_all, asked.transient_local, asked.depth), (false, true, 3));
    let (offered, asked, _) = sides("history: keep_all, subscribers: {history: keep_last, depth: 5}");
    assert_eq!((offered.keep_all, asked.keep_all, asked.depth), (true, false, 5));

    let refused = |qos: &str| parse(&of(qos), "w.yaml").err().map(|found| found.errors[0].name);
    assert_eq!(refused("publishers: {reliability: best_effort}"), Some("incompatible-qos"));
    assert_eq!(refused("subscribers: {durability: transient_local}"), Some("incompatible-qos"));
    assert_eq!(refused("history: keep_all, subscribers: {depth: 5}"), Some("depth-of-keep-all"));
    assert_eq!(refused("subscribers: {latest: true}"), Some("unknown-key"));
}

#[test]
fn what_is_written_can_be_read_by_people() {
    let text = include_str!("../../../workloads/autoware-localisation.yaml");
    let (workload, _) = parse(text, "autoware-localisation.yaml").unwrap_or_else(|e| panic!("{e}"));
    let written = write(&workload);
    assert!(written.contains("    work: 12.1 ms\n"), "{written}");
    assert!(written.contains("      /points_raw: {type: PointCloud2, size: 64 KiB, rate: 10 Hz}\n"), "{written}");
}

#[test]
fn no_input_makes_the_parser_panic() {
    let whole = include_str!("../../../workloads/autoware-localisation.yaml");
    // The first nodes hold every construct; short inputs leave time for many mutations.
    let seeds = [
        &whole[whole.find("nodes:").unwrap_or(0)..][..1200],
        include_str!("../../../workloads/study-d.yaml"),
        "middleware: [{fastdds: [udp, shm]}, inproc]\nsweep: {size: [16 B, 1 MiB], qos: {x: {depth: 1}, y: }}\n\
         topology: {kind: [pairs, many-to-one], nodes: 2, size: $size, rate: 1 Hz, depth: $qos.depth}\n\
         short: {run: {duration: 1 s, repeats: ~}}\n",
    ];
    const PIECES: [&str; 24] = [
        "{", "}", "[", "]", ":", ",", "\n", "  ", "\t", "&a ", "*a", "!t ", "|\n", ">\n", "\"", "'", "- ", "? ", "#",
        "---\n", "10 Hz", "\u{0}", "\u{feff}", "é🚗",
    ];
    let mut draw = Draw::new(7);
    let mut accepted = 0;
    for round in 0..4000 {
        let mut text: Vec<char> = seeds[round % seeds.len()].chars().collect();
        for _ in 0..=draw.below(4) {
            let at = draw.below(text.len() as u64) as usize;
            match draw.below(4) {
                0 => text.truncate(at.max(1)),
                1 => drop(text.remove(at)),
                2 => {
                    let to = (at + draw.below(40) as usize).min(text.len());
                    drop(text.drain(at..to));
                }
                _ => drop(text.splice(at..at, PIECES[draw.below(24) as usize].chars())),
            }
            if text.is_empty() {
                break;
            }
        }
        let text: String = text.into_iter().collect();
        let overrides = Overrides { short: round % 2 == 0, seed: Some(1), ..Overrides::default() };
        match sweep(&text, "mutated.yaml", &overrides).map(|_| ()).and(parse(&text, "mutated.yaml")) {
            Ok(_) => accepted += 1,
            Err(errors) => {
                assert!(!errors.errors.is_empty());
                assert!(errors.to_string().contains("mutated.yaml:"));
            }
        }
    }
    // Both ways out were taken, so the test looked at something.
    assert!((1..4000).contains(&accepted), "{accepted}");
}
