//! Reads traces and prints what they contain: `cargo run --release -p tacho-import --example read_trace TRACE...`.

use std::collections::BTreeMap;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let traces: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let started = std::time::Instant::now();
    let mut reader = tacho_import::Reader::open(&traces)?;
    let mut counts = [0u64; 256];
    let (mut first, mut last) = (None, None);
    reader.for_each(
        |event, _, _| {
            counts[usize::from(event.payload.kind() & 0xff)] += 1;
            first = first.or(Some(event.time));
            last = Some(event.time);
        },
        |_| {},
    );
    let took = started.elapsed().as_secs_f64();
    let names: BTreeMap<&str, u64> = tacho_events::Payload::KINDS
        .iter()
        .map(|(number, name, _)| (*name, counts[usize::from(number & 0xff)]))
        .collect();
    for (name, count) in names.iter().filter(|(_, count)| **count > 0) {
        println!("{count:>12}  {name}");
    }
    for (name, count) in reader.skipped() {
        println!("{count:>12}  {name} (skipped)");
    }
    for gap in reader.gaps() {
        let count = gap.events.map_or("an unknown number of".to_string(), |n| n.to_string());
        let file = reader.stream_names()[gap.stream].display();
        println!("gap: {count} events {} between {} and {} ns ({file})", gap.cause, gap.from.as_ns(), gap.to.as_ns());
    }
    for problem in reader.problems().iter() {
        println!("problem: {problem}");
    }
    let events: u64 = counts.iter().sum();
    let skipped: u64 = reader.skipped().values().sum();
    if let (Some(first), Some(last)) = (first, last) {
        println!("{} processes, {} threads, over {}", reader.processes().len(), reader.threads(), last - first);
    }
    println!("{events} events and {skipped} skipped in {took:.3} s: {:.0} events/s", (events + skipped) as f64 / took);
    Ok(())
}
