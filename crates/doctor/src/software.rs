//! Lints on tacho itself and on ROS 2.

use crate::{Finding, Plugin, PluginState, SelfCheck, Software};
use std::path::Path;

/// Middleware of a workload that names none; recording and bench of a ROS stack need it.
const DEFAULT_MIDDLEWARE: &str = "ros2";
const BUILD: &str = "make build";

pub(crate) fn findings(facts: &Software) -> Vec<Finding> {
    let mut all = vec![recorder(facts), recording(facts), node(facts)];
    all.extend(middleware(facts));
    all.extend([ros2(facts), rmw(facts)]);
    all
}

fn recorder(facts: &Software) -> Finding {
    match &facts.installation {
        Some(Ok(path)) => Finding::ok("recorder", path.display().to_string()),
        Some(Err(words)) => Finding::broken("recorder", words, "nothing can be recorded").mend(BUILD),
        None => Finding::unknown("recorder", "not looked for"),
    }
    .needed()
}

fn recording(facts: &Software) -> Finding {
    match &facts.self_check {
        Some(SelfCheck::Recorded { plugin }) => {
            Finding::ok("recording", format!("LD_PRELOAD takes effect: a node process on {plugin} was recorded"))
        }
        Some(SelfCheck::NothingRecorded { words }) => {
            let found = if words.is_empty() {
                "a node process ran with the recorder preloaded and left no event file"
            } else {
                words
            };
            Finding::broken("recording", found, "nothing is recorded, in tacho record and in tacho bench").mend(BUILD)
        }
        Some(SelfCheck::Failed { cause }) => {
            Finding::broken("recording", cause, "nothing is recorded, in tacho record and in tacho bench").mend(
                "free space in TMPDIR, move the build to a path without blanks and colons, or build again: make build",
            )
        }
        None => Finding::unknown("recording", "not tried: no node process could be started"),
    }
    .needed()
}

fn node(facts: &Software) -> Finding {
    match &facts.node {
        Some(Ok(path)) => Finding::ok("node-program", path.display().to_string()),
        Some(Err(words)) => Finding::broken("node-program", words, "tacho bench cannot run workloads").mend(BUILD),
        None => Finding::unknown("node-program", "not looked for"),
    }
    .needed()
}

fn middleware(facts: &Software) -> Vec<Finding> {
    let plugins = match &facts.plugins {
        Some(Ok(plugins)) => plugins,
        Some(Err(words)) => {
            return vec![Finding::broken("middleware-ros2", words, "tacho bench has no middleware")
                .mend(BUILD)
                .needed()]
        }
        None => return vec![Finding::unknown("middleware-ros2", "not looked for").needed()],
    };
    let mut all: Vec<Finding> = plugins.iter().map(|one| plugin(one, facts.packaged)).collect();
    if !plugins.iter().any(|plugin| plugin.name == DEFAULT_MIDDLEWARE) {
        let found = "no plugin, and no word of the build on why";
        all.push(
            Finding::broken("middleware-ros2", found, "tacho bench cannot run workloads on ROS 2").mend(BUILD).needed(),
        );
    }
    all
}

fn plugin(plugin: &Plugin, packaged: bool) -> Finding {
    let name = format!("middleware-{}", plugin.name);
    // A package records without any plugin, and cannot hold the one for the ROS 2 of a machine.
    let needed = plugin.name == DEFAULT_MIDDLEWARE && !packaged;
    let cost = format!("tacho bench cannot run workloads on {}; the studies' comparisons lack it", plugin.name);
    let finding = match &plugin.state {
        PluginState::Usable { version } => Finding::ok(name, version),
        PluginState::NotBuilt { reason } if packaged => Finding::costs(name, "not in this package", cost).mend(reason),
        PluginState::Unusable { cause } if packaged && cause.contains("No module named 'rclpy'") => {
            Finding::costs(name, cause, cost)
                .mend("source ROS 2, or install its wheels into the Python environment in use")
        }
        PluginState::NotBuilt { reason } => {
            let finding =
                if needed { Finding::broken(name, "not built", cost) } else { Finding::costs(name, "not built", cost) };
            finding.mend(reason).mend(BUILD)
        }
        PluginState::Unusable { cause } => {
            Finding::broken(name, cause, cost).mend("mend what it says; after a library that was missing, make build")
        }
        PluginState::NotTried => Finding::unknown(name, "built; not tried: no node process could be started"),
    };
    Finding { needed, ..finding }
}

fn ros2(facts: &Software) -> Finding {
    let distribution = facts.ros_distro.as_deref().unwrap_or("ROS_DISTRO not set");
    let cost = "tacho record finds no ros2 command, and rebuilding the plugin ros2 finds no rcl";
    if let Some((gone, _)) = facts.ament_prefixes.iter().find(|(_, there)| !there) {
        let found =
            format!("sourced ({distribution}), but AMENT_PREFIX_PATH names {}, which is not there", gone.display());
        return Finding::costs("ros2", found, "packages of that workspace are not found")
            .mend("source the setup file again, in a new shell");
    }
    match (facts.ament_prefixes.first(), &facts.environment) {
        (Some((first, _)), _) => {
            let more = match facts.ament_prefixes.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Finding::ok("ros2", format!("sourced: {distribution} in {}{more}", first.display()))
        }
        (None, Some(environment)) => {
            Finding::ok("ros2", format!("none is sourced; wheels in {}", environment.display()))
        }
        (None, None) => {
            Finding::costs("ros2", "none is sourced (AMENT_PREFIX_PATH), none in the build's environment", cost)
                .mend("source /opt/ros/<distribution>/setup.bash")
                .mend(BUILD)
        }
    }
}

fn rmw(facts: &Software) -> Finding {
    let Some(name) = &facts.rmw_implementation else {
        return if facts.ament_prefixes.is_empty() && facts.environment.is_none() {
            Finding::unknown(
                "rmw-implementation",
                "RMW_IMPLEMENTATION is not set, and no ROS 2 was found that has a default",
            )
        } else {
            Finding::ok("rmw-implementation", "RMW_IMPLEMENTATION is not set: the default of the ROS 2 above")
        };
    };
    match &facts.rmw_library {
        Some(library) => Finding::ok("rmw-implementation", format!("{name}: {}", library.display())),
        None if facts.ament_prefixes.is_empty() && facts.environment.is_none() => {
            Finding::unknown("rmw-implementation", format!("{name}; no ROS 2 was found to look for it in"))
        }
        None => Finding::broken(
            "rmw-implementation",
            format!("RMW_IMPLEMENTATION is {name}, and lib{name}.so is in none of the ROS 2 above"),
            "ROS 2 programs started from here end at once",
        )
        .mend(install(name, facts.ros_distro.as_deref()))
        .mend("unset RMW_IMPLEMENTATION"),
    }
}

/// Returns the Debian package of an rmw: the distribution's name, then its own with dashes.
fn install(name: &str, distribution: Option<&str>) -> String {
    format!("apt-get install ros-{}-{}", distribution.unwrap_or("<distribution>"), name.replace('_', "-"))
}

/// Returns the path of an rmw's library below a prefix.
pub(crate) fn rmw_library(prefix: &Path, name: &str) -> std::path::PathBuf {
    prefix.join("lib").join(format!("lib{name}.so"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn with_plugin(name: &str, state: PluginState) -> Vec<Finding> {
        let plugins =
            vec![Plugin { name: name.into(), state }, Plugin { name: "inproc".into(), state: PluginState::NotTried }];
        findings(&Software { plugins: Some(Ok(plugins)), ..Software::default() })
    }

    fn named<'a>(all: &'a [Finding], name: &str) -> &'a Finding {
        all.iter().find(|finding| finding.name == name).unwrap()
    }

    #[test]
    fn the_recorder_is_there_or_broken() {
        let of = |installation| recorder(&Software { installation: Some(installation), ..Software::default() });
        assert_eq!(of(Ok("/b/lib/libtacho_recorder.so".into())).verdict, Verdict::Ok);
        let broken = of(Err("/b/lib/libtacho_recorder.so: not there".into()));
        assert!(broken.verdict == Verdict::Broken && broken.needed && broken.found.contains("not there"));
    }

    #[test]
    fn recording_is_ok_only_where_a_process_was_recorded() {
        let of = |check| recording(&Software { self_check: Some(check), ..Software::default() });
        assert_eq!(of(SelfCheck::Recorded { plugin: "inproc".into() }).verdict, Verdict::Ok);
        let words = "object cannot be preloaded: ignored";
        let ignored = of(SelfCheck::NothingRecorded { words: words.into() });
        assert_eq!((ignored.verdict, ignored.found.as_str(), ignored.needed), (Verdict::Broken, words, true));
        assert_eq!(of(SelfCheck::Failed { cause: "disk full".into() }).verdict, Verdict::Broken);
    }

    #[test]
    fn the_program_of_nodes_is_there_or_broken() {
        let of = |path| node(&Software { node: Some(path), ..Software::default() });
        assert_eq!(of(Ok("/b/tacho-node".into())).verdict, Verdict::Ok);
        assert_eq!(of(Err("/b/tacho-node: not there".into())).verdict, Verdict::Broken);
    }

    #[test]
    fn a_plugin_is_usable_left_out_or_broken() {
        let all = with_plugin("cyclonedds", PluginState::Usable { version: "Cyclone DDS 11".into() });
        assert_eq!(
            (named(&all, "middleware-cyclonedds").verdict, named(&all, "middleware-inproc").verdict),
            (Verdict::Ok, Verdict::Unknown)
        );
        let all = with_plugin("connext", PluginState::NotBuilt { reason: "install rti.connext".into() });
        let connext = named(&all, "middleware-connext");
        assert!(connext.verdict == Verdict::Costs && !connext.needed && connext.mend[0] == "install rti.connext");
        let all = with_plugin("connext", PluginState::Unusable { cause: "no licence file".into() });
        assert!(
            named(&all, "middleware-connext").verdict == Verdict::Broken && !named(&all, "middleware-connext").needed
        );
    }

    #[test]
    fn ros2_is_needed_however_it_is_missing() {
        for state in [
            PluginState::NotBuilt { reason: "source ROS 2".into() },
            PluginState::Unusable { cause: "librcl.so: not found".into() },
        ] {
            let all = with_plugin("ros2", state);
            assert!(named(&all, "middleware-ros2").verdict == Verdict::Broken && named(&all, "middleware-ros2").needed);
        }
        let all = with_plugin("socket", PluginState::NotTried);
        assert!(named(&all, "middleware-ros2").verdict == Verdict::Broken && named(&all, "middleware-ros2").needed);
        let usable = with_plugin("ros2", PluginState::Usable { version: "rcl 10".into() });
        assert_eq!(named(&usable, "middleware-ros2").verdict, Verdict::Ok);
    }

    #[test]
    fn a_package_needs_no_ros_2_and_says_what_it_leaves_out() {
        let of = |name: &str, state| {
            let plugins = vec![Plugin { name: name.into(), state }];
            let facts = Software { plugins: Some(Ok(plugins)), packaged: true, ..Software::default() };
            findings(&facts).into_iter().find(|finding| finding.name == format!("middleware-{name}")).unwrap()
        };
        let left_out = of("ros2", PluginState::NotBuilt { reason: "it needs librcl.so".into() });
        assert_eq!((left_out.verdict, left_out.needed), (Verdict::Costs, false));
        assert_eq!(
            (left_out.found.as_str(), left_out.mend),
            ("not in this package", vec!["it needs librcl.so".into()])
        );
        let no_rclpy = of("rclpy", PluginState::Unusable { cause: "No module named 'rclpy'".into() });
        assert_eq!(no_rclpy.verdict, Verdict::Costs);
        let broken = of("zenoh", PluginState::Unusable { cause: "it crashed".into() });
        assert_eq!(broken.verdict, Verdict::Broken);
    }

    #[test]
    fn ros_2_is_sourced_beside_tacho_stale_or_absent() {
        let sourced =
            |there| Software { ament_prefixes: vec![("/opt/ros/kilted".into(), there)], ..Software::default() };
        assert_eq!(ros2(&sourced(true)).verdict, Verdict::Ok);
        assert_eq!(ros2(&sourced(false)).verdict, Verdict::Costs);
        assert_eq!(ros2(&Software { environment: Some("/b/venv".into()), ..Software::default() }).verdict, Verdict::Ok);
        assert_eq!(ros2(&Software::default()).verdict, Verdict::Costs);
    }

    #[test]
    fn an_rmw_that_is_asked_for_must_be_there() {
        let mut facts = Software {
            ament_prefixes: vec![("/opt/ros/kilted".into(), true)],
            ros_distro: Some("kilted".into()),
            ..Software::default()
        };
        assert_eq!(rmw(&facts).verdict, Verdict::Ok);
        facts.rmw_implementation = Some("rmw_zenoh_cpp".into());
        let missing = rmw(&facts);
        assert_eq!(
            (missing.verdict, missing.mend[0].as_str()),
            (Verdict::Broken, "apt-get install ros-kilted-rmw-zenoh-cpp")
        );
        facts.rmw_library = Some("/opt/ros/kilted/lib/librmw_zenoh_cpp.so".into());
        assert_eq!(rmw(&facts).verdict, Verdict::Ok);
        assert_eq!(
            rmw(&Software { rmw_implementation: Some("rmw_x".into()), ..Software::default() }).verdict,
            Verdict::Unknown
        );
    }
}
