//! What is written is read back, over generated workloads; and no input makes the parser panic.

mod generated;

use generated::Draw;
use tacho_workload::{parse, sweep, write, Overrides};

#[test]
fn what_is_written_is_read_back() {
    for seed in 0..3000 {
        let workload = if seed % 3 == 0 { Draw(seed).topology() } else { Draw(seed).workload() };
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
    let mut draw = Draw(7);
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
