//! Prints the figures of a run directory as JSON: `cargo run -p tacho-figures --example figures RUN`.

use tacho_events::RunDirectory;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: figures RUN")?;
    let summary = tacho_figures::figures_of(&RunDirectory::new(path), None, &mut |_| {})?;
    println!("{}", serde_json::to_string_pretty(&summary)?);
    Ok(())
}
