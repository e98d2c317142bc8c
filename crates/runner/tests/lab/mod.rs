//! Runs small workloads, and what they left.
#![allow(dead_code)] // each test file uses a part of it

use std::path::Path;
use std::sync::atomic::AtomicBool;
use tacho_events::run::RunDirectory;
use tacho_events::{Payload, Reader};
use tacho_runner::bench::{Bench, Ran};
use tacho_runner::install::Installation;
use tacho_runner::protocol::NodeFigures;
use tacho_workload::model::Workload;

/// A run directory of its own.
pub struct Lab {
    folder: tempfile::TempDir,
    pub interrupted: AtomicBool,
}

impl Lab {
    pub fn new() -> Lab {
        Lab { folder: tempfile::tempdir().unwrap(), interrupted: AtomicBool::new(false) }
    }

    pub fn run_directory(&self) -> RunDirectory {
        RunDirectory::new(self.folder.path().join("run"))
    }

    pub fn bench<T>(&self, with: impl FnOnce(&Bench) -> T) -> T {
        let home = std::env::var_os("TACHO_HOME").expect("TACHO_HOME must name the build folder (make build)");
        let installation =
            Installation::at(home.into()).unwrap().with_node(Path::new(env!("CARGO_BIN_EXE_tacho-node")).to_owned());
        let command = vec!["test".into()];
        with(&Bench {
            installation: &installation,
            command,
            recorded: true,
            scheduler: Default::default(),
            cpu_time: false,
            interrupted: &self.interrupted,
        })
    }

    pub fn run(&self, workload: &Workload) -> anyhow::Result<Ran> {
        self.bench(|bench| bench.repeat(workload, 0, &self.run_directory(), &mut |_| ()))
    }
}

pub fn workload(middleware: &str, text: &str) -> Workload {
    let (workload, _) = tacho_workload::parse(&format!("middleware: {middleware}{text}"), "test.yaml").unwrap();
    workload
}

pub fn figures<'a>(ran: &'a Ran, node: &str) -> &'a NodeFigures {
    ran.nodes.iter().find(|figures| figures.node == node).unwrap()
}

/// Names of our own kinds of events, in the order of time.
pub fn payloads(run: &RunDirectory) -> Vec<Payload> {
    let mut reader = Reader::open(run).unwrap();
    let mut all = Vec::new();
    while let Some(event) = reader.next_event() {
        all.push(event.payload);
    }
    all
}
