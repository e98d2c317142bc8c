//! `tacho record`

use crate::exit::{self, Failure, Outcome};
use crate::options::{CpuTime, Record};
use crate::{analysis, explain, interrupt, runs};
use anyhow::Context;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use tacho_events::RunDirectory;
use tacho_figures::live::watch::Watch;
use tacho_printing::Lines;
use tacho_recording::attach;
use tacho_recording::clock::monotonic_ns;
use tacho_recording::preload;
use tacho_recording::ring;
use tacho_recording::{Error, Recorded, Wanted};
use tacho_runner::install::Installation;

/// Less than this would be less than what is kept to link what began before.
const SHORTEST_RING: Duration = Duration::from_secs(1);

pub fn run(options: Record) -> Outcome {
    if let Some(run) = &options.save {
        return save(run);
    }
    if !options.attach.is_empty() {
        return attached(options);
    }
    let installation = Installation::find().context("installation")?;
    // A slip of the pen takes no run directory.
    if preload::find_program(&options.command[0]).is_none() {
        let program = options.command[0].to_string_lossy();
        let hint = match &*program {
            "ros2" => "; is ROS 2 sourced? source /opt/ros/DISTRO/setup.bash puts it there",
            "roslaunch" | "rosrun" => "; is ROS 1 sourced? source /opt/ros/noetic/setup.bash puts it there",
            _ => "",
        };
        return Err(Failure::Usage(format!(
            "{program}: no such program, or none that may be run; expected one of PATH, or a path{hint}"
        )));
    }
    let name =
        Path::new(&options.command[0]).file_stem().map_or("record".into(), |name| name.to_string_lossy().into_owned());
    let run = runs::create(options.out.out.clone(), &name)?;
    let wanted = Wanted {
        max_bytes: options.max_mib << 20,
        scheduler: options.scheduler.when(),
        cpu_time: options.cpu_time == CpuTime::On,
    };
    let ring = ring(&options, &run)?;
    let recorded =
        tacho_recording::record(&options.command, &run, &installation.recorder(), wanted, ring).map_err(|error| {
            leave(&run);
            match error {
                Error::Command { .. } => Failure::Usage(error.to_string()),
                error => Failure::Fault(error.into()),
            }
        })?;

    let code = u8::try_from(recorded.code).unwrap_or(3);
    // What fails from here on is said; the exit code is the program's own.
    if let Err(failure) = show(&run, recorded, options.json) {
        exit::say(failure);
    }
    if code == 0 {
        Ok(())
    } else {
        Err(Failure::Code(code))
    }
}

/// Says what was recorded, on stderr: stdout is the program's, but for JSON that was asked for.
fn show(run: &RunDirectory, recorded: Recorded, json: bool) -> Outcome {
    for missing in &recorded.info.missing {
        eprintln!("tacho: {missing}");
    }
    if let Some(error) = recorded.incomplete {
        return Err(anyhow::Error::new(error).context("the program has ended, its recording is incomplete").into());
    }
    if recorded.nothing_recorded.is_none() {
        let summary = analysis::store(run, None)?;
        explain::conclude(run, &summary, json, &mut std::io::stderr(), explain::terminal_of_stderr())?;
    }
    eprintln!(
        "tacho: run: {} ({:.1} MiB of events)",
        run.path().display(),
        storage_bytes(run)? as f64 / f64::from(1 << 20)
    );
    if recorded.nothing_recorded.is_none() {
        say_next(run);
    }
    Ok(())
}

/// Says what to do with a run.
fn say_next(run: &RunDirectory) {
    let run = run.path().display();
    eprintln!("tacho: next: tacho explain {run} (where the time goes), tacho report {run} (a page)");
}

/// What the event files of a run take on the disk.
fn storage_bytes(run: &RunDirectory) -> std::io::Result<u64> {
    std::fs::read_dir(run.events())?.map(|entry| Ok(512 * entry?.metadata()?.blocks())).sum()
}

fn attached(options: Record) -> Outcome {
    let run = runs::create(options.out.out.clone(), "attached")?;
    let interrupted = interrupt::catch()?;
    let ring = ring(&options, &run)?;
    let pids = options.attach.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let wanted = attach::Wanted {
        limit: options.duration,
        max_bytes: Some(options.max_mib << 20),
        scheduler: options.scheduler.when(),
        ring,
    };
    let on_attached = || eprintln!("tacho: attached to {pids}; ^C ends the recording, the programs go on");
    let recorded = attach::record(&options.attach, &run, interrupted, wanted, on_attached);
    let (info, processes) = recorded.map_err(|error| match error {
        attach::Error::Process { .. } => {
            leave(&run);
            Failure::Usage(error.to_string())
        }
        error => Failure::Fault(error.into()),
    })?;
    interrupt::release()?; // what is left is the analysis, which can be made anew
    info.missing.iter().for_each(|missing| eprintln!("tacho: {missing}"));
    if processes.iter().any(|process| process.events > 0) {
        let summary = analysis::store(&run, None)?;
        explain::conclude(&run, &summary, options.json, &mut std::io::stdout(), explain::terminal())?;
        eprintln!("tacho: run: {}", run.path().display());
        say_next(&run);
        return Ok(());
    }
    eprintln!("tacho: run: {}", run.path().display());
    Ok(())
}

/// Takes away the directory of a run that did not come about, so that the next try may have its name. Where a process
/// wrote into it, it stays.
fn leave(run: &RunDirectory) {
    let Ok(mut events) = std::fs::read_dir(run.events()) else { return };
    if events.all(|file| file.is_ok_and(|file| file.file_name() == "clock.sync")) {
        // It was empty when this run began. If it cannot go, the error that follows is what counts.
        let _stays = std::fs::remove_dir_all(run.path());
    }
}

/// Has another tacho save its ring.
fn save(run: &Path) -> Outcome {
    let saved = ring::ask_to_save(&RunDirectory::new(run)).map_err(|error| match error {
        ring::AskError::NotThere { .. } => Failure::Usage(error.to_string()),
        ring::AskError::Refused(_) => Failure::Fault(error.into()),
    })?;
    let mut saved_as = Lines::new();
    saved_as.line(saved.path().display());
    runs::print(&saved_as)
}

/// What is wanted of the ring, and how to save it, said.
fn ring(options: &Record, run: &RunDirectory) -> Result<Option<ring::Wanted>, Failure> {
    let Some(span) = options.ring else { return Ok(None) };
    let after = options.after.unwrap_or(span / 4);
    if span < SHORTEST_RING || after >= span {
        return Err(Failure::Usage(format!(
            "--ring {span:?}: expected {SHORTEST_RING:?} or more, and more than --after, {after:?}"
        )));
    }
    let watch = (!options.trigger.is_empty()).then(|| {
        let mut watch = Watch::new(run, options.trigger.clone(), monotonic_ns());
        Box::new(move || watch.look(monotonic_ns()).map_err(|error| error.to_string())) as ring::Watch
    });
    eprintln!(
        "tacho: keeping the last {span:?}; to save them: tacho record --save {}, or kill -USR1 {}",
        run.path().display(),
        std::process::id()
    );
    Ok(Some(ring::Wanted { span, after, most_saves: options.saves, watch }))
}
