//! RTPS over UDP on one interface (RTPS 2.5, 9.6). Dust DDS's own transport sends discovery on all interfaces of the
//! machine, and never ends the threads that receive.

use crate::announcements;
use dust_dds::transport::interface::{
    RtpsTransportParticipant, TransportDataReceiver, TransportParticipantFactory, WriteMessage,
};
use dust_dds::transport::types::{Locator, LOCATOR_KIND_UDP_V4};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::{Mutex, PoisonError};
use tacho_seam::{Error, Result, Say, MIB};
use tokio::runtime::Handle;

/// RTPS 9.6.2.4.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
/// RTPS 9.6.2.3: port of domain 0; each further domain adds DOMAIN_GAIN.
const DISCOVERY_PORT: u32 = 7400;
const DOMAIN_GAIN: u32 = 250;
/// The last domain whose ports all exist.
const LAST_DOMAIN: u32 = 232;
const LARGEST_DATAGRAM: usize = 65_507;
/// Most bytes of a message in one datagram: Dust DDS's default.
const FRAGMENT: usize = 1344;
/// Requested buffer of a socket in bytes; the kernel grants at most net.core.rmem_max.
const RECEIVE_BUFFER: usize = 4 * MIB;

/// The sockets of a participant, until it takes them.
pub struct Udp {
    tasks: Handle,
    interface: Ipv4Addr,
    port: u16,
    sockets: Mutex<Option<Sockets>>,
}

struct Sockets {
    discovery: UdpSocket,
    metatraffic: UdpSocket,
    user: UdpSocket,
    sending: UdpSocket,
}

impl Udp {
    /// Opens them on the interface with this address; "": the loopback.
    pub fn open(domain: u32, address: &str, tasks: Handle) -> Result<Self> {
        let address = if address.is_empty() { "127.0.0.1" } else { address };
        let interface: Ipv4Addr = address.parse().map_err(|_| {
            Error::new(format!(
                "address \"{address}\" is no IPv4 address; expected one of an interface of this machine"
            ))
        })?;
        if domain > LAST_DOMAIN {
            return Err(Error::new(format!("domain {domain} has no ports in RTPS; expected 0 to {LAST_DOMAIN}")));
        }
        let port = (DISCOVERY_PORT + DOMAIN_GAIN * domain) as u16;
        let sockets =
            Sockets::open(interface, port).say(|| format!("UDP sockets on {interface}, discovery on port {port}"))?;
        Ok(Self { tasks, interface, port, sockets: Mutex::new(Some(sockets)) })
    }

    fn locator(&self, socket: &UdpSocket) -> Locator {
        let port = socket.local_addr().expect("a bound socket").port();
        locator(self.interface, port)
    }
}

impl Sockets {
    fn open(interface: Ipv4Addr, port: u16) -> io::Result<Self> {
        let discovery = socket()?;
        discovery.set_reuse_address(true)?; // every participant of the machine hears this port
        discovery.bind(&SocketAddrV4::new(GROUP, port).into())?;
        discovery.set_multicast_all_v4(false)?; // otherwise also packets for others' memberships, on any interface
        discovery.join_multicast_v4(&GROUP, &interface)?;
        let sending = socket()?;
        sending.bind(&SocketAddrV4::new(interface, 0).into())?;
        sending.set_multicast_if_v4(&interface)?;
        sending.set_nonblocking(false)?;
        // The system chooses the ports, because those of RTPS's formula suffice only for 120 participants of a machine.
        let of_its_own = || {
            let socket = socket()?;
            socket.bind(&SocketAddrV4::new(interface, 0).into())?;
            Ok::<UdpSocket, io::Error>(socket.into())
        };
        Ok(Self {
            discovery: discovery.into(),
            metatraffic: of_its_own()?,
            user: of_its_own()?,
            sending: sending.into(),
        })
    }
}

fn socket() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn locator(address: Ipv4Addr, port: u16) -> Locator {
    let mut bytes = [0; 16];
    bytes[12..].copy_from_slice(&address.octets());
    Locator::new(LOCATOR_KIND_UDP_V4, port.into(), bytes)
}

impl TransportParticipantFactory for Udp {
    fn create_participant(&self, _domain: i32, receiver: TransportDataReceiver) -> RtpsTransportParticipant {
        let sockets =
            self.sockets.lock().unwrap_or_else(PoisonError::into_inner).take().expect("one participant a session");
        let participant = RtpsTransportParticipant {
            message_writer: Box::new(Sender::new(sockets.sending)),
            default_unicast_locator_list: vec![self.locator(&sockets.user)],
            metatraffic_unicast_locator_list: vec![self.locator(&sockets.metatraffic)],
            metatraffic_multicast_locator_list: vec![locator(GROUP, self.port)],
            default_multicast_locator_list: vec![],
            fragment_size: FRAGMENT,
        };
        let _runtime = self.tasks.enter();
        for socket in [sockets.discovery, sockets.metatraffic, sockets.user] {
            let socket = tokio::net::UdpSocket::from_std(socket).expect("a socket of a running runtime");
            self.tasks.spawn(receive(socket, receiver.clone()));
        }
        participant
    }
}

/// Passes on what arrives, until the runtime ends.
async fn receive(socket: tokio::net::UdpSocket, receiver: TransportDataReceiver) {
    let mut datagram = vec![0; LARGEST_DATAGRAM];
    loop {
        // An error of a UDP socket concerns one datagram; RTPS requests what is missing again.
        if let Ok(size) = socket.recv(&mut datagram).await {
            let mut datagram = datagram[..size].to_vec();
            announcements::leave_out_what_misleads(&mut datagram);
            receiver.receive_message(datagram).await;
        }
    }
}

struct Sender {
    socket: UdpSocket,
    datagram: Box<[u8]>,
}

impl Sender {
    fn new(socket: UdpSocket) -> Self {
        Self { socket, datagram: vec![0; LARGEST_DATAGRAM].into() }
    }
}

impl WriteMessage for Sender {
    fn write_buffer_mut(&mut self) -> &mut [u8] {
        &mut self.datagram
    }

    fn write_message(&mut self, size: usize, locators: &[Locator]) {
        let datagram = &mut self.datagram[..size];
        announcements::shorten_lease(datagram);
        for locator in locators.iter().filter(|locator| locator.kind() == LOCATOR_KIND_UDP_V4) {
            let [.., a, b, c, d] = locator.address();
            let Ok(port) = u16::try_from(locator.port()) else { continue };
            // A peer offers all its addresses, and some are unreachable from this interface; RTPS sends again what is
            // not acknowledged.
            let _ = self.socket.send_to(datagram, SocketAddr::from(([a, b, c, d], port)));
        }
    }
}
