//! Measures how fast a run is read: `cargo run --release -p tacho-events --example read_speed [MILLION EVENTS]
//! [PROCESSES]`.

use tacho_events::testing::FileBuilder;
use tacho_events::Reader;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let millions: i64 = arguments.next().map_or(Ok(5), |a| a.parse())?;
    let processes: i64 = arguments.next().map_or(Ok(10), |a| a.parse())?;
    let mut builder = FileBuilder::new().tsc(2).clock_sync_record(60_000_000_000, 50);
    let events = millions * 1_000_000;
    // Each process has bursts of five events, like a callback with a publication.
    for process in 0..processes {
        builder = builder.process(1000 + process as u32);
        for burst in 0..events / processes / 5 {
            let start = burst * 10_000 + process * 997;
            builder = builder
                .at(start)
                .rclcpp_executor_execute(1)
                .at(start + 1_000)
                .rmw_take(1, 2, burst, true)
                .at(start + 2_000)
                .callback_start(3, false)
                .at(start + 3_000)
                .rcl_publish(4, 5)
                .at(start + 4_000)
                .callback_end(3);
        }
    }
    let folder = tempfile::tempdir()?;
    let run = builder.write(folder.path())?;
    drop(builder);
    for round in 0..3 {
        let started = std::time::Instant::now();
        let mut reader = Reader::open(&run)?;
        let (mut count, mut sum) = (0u64, 0u64);
        while let Some(event) = reader.next_event() {
            count += 1;
            sum = sum.wrapping_add(event.time.as_ns() as u64 ^ u64::from(event.payload.kind()));
        }
        let took = started.elapsed();
        println!(
            "round {round}: {count} events in {took:.2?}: {:.1} M events/s (check {sum:x})",
            count as f64 / took.as_secs_f64() / 1e6
        );
    }
    Ok(())
}
