//! Counts bytes on the wire: every frame once, at the port where it enters the bridge, by a packet socket (packet(7)).
//!
//! Traffic of tacho itself with boards is not counted. The thread reads now and then rather than at every frame, so
//! that it does not disturb the measured nodes.

use super::namespace::Namespace;
use anyhow::{Context, Result};
use std::io;
use std::net::Ipv4Addr;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tacho_events::run::WireCount;
use tacho_recording::clock::monotonic_ns;

/// Bytes captured of each frame, enough to see whether it carries a message.
const SNAP: usize = 192;
/// Room for frames that are not read yet, bytes as the kernel counts them.
const BUFFER: libc::c_int = 64 << 20;
const LOOKING: Duration = Duration::from_millis(5);
const ETHERNET: usize = 14;
const UDP: u8 = 17;
const RTPS_HEADER: usize = 20;
/// RTPS 9.4.5.1.1.
const DATA: u8 = 0x15;
const DATA_FRAG: u8 = 0x16;
/// The two highest bits of a built-in entity's kind (RTPS 9.3.1.2).
const BUILTIN: u8 = 0xc0;

/// Counts so far, and the window between two instants of CLOCK_MONOTONIC.
#[derive(Debug, Default)]
struct State {
    window_ns: Range<i64>,
    counts: WireCount,
}

/// Counts until it is dropped.
#[derive(Debug)]
pub struct Wire {
    state: Arc<Mutex<State>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Wire {
    /// Counts on these ports of the bridge, without frames to or from `own`.
    pub fn start(bridge: &Namespace, ports: &[String], own: Option<Ipv4Addr>) -> Result<Wire> {
        let (socket, ports) = bridge
            .within(|| Ok((open()?, ports.iter().map(|name| index(name)).collect::<io::Result<Vec<_>>>()?)))
            .context("counting bytes on the wire")?;
        let state = Arc::new(Mutex::new(State::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let (into, stopped) = (state.clone(), stop.clone());
        let thread = std::thread::Builder::new().name("wire".into()).spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                std::thread::sleep(LOOKING);
                drain(&socket, &ports, own, &into);
            }
        })?;
        Ok(Wire { state, stop, thread: Some(thread) })
    }

    /// Sets the window of the counts, accurate to the interval between two reads.
    pub fn measure(&self, window_ns: Range<i64>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).window_ns = window_ns;
    }

    /// The counts of the window.
    pub fn counted(&self) -> WireCount {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).counts.clone()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // its panic was printed
        }
    }
}

fn open() -> io::Result<OwnedFd> {
    let all = (libc::ETH_P_ALL as u16).to_be();
    // SAFETY: plain calls; the descriptor is new and owned by the OwnedFd alone; the option points at an int that lives
    // through the call.
    unsafe {
        let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, all.into());
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(fd);
        let size = std::mem::size_of::<libc::c_int>() as libc::socklen_t;
        match libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, std::ptr::from_ref(&BUFFER).cast(), size) {
            0 => Ok(socket),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn index(name: &str) -> io::Result<i32> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: the name ends with a zero.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index as i32),
    }
}

fn drain(socket: &OwnedFd, ports: &[i32], own: Option<Ipv4Addr>, into: &Mutex<State>) {
    let mut counts = WireCount::default();
    let mut frame = [0u8; SNAP];
    loop {
        // SAFETY: zeroed is valid for the address; all pointers live through the call, with their sizes. MSG_TRUNC
        // makes the call return the whole length.
        let (size, from) = unsafe {
            let mut from: libc::sockaddr_ll = std::mem::zeroed();
            let mut length = std::mem::size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            let size = libc::recvfrom(
                socket.as_raw_fd(),
                frame.as_mut_ptr().cast(),
                SNAP,
                libc::MSG_TRUNC,
                (&raw mut from).cast(),
                &mut length,
            );
            (size, from)
        };
        if size < 0 {
            break; // EAGAIN: no frame is left
        }
        if from.sll_pkttype != libc::PACKET_OUTGOING && ports.contains(&from.sll_ifindex) {
            count(&mut counts, &frame[..SNAP.min(size as usize)], size as u64, own);
        }
    }
    counts.missed += missed(socket);
    let mut state = into.lock().unwrap_or_else(PoisonError::into_inner);
    if state.window_ns.contains(&monotonic_ns()) {
        let so_far = &mut state.counts;
        so_far.frames += counts.frames;
        so_far.bytes += counts.bytes;
        so_far.data_frames += counts.data_frames;
        so_far.data_bytes += counts.data_bytes;
        so_far.missed += counts.missed;
    }
}

/// Frames dropped since the last read because the buffer was full.
fn missed(socket: &OwnedFd) -> u64 {
    let mut statistics = [0u32; 2]; // struct tpacket_stats: packets, drops
    let mut size = std::mem::size_of_val(&statistics) as libc::socklen_t;
    // SAFETY: the buffer lives through the call and has the given size.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            statistics.as_mut_ptr().cast(),
            &mut size,
        )
    };
    if got == 0 {
        statistics[1].into()
    } else {
        0
    }
}

/// Counts one frame of `size` bytes, of which `frame` is the beginning.
fn count(counts: &mut WireCount, frame: &[u8], size: u64, own: Option<Ipv4Addr>) {
    let ip = frame.get(ETHERNET..).filter(|ip| frame[12..14] == [8, 0] && ip.len() >= 20);
    let is_own = |ip: &[u8]| own.is_some_and(|own| ip[12..16] == own.octets() || ip[16..20] == own.octets());
    if ip.is_some_and(is_own) {
        return;
    }
    counts.frames += 1;
    counts.bytes += size;
    if ip.is_some_and(carries_data) {
        counts.data_frames += 1;
        counts.data_bytes += size;
    }
}

/// Whether an IPv4 packet is, or is a later fragment of, a UDP datagram with application data: for RTPS, a DATA of a
/// writer that is not built in.
fn carries_data(ip: &[u8]) -> bool {
    let header = usize::from(ip[0] & 15) * 4;
    let is_later_piece = u16::from_be_bytes([ip[6], ip[7]]) & 0x1fff != 0;
    if ip[9] != UDP || is_later_piece {
        return ip[9] == UDP;
    }
    let Some(payload) = ip.get(header + 8..) else { return false };
    if payload.get(..4) != Some(b"RTPS") {
        return !payload.is_empty();
    }
    let mut at = RTPS_HEADER;
    while let Some([id, flags, a, b]) = payload.get(at..at + 4) {
        let little = flags & 1 != 0;
        let length = usize::from(if little { u16::from_le_bytes([*a, *b]) } else { u16::from_be_bytes([*a, *b]) });
        // Skips the extra flags, the octets to inline QoS and the reader's id. The last octet of the writer's id is its
        // kind.
        let kind = payload.get(at + 4 + 11);
        if matches!(*id, DATA | DATA_FRAG) && kind.is_some_and(|kind| kind & BUILTIN != BUILTIN) {
            return true;
        }
        if length == 0 {
            return false; // to the end of the message
        }
        at += 4 + length;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(protocol: u8, offset: u16, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; ETHERNET + 20];
        frame[12..14].copy_from_slice(&[8, 0]);
        frame[ETHERNET] = 0x45;
        frame[ETHERNET + 6..ETHERNET + 8].copy_from_slice(&offset.to_be_bytes());
        frame[ETHERNET + 9] = protocol;
        frame[ETHERNET + 12..ETHERNET + 16].copy_from_slice(&[10, 77, 0, 5]);
        frame.extend([0; 8]);
        frame.extend(payload);
        frame
    }

    fn rtps(submessages: &[(u8, u8)]) -> Vec<u8> {
        let mut message = b"RTPS".to_vec();
        message.resize(RTPS_HEADER, 0);
        for (id, kind) in submessages {
            message.extend([*id, 1, 16, 0]);
            let mut body = [0; 16];
            body[11] = *kind;
            message.extend(body);
        }
        message
    }

    fn counted(frames: &[Vec<u8>], own: Option<Ipv4Addr>) -> (u64, u64) {
        let mut counts = WireCount::default();
        frames.iter().for_each(|frame| count(&mut counts, frame, frame.len() as u64, own));
        (counts.frames, counts.data_frames)
    }

    #[test]
    fn data_of_the_application_is_told_from_discovery_and_acknowledgements() {
        // INFO_TS, then DATA of a user's writer; DATA of SPDP; HEARTBEAT; plain UDP; a later piece; ARP.
        assert_eq!(counted(&[frame(UDP, 0, &rtps(&[(9, 0), (DATA, 0x03)]))], None), (1, 1));
        assert_eq!(counted(&[frame(UDP, 0, &rtps(&[(DATA, 0xc2)])), frame(UDP, 0, &rtps(&[(7, 0x03)]))], None), (2, 0));
        assert_eq!(counted(&[frame(UDP, 0, b"hello"), frame(UDP, 185, b"rest"), vec![0; 60]], None), (3, 2));
        assert_eq!(counted(&[frame(1, 0, b"ping")], None), (1, 0));
        assert_eq!(counted(&[frame(UDP, 0, b"hello")], Some(Ipv4Addr::new(10, 77, 0, 5))), (0, 0));
    }
}
