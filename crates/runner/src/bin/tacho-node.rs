//! The program that a node of a workload is; started by `tacho bench`, not by people.

fn main() -> std::process::ExitCode {
    if tacho_runner::node::process::run() {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::from(3)
    }
}
