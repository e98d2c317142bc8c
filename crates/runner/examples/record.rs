//! `tacho record` without its words and tables: `record RUN RECORDER COMMAND ...`. Tests send it signals.

use std::path::Path;
use tacho_events::RunDirectory;
use tacho_runner::recording::{record, Error, Wanted};
use tacho_runner::scheduler_events::When;

fn main() -> Result<(), Error> {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let [run, recorder, command @ ..] = words.as_slice() else { panic!("usage: record RUN RECORDER COMMAND ...") };
    let wanted = Wanted { max_bytes: 1 << 30, scheduler: When::Off, cpu_time: false };
    let done = record(command, &RunDirectory::new(run), Path::new(recorder), wanted, None)?;
    std::process::exit(done.code)
}
