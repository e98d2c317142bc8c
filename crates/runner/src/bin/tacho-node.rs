//! The program of a workload's node; `tacho bench` starts it, not people.

use tacho_runner::{background, node};

fn main() -> std::process::ExitCode {
    let main_ns = tacho_recording::clock::monotonic_ns();
    let threads = std::env::args().nth(1).and_then(|first| first.strip_prefix(background::OPTION)?.parse().ok());
    let done = match threads {
        Some(threads) => background::run(threads).is_ok(),
        None => node::process::run(main_ns),
    };
    if done {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::from(3)
    }
}
