//! Lints for what only nodes on boards (`host: micro`) need.

use crate::{Boards, Finding};
use std::process::Command;
use tacho_runner::install::Installation;

const NO_BOARDS: &str = "tacho bench runs no node with `host: micro`: study C lacks its emulated points";

impl Boards {
    /// Asks the two programs for their releases, and makes a network for a moment.
    pub(super) fn read() -> Boards {
        let compiler = Command::new("arm-none-eabi-gcc").arg("-dumpversion").output();
        Boards {
            emulator: Some(tacho_runner::micro::emulator_release().map_err(|error| format!("{error:#}"))),
            image: Installation::find()
                .ok()
                .map(|installation| installation.board_image())
                .map(|path| (path.clone(), path.is_file())),
            compiler: Some(
                compiler
                    .ok()
                    .filter(|done| done.status.success())
                    .map(|done| String::from_utf8_lossy(&done.stdout).trim().to_owned()),
            ),
            network: Some(tacho_runner::hosts::allowed().map_err(|error| format!("{error:#}"))),
        }
    }
}

pub(crate) fn findings(facts: &Boards) -> Vec<Finding> {
    vec![emulator(facts), image(facts), compiler(facts), network(facts)]
}

fn emulator(facts: &Boards) -> Finding {
    match &facts.emulator {
        Some(Ok(release)) => Finding::ok("board-emulator", format!("QEMU {release}")),
        Some(Err(words)) => Finding::costs("board-emulator", words, NO_BOARDS).mend("apt-get install qemu-system-arm"),
        None => Finding::unknown("board-emulator", "not looked for"),
    }
}

fn image(facts: &Boards) -> Finding {
    match &facts.image {
        Some((path, true)) => Finding::ok("board-image", path.display().to_string()),
        Some((path, false)) => {
            Finding::costs("board-image", format!("{}: not there", path.display()), NO_BOARDS).mend("make micro")
        }
        None => Finding::unknown("board-image", "not looked for: no installation"),
    }
}

fn compiler(facts: &Boards) -> Finding {
    match &facts.compiler {
        Some(Some(release)) => Finding::ok("board-compiler", format!("arm-none-eabi-gcc {release}")),
        Some(None) => Finding::costs(
            "board-compiler",
            "no arm-none-eabi-gcc",
            "programs of boards cannot be built; those that are built run without it",
        )
        .mend("apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi"),
        None => Finding::unknown("board-compiler", "not looked for"),
    }
}

fn network(facts: &Boards) -> Finding {
    match &facts.network {
        Some(Ok(())) => Finding::ok("board-network", "network namespaces and tap devices may be made"),
        Some(Err(words)) => {
            let cost = "no workload with `hosts`; one board alone, on QEMU's user networking, whose link has no rate";
            Finding::costs("board-network", words, cost).mend(
                "run tacho as root; in a container with --cap-add SYS_ADMIN --cap-add NET_ADMIN --device /dev/net/tun",
            )
        }
        None => Finding::unknown("board-network", "not tried"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn each_part_is_there_or_costs_the_boards_alone() {
        let there = Boards {
            emulator: Some(Ok("7.2.22".into())),
            image: Some(("/b/micro/node.elf".into(), true)),
            compiler: Some(Some("12.2.1".into())),
            network: Some(Ok(())),
        };
        assert!(findings(&there).iter().all(|finding| finding.verdict == Verdict::Ok));
        let missing = Boards {
            emulator: Some(Err("found none".into())),
            image: Some(("/b/micro/node.elf".into(), false)),
            compiler: Some(None),
            network: Some(Err("unshare: Operation not permitted".into())),
        };
        for (finding, mend) in
            findings(&missing).iter().zip(["qemu-system-arm", "make micro", "gcc-arm-none-eabi", "as root"])
        {
            assert!(
                finding.verdict == Verdict::Costs && !finding.needed && finding.mend[0].contains(mend),
                "{finding:?}"
            );
        }
    }
}
