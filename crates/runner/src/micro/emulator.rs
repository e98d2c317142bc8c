//! Runs QEMU with one board: starts it, uses its console, ends it.

use crate::board_wire::BoardWire;
use crate::protocol::BoardPlan;
use anyhow::{bail, Context, Result};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = "qemu-system-arm";
/// ARM's MPS2 with the FPGA image AN386: a Cortex-M4 at 25 MHz with a LAN9118.
const MACHINE: &str = "mps2-an386";
/// `NODE_PLAN` of micro/ports/qemu/chip.h.
const PLAN_ADDRESS: u64 = 0x2100_0000;
/// Longest time from the request to end until the emulator ends.
const ENDING_LIMIT: Duration = Duration::from_secs(3);
/// RTPS (9.6.1.1): the discovery port of a domain, the first participant's unicast ports after it, and the offset that
/// QEMU's user networking adds for the host.
const DISCOVERY_PORT: u32 = 7400;
const PORTS_OF_DOMAIN: u32 = 250;
const UNICAST: [u32; 2] = [10, 11];
const HOST_PORTS: u32 = 10_000;

/// Release of the emulator; the error says what to install.
pub fn version() -> Result<String> {
    let output = match Command::new(PROGRAM).arg("--version").env_remove("LD_PRELOAD").output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("`host: micro` needs the program {PROGRAM}: found none; apt-get install qemu-system-arm")
        }
        output => output.context(PROGRAM)?,
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.lines().next().unwrap_or_default().split(' ');
    Ok(words.skip_while(|word| *word != "version").nth(1).unwrap_or("of unknown release").to_owned())
}

/// Description of the board, for people.
pub fn machine(version: &str) -> String {
    format!("emulated {MACHINE} (Cortex-M4, 25 MHz; QEMU {version})")
}

/// Description of a board's connection, for people.
pub fn network(wire: BoardWire) -> &'static str {
    match wire {
        BoardWire::Tap(_) => "tap device on a bridge, in a network namespace",
        BoardWire::Switch(_) => "switch of tacho, in user space",
        BoardWire::User => "QEMU's user networking",
    }
}

/// A running board.
#[derive(Debug)]
pub struct Emulator {
    child: Child,
    console: Option<ChildStdin>,
}

impl Emulator {
    /// Starts it with the given plan. `said` receives each line of its console, and `None` at its end.
    pub fn start(
        board: &BoardPlan,
        wire: BoardWire,
        domain: u32,
        told: &Path,
        said: impl Fn(Option<String>) + Send + 'static,
    ) -> Result<Emulator> {
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments(board, wire, domain, told))
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // SAFETY: prctl is async-signal-safe.
        unsafe {
            command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            });
        }
        let mut child = command.spawn().context(PROGRAM)?;
        let stdout = child.stdout.take().context("no pipe from the emulator")?;
        let console = child.stdin.take();
        std::thread::Builder::new().name("console".into()).spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).for_each(|line| said(Some(line)));
            said(None);
        })?;
        Ok(Emulator { child, console })
    }

    /// Sends a letter to its console. If the emulator has ended, `said` reports that.
    pub fn tell(&mut self, letter: u8) {
        if let Some(console) = &mut self.console {
            let _ = console.write_all(&[letter]).and_then(|()| console.flush());
            // EPIPE: the emulator has ended, as above.
        }
    }

    /// Returns how it ended; kills it if it does not end soon.
    pub fn end(&mut self) -> Result<ExitStatus> {
        let limit = Instant::now() + ENDING_LIMIT;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() > limit {
                self.child.kill()?;
                return Ok(self.child.wait()?);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill(); // it may have ended meanwhile
            let _ = self.child.wait();
        }
    }
}

fn arguments(board: &BoardPlan, wire: BoardWire, domain: u32, told: &Path) -> Vec<String> {
    let [a, b, c, d] = board.address.octets();
    let mac = format!("02:{domain:02x}:{a:02x}:{b:02x}:{c:02x}:{d:02x}");
    let netdev = match wire {
        BoardWire::Tap(fd) => format!("tap,id=wire,fd={fd}"),
        BoardWire::Switch(fd) => format!("dgram,id=wire,local.type=fd,local.str={fd}"),
        BoardWire::User => {
            let base = DISCOVERY_PORT + PORTS_OF_DOMAIN * domain;
            let forwarded =
                UNICAST.map(|port| format!(",hostfwd=udp:127.0.0.1:{}-:{}", base + HOST_PORTS + port, base + port));
            format!("user,id=wire{}", forwarded.concat())
        }
    };
    let load = format!("loader,file={},addr={PLAN_ADDRESS:#x},force-raw=on", comma_doubled(told));
    let words = [
        "-M",
        MACHINE,
        "-kernel",
        &board.image.display().to_string(),
        "-display",
        "none",
        "-monitor",
        "none",
        "-serial",
        "stdio",
        "-semihosting",
        "-device",
        &load,
        "-netdev",
        &netdev,
        "-net",
        &format!("nic,model=lan9118,netdev=wire,macaddr={mac}"),
    ]
    .map(str::to_owned);
    words.to_vec()
}

/// Doubles commas of a path within an option, in which a single comma would end it.
fn comma_doubled(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_network_of_its_own_the_host_forwards_the_ports_of_the_domain() {
        let board = BoardPlan { image: "/i/node.elf".into(), address: [10, 0, 2, 15].into(), at_once: false };
        let words = arguments(&board, BoardWire::User, 7, Path::new("/tmp/a,b")).join(" ");
        assert!(words.contains("hostfwd=udp:127.0.0.1:19160-:9160,hostfwd=udp:127.0.0.1:19161-:9161"), "{words}");
        assert!(
            words.contains("macaddr=02:07:0a:00:02:0f") && words.contains("file=/tmp/a,,b,addr=0x21000000"),
            "{words}"
        );
    }
}
