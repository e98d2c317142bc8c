//! Measures time and memory for the analysis of a whole system: 300 nodes in 10 layers, 3000 callbacks, each node fed
//! by ten nodes of the previous layer. It can also have fewer nodes a layer and run for longer: `cargo run --release -p
//! tacho-figures --example whole_system -- SECONDS [NODES_A_LAYER INPUTS]`.

use std::time::Instant;
use tacho_events::testing::FileBuilder;

const LAYERS: u64 = 10;
const PERIOD_NS: i64 = 100_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: i64 = std::env::args().nth(1).map_or(Ok(10), |text| text.parse())?;
    let number = |place: usize, usually: u64| std::env::args().nth(place).map_or(Ok(usually), |text| text.parse());
    let (wide, inputs) = (number(2, 30)?, number(3, 10)?);
    let publisher_of = |node: u64, input: u64| wide * (node / wide - 1) + (node + wide / inputs * input) % wide;
    let mut b = FileBuilder::new();
    for node in 0..LAYERS * wide {
        b = b.process(1 + node as u32).at(0).rcl_node_init(0x10, 0x11, &format!("n{node}"), "/").rcl_publisher_init(
            0x20,
            0x10,
            0x21,
            10,
            &format!("/t{node}"),
        );
        if node < wide {
            b = b
                .rcl_timer_init(0x40, PERIOD_NS)
                .rclcpp_timer_callback_added(0x40, 0x41)
                .rclcpp_timer_link_node(0x40, 0x10);
            continue;
        }
        for input in 0..inputs {
            let (base, from) = (0x1000 + 0x100 * input, publisher_of(node, input));
            b = b
                .rcl_subscription_init(base, 0x10, base + 1, 10, &format!("/t{from}"))
                .rclcpp_subscription_init(base, base + 2)
                .rclcpp_subscription_callback_added(base + 2, base + 3);
        }
    }
    for period in 0..seconds * 1_000_000_000 / PERIOD_NS {
        let start = 1_000_000 + period * PERIOD_NS;
        for node in 0..LAYERS * wide {
            let stamp = |node: u64| (period + 1) * 1_000 + node as i64;
            let at = start + (node / wide) as i64 * 5_000_000;
            b = b.process(1 + node as u32);
            if node < wide {
                b = b
                    .at(at)
                    .callback_start(0x41, false)
                    .rcl_publish(0x20, 0x50)
                    .rmw_publish(0x21, 0x50, stamp(node))
                    .at(at + 9_000)
                    .callback_end(0x41);
                continue;
            }
            for input in 0..inputs {
                let (base, from) = (0x1000 + 0x100 * input, publisher_of(node, input));
                let at = at + 100_000 * input as i64;
                b = b.at(at).rmw_take(base + 1, 0x50, stamp(from), true).callback_start(base + 3, false);
                if input == 0 {
                    b = b.at(at + 10_000).rcl_publish(0x20, 0x50).rmw_publish(0x21, 0x50, stamp(node));
                }
                b = b.at(at + 20_000).callback_end(base + 3);
            }
        }
    }
    let folder = std::env::temp_dir().join(format!("tacho-whole-system-{}", std::process::id()));
    let run = b.write(&folder)?;
    drop(b);
    let before = peak_kib()?;
    let begun = Instant::now();
    let summary = tacho_figures::analyse_and_store(&run, None, &mut |_| {})?;
    let took = begun.elapsed();
    let messages: u64 = summary.topics.iter().map(|topic| topic.received).sum();
    let instances: u64 = summary.chains.iter().map(|chain| chain.instances).sum();
    println!(
        "{seconds} s of the system: {messages} messages, {} callbacks, {} chains, {instances} instances",
        summary.callbacks.len(),
        summary.chains.len()
    );
    println!(
        "analysed and stored in {:.2} s; peak RSS {} MiB, of which writing the run {} MiB",
        took.as_secs_f64(),
        peak_kib()? >> 10,
        before >> 10
    );
    summary
        .notes
        .iter()
        .filter(|note| ["paths-cut", "hops-sampled"].contains(&note.name.as_str()))
        .for_each(|note| println!("{} ({}): {}", note.name, note.count, note.text));
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Reads VmHWM of proc(5).
fn peak_kib() -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
