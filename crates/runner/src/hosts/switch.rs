//! A switch in user space, for kernels without netem. Every host's interface is a tap device, and a thread forwards
//! their frames late or not at all, as the links demand.

use super::namespace::{Namespace, INTERFACE};
use anyhow::{Context, Result};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::thread::JoinHandle;
use tacho_recording::clock::monotonic_ns;
use tacho_workload::model::Link;
use tacho_workload::random::{mix, Draws};

/// An Ethernet frame with the standard MTU, and some room.
const FRAME_MAX: usize = 2048;
/// Most bytes that wait for a link; later frames are dropped. The kernel's queue has the same size.
const QUEUE_BYTES: u64 = 4 << 20;
/// `TUNSETIFF` of linux/if_tun.h.
const TUNSETIFF: libc::c_ulong = 0x4004_54ca;

/// The switch. Dropping this ends it.
#[derive(Debug)]
pub struct Switch {
    stop: File,
    thread: Option<JoinHandle<()>>,
}

impl Switch {
    /// Makes every host's interface and begins to forward frames. Boards have no kernel for an interface: each gets a
    /// descriptor of datagrams, one for each frame.
    pub fn start(hosts: &[&Namespace], links: &[Link], boards: &[Link]) -> Result<(Switch, Vec<OwnedFd>)> {
        let mut taps = hosts
            .iter()
            .map(|host| host.within(|| tap(INTERFACE)))
            .collect::<io::Result<Vec<_>>>()
            .context("/dev/net/tun")?;
        let mut wires = Vec::new();
        for _ in boards {
            let (ours, theirs) = UnixDatagram::pair()?;
            ours.set_nonblocking(true)?;
            taps.push(OwnedFd::from(ours).into());
            wires.push(theirs.into());
        }
        let links: Vec<Link> = links.iter().chain(boards).copied().collect();
        // SAFETY: a new descriptor, owned by the File alone.
        let stop = match unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) } {
            fd if fd >= 0 => unsafe { File::from_raw_fd(fd) },
            _ => return Err(io::Error::last_os_error()).context("eventfd"),
        };
        let stopped = stop.try_clone()?;
        let fabric = Fabric::new(&links);
        let thread =
            std::thread::Builder::new().name("switch".into()).spawn(move || pass_on(taps, &stopped, fabric))?;
        Ok((Switch { stop, thread: Some(thread) }, wires))
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        let told = (&self.stop).write_all(&1u64.to_ne_bytes());
        if let (Ok(()), Some(thread)) = (told, self.thread.take()) {
            let _ = thread.join(); // its panic was printed
        }
    }
}

/// Makes a tap device in the namespace of the calling thread.
pub fn tap(name: &str) -> io::Result<File> {
    let file = File::options().read(true).write(true).open("/dev/net/tun")?;
    // SAFETY: zeroed is valid for ifreq; the name fits with its NUL.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request is valid, and the descriptor open.
    let made = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, &request) } == 0
        && unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } == 0;
    made.then_some(file).ok_or_else(io::Error::last_os_error)
}

fn pass_on(mut taps: Vec<File>, stop: &File, mut fabric: Fabric) {
    let mut buffer = [0u8; FRAME_MAX];
    loop {
        let mut polled: Vec<libc::pollfd> = taps
            .iter()
            .chain([stop])
            .map(|file| libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 })
            .collect();
        let left_ns = fabric.next_ns().map(|at| (at - monotonic_ns()).max(0));
        let timeout = left_ns.map(|ns| libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 });
        let timeout = timeout.as_ref().map_or(std::ptr::null(), |timeout| timeout as *const _);
        // SAFETY: all pointers are valid. On EINTR, nothing is ready.
        unsafe { libc::ppoll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout, std::ptr::null()) };
        if polled.last().is_some_and(|stop| stop.revents != 0) {
            return;
        }
        for (from, tap) in taps.iter_mut().enumerate() {
            while let Ok(size) = tap.read(&mut buffer) {
                fabric.sent(from, &buffer[..size], monotonic_ns());
            }
        }
        while let Some((to, frame)) = fabric.due(monotonic_ns()) {
            let _ = taps[to].write(&frame); // an interface that is not up receives nothing
        }
    }
}

/// One direction of a link.
#[derive(Debug)]
struct Wire {
    rate_bit_per_s: Option<u64>,
    delay_ns: i64,
    loss: f64,
    /// When it has sent all frames given to it.
    free_ns: i64,
    draws: Draws,
}

impl Wire {
    fn new(link: &Link, seed: u64) -> Wire {
        Wire {
            rate_bit_per_s: link.rate_bit_per_s,
            delay_ns: link.delay.map_or(0, |delay| delay.as_nanos() as i64),
            loss: link.loss_percent.unwrap_or(0.0) / 100.0,
            free_ns: 0,
            draws: Draws::new(seed),
        }
    }

    /// When a frame given at an instant arrives; `None` if it is lost or the queue is full.
    fn carry(&mut self, bytes: usize, at_ns: i64) -> Option<i64> {
        let mut out_ns = at_ns;
        if let Some(rate) = self.rate_bit_per_s {
            let waits_ns = (self.free_ns - at_ns).max(0);
            if waits_ns as f64 * rate as f64 / 8e9 > QUEUE_BYTES as f64 {
                return None;
            }
            out_ns = at_ns + waits_ns + (bytes as f64 * 8e9 / rate as f64) as i64;
            self.free_ns = out_ns;
        }
        // A frame lost on the way has used the link.
        let lost = self.draws.uniform() <= self.loss;
        (!lost).then_some(out_ns + self.delay_ns)
    }
}

/// A frame in transit: on its sender's link, then on its receiver's.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    at_ns: i64,
    /// Keeps the order of frames of the same instant.
    number: u64,
    to: usize,
    /// Whether it has also passed the second link.
    arrived: bool,
    frame: Vec<u8>,
}

/// The links, the frames on them, and the Ethernet addresses of each host.
#[derive(Debug)]
struct Fabric {
    up: Vec<Wire>,
    down: Vec<Wire>,
    hosts: BTreeMap<[u8; 6], usize>,
    flights: BinaryHeap<Reverse<Flight>>,
    number: u64,
}

impl Fabric {
    fn new(links: &[Link]) -> Fabric {
        let wires =
            |salt: u64| links.iter().zip(0u64..).map(move |(link, index)| Wire::new(link, mix(salt ^ index))).collect();
        Fabric {
            up: wires(1 << 32),
            down: wires(2 << 32),
            hosts: BTreeMap::new(),
            flights: BinaryHeap::new(),
            number: 0,
        }
    }

    /// Forwards a frame: to the host that it addresses, or to all others if it addresses a group or an unknown address.
    fn sent(&mut self, from: usize, frame: &[u8], now_ns: i64) {
        let Some((to, source)) =
            frame.get(..6).zip(frame.get(6..12).and_then(|source| <[u8; 6]>::try_from(source).ok()))
        else {
            return;
        };
        self.hosts.insert(source, from);
        let Some(at_ns) = self.up[from].carry(frame.len(), now_ns) else { return };
        let known = self.hosts.get(to).copied();
        for to in (0..self.down.len()).filter(|to| *to != from && known.is_none_or(|known| known == *to)) {
            self.fly(Flight { at_ns, number: 0, to, arrived: false, frame: frame.to_vec() });
        }
    }

    fn fly(&mut self, flight: Flight) {
        self.number += 1;
        self.flights.push(Reverse(Flight { number: self.number, ..flight }));
    }

    /// The next frame that has arrived by an instant, and its receiver.
    fn due(&mut self, now_ns: i64) -> Option<(usize, Vec<u8>)> {
        while self.next_ns()? <= now_ns {
            let Reverse(flight) = self.flights.pop()?;
            if flight.arrived {
                return Some((flight.to, flight.frame));
            }
            if let Some(at_ns) = self.down[flight.to].carry(flight.frame.len(), flight.at_ns) {
                self.fly(Flight { at_ns, arrived: true, ..flight });
            }
        }
        None
    }

    /// When the next frame arrives.
    fn next_ns(&self) -> Option<i64> {
        self.flights.peek().map(|Reverse(flight)| flight.at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn frame(to: u8, from: u8, size: usize) -> Vec<u8> {
        let mut frame = vec![0; size];
        (frame[5], frame[11]) = (to, from);
        frame
    }

    fn arrivals(fabric: &mut Fabric, until_ns: i64) -> Vec<(i64, usize, u8)> {
        let mut seen = Vec::new();
        while let Some(at_ns) = fabric.next_ns().filter(|at| *at <= until_ns) {
            while let Some((to, frame)) = fabric.due(at_ns) {
                seen.push((at_ns, to, frame[11]));
            }
        }
        seen
    }

    #[test]
    fn a_frame_takes_both_delays_and_both_serialisations() {
        let slow = Link { rate_bit_per_s: Some(8_000_000), delay: Some(Duration::from_millis(2)), ..Link::default() };
        let mut fabric = Fabric::new(&[slow, Link { delay: Some(Duration::from_millis(1)), ..Link::default() }]);
        // 1000 bytes at 1 byte a microsecond: the second frame waits for the first.
        fabric.sent(0, &frame(9, 1, 1000), 0);
        fabric.sent(0, &frame(9, 1, 1000), 0);
        assert_eq!(arrivals(&mut fabric, 1 << 40), [(4_000_000, 1, 1), (5_000_000, 1, 1)]);
        // The reply: the delay of the sender, then queue and delay of the receiver.
        fabric.sent(1, &frame(1, 9, 500), 10_000_000);
        assert_eq!(arrivals(&mut fabric, 1 << 40), [(13_500_000, 0, 9)]);
    }

    #[test]
    fn known_addresses_get_their_own_frames_and_groups_go_to_all_others() {
        let mut fabric = Fabric::new(&[Link::default(); 3]);
        fabric.sent(0, &frame(0xff, 1, 64), 0);
        fabric.sent(1, &frame(1, 2, 64), 1);
        let seen: Vec<_> = arrivals(&mut fabric, 1 << 40).into_iter().map(|(_, to, from)| (to, from)).collect();
        assert_eq!(seen, [(1, 1), (2, 1), (0, 2)]);
    }

    #[test]
    fn losses_of_both_links_multiply_and_a_full_queue_drops() {
        let half = Link { loss_percent: Some(50.0), ..Link::default() };
        let mut fabric = Fabric::new(&[half, half]);
        (0..10_000).for_each(|at| fabric.sent(0, &frame(9, 1, 64), at));
        let arrived = arrivals(&mut fabric, 1 << 40).len();
        // A quarter, within four standard deviations.
        assert!((2500 - 174..2500 + 174).contains(&arrived), "{arrived}");

        let mut fabric = Fabric::new(&[Link { rate_bit_per_s: Some(1_000_000), ..Link::default() }, Link::default()]);
        (0..5000).for_each(|_| fabric.sent(0, &frame(9, 1, 1000), 0));
        let carried = arrivals(&mut fabric, i64::MAX).len();
        assert_eq!(carried as u64, QUEUE_BYTES / 1000 + 1);
    }
}
