//! Records like `tacho record`, but prints nothing and makes no tables: `record RUN RECORDER COMMAND ...`. Tests send
//! it signals.

use std::path::Path;
use tacho_events::RunDirectory;
use tacho_recording::scheduler_events::When;
use tacho_recording::{record, Error, Wanted};

fn main() -> Result<(), Error> {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let [run, recorder, command @ ..] = words.as_slice() else { panic!("usage: record RUN RECORDER COMMAND ...") };
    let wanted = Wanted { max_bytes: 1 << 30, scheduler: When::Off, cpu_time: false };
    let done = record(command, &RunDirectory::new(run), Path::new(recorder), wanted, None)?;
    std::process::exit(done.code)
}
