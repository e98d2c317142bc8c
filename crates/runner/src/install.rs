//! Finds the parts of tacho on this machine.

use std::path::{Path, PathBuf};
use tacho_middleware::Facts;
use tacho_workload::model::{Work, Workload};
use tacho_workload::tasks::TaskKind;

/// Nodes in Python on rclpy, which are built beside the plugins.
const RCLPY: &str = "rclpy";
/// Nodes in C++ on rclcpp: an ament package that is built with ROS 2 and found as ROS 2 packages are.
const RCLCPP: &str = "rclcpp";
/// The program's path below a prefix of AMENT_PREFIX_PATH.
const RCLCPP_NODE: &str = "lib/tacho_rclcpp/node";

/// A folder with `tacho`, `tacho-node`, `lib/libtacho_*.so` and `nodes/`, the programs of nodes on client libraries.
#[derive(Debug, Clone)]
pub struct Installation {
    folder: PathBuf,
    node: PathBuf,
}

/// A part is missing.
#[derive(Debug, thiserror::Error)]
#[error("{path}: not there; expected {what}: {mend}")]
pub struct NotInstalled {
    path: PathBuf,
    what: &'static str,
    mend: String,
}

impl NotInstalled {
    fn of_build(path: PathBuf, what: &'static str) -> NotInstalled {
        let mend = "build it with `make build`, or name the folder of a build in TACHO_HOME".into();
        NotInstalled { path, what, mend }
    }

    /// The action that would resolve it.
    pub fn mend(&self) -> &str {
        &self.mend
    }
}

impl Installation {
    /// Finds the folder that TACHO_HOME names; by default, that of the running program.
    pub fn find() -> Result<Installation, NotInstalled> {
        let folder = match std::env::var_os("TACHO_HOME") {
            Some(named) => PathBuf::from(named),
            None => std::env::current_exe().ok().and_then(|p| p.parent().map(Path::to_owned)).unwrap_or_default(),
        };
        Installation::at(folder)
    }

    /// Uses the installation in this folder.
    pub fn at(folder: PathBuf) -> Result<Installation, NotInstalled> {
        let installation = Installation { node: folder.join("tacho-node"), folder };
        if !installation.recorder().is_file() {
            return Err(NotInstalled::of_build(installation.recorder(), "the recorder"));
        }
        Ok(installation)
    }

    /// Uses another program for nodes.
    pub fn with_node(self, node: PathBuf) -> Installation {
        Installation { node, ..self }
    }

    /// Whether it is of a package, which leaves out what links to libraries of one machine.
    pub fn is_package(&self) -> bool {
        self.folder.join("package").is_file()
    }

    /// Folder of the middleware plugins and the recorder.
    pub fn libraries(&self) -> PathBuf {
        self.folder.join("lib")
    }

    /// The preloaded library.
    pub fn recorder(&self) -> PathBuf {
        self.libraries().join("libtacho_recorder.so")
    }

    /// The kinds of tasks of all installed libraries.
    pub fn tasks(&self) -> Result<Vec<TaskKind>, tacho_tasks::Error> {
        tacho_tasks::kinds(&self.libraries())
    }

    /// The same, without loading the libraries if no node of the workload has a task.
    pub fn tasks_of(&self, workload: &Workload) -> Result<Vec<TaskKind>, tacho_tasks::Error> {
        let has_task = workload.nodes.iter().any(|node| matches!(node.work, Work::Task { .. }));
        if has_task {
            self.tasks()
        } else {
            Ok(vec![])
        }
    }

    /// The image for boards (`host: micro`). It may not exist: its users report that.
    pub fn board_image(&self) -> PathBuf {
        self.folder.join("micro/node.elf")
    }

    /// The program of node processes on plugins.
    pub fn node(&self) -> Result<PathBuf, NotInstalled> {
        let path = self.node.clone();
        if path.is_file() {
            Ok(path)
        } else {
            Err(NotInstalled::of_build(path, "the program of nodes"))
        }
    }

    /// The program of node processes on this middleware: its own if it is a client library, otherwise the one for all
    /// plugins.
    pub fn program(&self, middleware: &str) -> Result<PathBuf, NotInstalled> {
        match middleware {
            RCLPY => self.rclpy(),
            RCLCPP => rclcpp(),
            _ => self.node(),
        }
    }

    /// Facts of a middleware that are known before it is loaded. Client libraries may use Fast DDS as their rmw, so
    /// their programs end alone, as the ROS 2 plugin does.
    pub fn facts(&self, middleware: &str) -> Facts {
        match middleware {
            RCLPY | RCLCPP => Facts { ends_alone: true, ..Facts::default() },
            _ => tacho_middleware::facts(&self.libraries(), middleware),
        }
    }

    /// The client libraries by name, each with its program.
    pub fn client_libraries(&self) -> [(&'static str, Result<PathBuf, NotInstalled>); 2] {
        [RCLCPP, RCLPY].map(|name| (name, self.program(name)))
    }

    fn rclpy(&self) -> Result<PathBuf, NotInstalled> {
        let path = self.folder.join("nodes/rclpy/node");
        if path.is_file() {
            return Ok(path);
        }
        // The build notes why it omitted a part.
        let left_out = std::fs::read_to_string(self.libraries().join(format!("libtacho_{RCLPY}.missing")));
        let missing = NotInstalled::of_build(path, "the program of nodes on rclpy");
        Err(match left_out {
            Ok(reason) => NotInstalled { mend: reason.trim().into(), ..missing },
            Err(_) => missing,
        })
    }
}

fn rclcpp() -> Result<PathBuf, NotInstalled> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    rclcpp_below(std::env::split_paths(&prefixes))
}

fn rclcpp_below(prefixes: impl Iterator<Item = PathBuf>) -> Result<PathBuf, NotInstalled> {
    let mut programs = prefixes.filter(|prefix| !prefix.as_os_str().is_empty()).map(|prefix| prefix.join(RCLCPP_NODE));
    programs.find(|program| program.is_file()).ok_or_else(|| NotInstalled {
        path: RCLCPP_NODE.into(),
        what: "the program of nodes on rclcpp, below a prefix of AMENT_PREFIX_PATH",
        mend: "source ROS 2, then `colcon build --base-paths native/nodes/rclcpp` and source install/setup.bash".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "why it was left out\n").unwrap();
        }
        folder
    }

    #[test]
    fn plugins_share_one_program_and_client_libraries_have_their_own() {
        let folder = folder_with(&["lib/libtacho_recorder.so", "tacho-node", "nodes/rclpy/node"]);
        let installation = Installation::at(folder.path().into()).unwrap();
        assert_eq!(installation.program("ros2").unwrap(), folder.path().join("tacho-node"));
        assert_eq!(installation.program("cyclonedds").unwrap(), folder.path().join("tacho-node"));
        assert_eq!(installation.program("rclpy").unwrap(), folder.path().join("nodes/rclpy/node"));
    }

    #[test]
    fn what_the_build_left_out_is_said_in_its_words() {
        let folder = folder_with(&["lib/libtacho_recorder.so", "lib/libtacho_rclpy.missing"]);
        let error = Installation::at(folder.path().into()).unwrap().program("rclpy").unwrap_err();
        assert!(error.to_string().ends_with("why it was left out"), "{error}");
        let folder = folder_with(&["lib/libtacho_recorder.so"]);
        let error = Installation::at(folder.path().into()).unwrap().program("rclpy").unwrap_err();
        assert!(error.to_string().contains("make build"), "{error}");
    }

    #[test]
    fn rclcpp_is_found_below_the_first_prefix_that_has_it() {
        let (without, with) = (folder_with(&["x"]), folder_with(&[RCLCPP_NODE]));
        let prefixes = || [PathBuf::new(), without.path().into(), with.path().into()].into_iter();
        assert_eq!(rclcpp_below(prefixes()).unwrap(), with.path().join(RCLCPP_NODE));
        let error = rclcpp_below(prefixes().take(2)).unwrap_err();
        assert!(error.to_string().contains("colcon build"), "{error}");
    }
}
