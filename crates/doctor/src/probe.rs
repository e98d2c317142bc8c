//! Starts a node process for each plugin: can it open a session, and was the process recorded by preloading?
//!
//! Each runs in a process of its own, the same that `tacho bench` starts. So middlewares that define the same symbols
//! do not meet, and one that ends its process ends nothing else.

use crate::{Plugin, PluginState, SelfCheck, Software};
use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::time::{Duration, Instant};
use tacho_events::RunDirectory;
use tacho_recording::{RecordedProcess, Recording};
use tacho_runner::board_wire::BoardWire;
use tacho_runner::domain::Domain;
use tacho_runner::install::Installation;
use tacho_runner::leftovers::Note;
use tacho_runner::node_process::{NodeProcess, Place, Said};
use tacho_runner::protocol::{Answer, NodePlan, Plan};
use tacho_workload::model::Node;

/// From its start to an open session; libraries may come from a cold disk.
const OPENING_LIMIT: Duration = Duration::from_secs(30);

/// The result of a process.
struct Tried {
    plugin: String,
    state: PluginState,
    pid: u32,
    /// The dynamic linker's message about the preloaded library.
    linker: String,
}

/// Tries every plugin of the installation.
pub(crate) fn try_all(installation: &Installation, facts: &mut Software) {
    let listed = match tacho_middleware::listed(&installation.libraries()) {
        Ok(listed) => listed,
        Err(error) => {
            facts.plugins = Some(Err(error.to_string()));
            return;
        }
    };
    let mut plugins = Vec::new();
    let mut built = Vec::new();
    for (name, left_out) in listed {
        match left_out {
            Some(tacho_middleware::Error::NotBuilt { reason, .. }) => {
                plugins.push(Plugin { name, state: PluginState::NotBuilt { reason } })
            }
            Some(other) => plugins.push(Plugin { name, state: PluginState::NotBuilt { reason: other.to_string() } }),
            None => built.push(name),
        }
    }
    for (name, program) in installation.client_libraries() {
        match program {
            _ if plugins.iter().any(|plugin| plugin.name == name) => {} // the build already gave the reason
            Ok(_) => built.push(name.to_owned()),
            Err(error) => {
                plugins.push(Plugin { name: name.into(), state: PluginState::NotBuilt { reason: error.mend().into() } })
            }
        }
    }
    if matches!(facts.node, Some(Ok(_))) {
        match try_built(installation, &built) {
            Ok((tried, check)) => {
                plugins.extend(tried.into_iter().map(|tried| Plugin { name: tried.plugin, state: tried.state }));
                facts.self_check = check;
            }
            Err(error) => facts.self_check = Some(SelfCheck::Failed { cause: format!("{error:#}") }),
        }
    }
    let not_tried =
        built.iter().filter(|name| !plugins.iter().any(|plugin| plugin.name == **name)).cloned().collect::<Vec<_>>();
    plugins.extend(not_tried.into_iter().map(|name| Plugin { name, state: PluginState::NotTried }));
    plugins.sort_by(|a, b| a.name.cmp(&b.name));
    facts.plugins = Some(Ok(plugins));
}

fn try_built(installation: &Installation, names: &[String]) -> anyhow::Result<(Vec<Tried>, Option<SelfCheck>)> {
    let folder = tempfile::Builder::new().prefix("tacho-doctor-").tempdir()?;
    let recording = Recording::start(&RunDirectory::new(folder.path()), &installation.recorder());
    let mut environment = recording.as_ref().map(Recording::environment).unwrap_or_default();
    // The doctor must not be visible on the network, unless the user has set the range.
    if std::env::var_os("ROS_AUTOMATIC_DISCOVERY_RANGE").is_none() {
        environment.push(("ROS_AUTOMATIC_DISCOVERY_RANGE".into(), "LOCALHOST".into()));
    }
    let domain = Domain::choose(None)?;
    let mut note = Note::begin().ok();
    let tried = names
        .iter()
        .map(|name| {
            Ok(try_one(
                &installation.program(name)?,
                plan(installation, name, domain.id),
                &environment,
                folder.path(),
                &mut note,
            )?)
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let check = match recording.and_then(Recording::finish) {
        Ok(recorded) => judge(&tried, &recorded),
        Err(error) => Some(SelfCheck::Failed { cause: error.to_string() }),
    };
    Ok((tried, check))
}

/// Returns whether one of the processes with a session and a node was recorded. Returns `None` if there was no such
/// process, because only such a process must have events.
fn judge(tried: &[Tried], recorded: &[RecordedProcess]) -> Option<SelfCheck> {
    let mut usable = tried.iter().filter(|tried| matches!(tried.state, PluginState::Usable { .. })).peekable();
    let first = *usable.peek()?;
    let found = usable.find(|tried| recorded.iter().any(|process| process.pid == tried.pid));
    Some(match found {
        Some(tried) => SelfCheck::Recorded { plugin: tried.plugin.clone() },
        None => SelfCheck::NothingRecorded { words: first.linker.clone() },
    })
}

/// Makes a plan with one node without endpoints.
fn plan(installation: &Installation, middleware: &str, domain: u32) -> Plan {
    let node = Node { name: "tacho_doctor".into(), process: "tacho_doctor".into(), ..Node::default() };
    Plan {
        libraries: installation.libraries(),
        middleware: middleware.into(),
        transport: String::new(),
        domain,
        address: String::new(),
        clock: None,
        nodes: vec![NodePlan {
            node,
            phase: 0.0,
            seed: 0,
            cpus: vec![],
            scheduling: None,
            inputs: vec![],
            outputs: vec![],
            task_library: None,
        }],
        board: None,
    }
}

fn try_one(
    program: &Path,
    plan: Plan,
    environment: &[(OsString, OsString)],
    folder: &Path,
    note: &mut Option<Note>,
) -> std::io::Result<Tried> {
    let (sender, said) = channel();
    let plugin = plan.middleware.clone();
    let log = folder.join(format!("{plugin}.log"));
    let mut process = NodeProcess::start(
        program,
        &plugin,
        0,
        &plan,
        &Place { environment, namespaces: None, wire: BoardWire::User },
        log,
        sender,
    )?;
    note.iter_mut().for_each(|note| note.started(process.pid()));
    let end = Instant::now() + OPENING_LIMIT;
    let opened = loop {
        match said.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok((_, Said::Answer(Answer::Ready { version, .. }))) => break Some(Ok(version)),
            Ok((_, Said::Answer(Answer::Failed { cause }))) => break Some(Err(cause)),
            Ok((_, Said::Ended)) | Err(RecvTimeoutError::Disconnected) => break None,
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => {
                break Some(Err(format!("no session within {} s", OPENING_LIMIT.as_secs())))
            }
        }
    };
    note.iter_mut().for_each(Note::look);
    process.close();
    let exit = process.exit_soon()?;
    let state = match opened {
        Some(Ok(version)) => PluginState::Usable { version },
        Some(Err(cause)) => PluginState::Unusable { cause },
        None => {
            let how = match (exit.signal, exit.code) {
                (Some(signal), _) => format!("signal {signal}"),
                (None, code) => format!("exit code {}", code.unwrap_or_default()),
            };
            PluginState::Unusable { cause: format!("its process ended with {how}: {}", process.last_words()) }
        }
    };
    let log = std::fs::read_to_string(&process.log)?;
    let linker = log.lines().find(|line| line.contains("LD_PRELOAD")).unwrap_or_default().to_owned();
    Ok(Tried { plugin, state, pid: exit.pid, linker })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(plugin: &str, usable: bool) -> Tried {
        let state = if usable {
            PluginState::Usable { version: "1".into() }
        } else {
            PluginState::Unusable { cause: "no".into() }
        };
        Tried { plugin: plugin.into(), state, pid: 7, linker: "ERROR: ld.so: LD_PRELOAD".into() }
    }

    #[test]
    fn nothing_is_said_of_recording_where_no_process_got_so_far() {
        assert_eq!(judge(&[tried("ros2", false)], &[]), None);
        let words = "ERROR: ld.so: LD_PRELOAD".to_owned();
        assert_eq!(judge(&[tried("inproc", true)], &[]), Some(SelfCheck::NothingRecorded { words }));
    }
}
