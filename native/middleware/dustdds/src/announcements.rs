//! Changes the announcements of discovery on their way, in three points that Dust DDS offers no setting for:
//!
//! - It announces a lease of 100 s, so a killed peer would count as matched for that long, and block reliable
//!   writers.
//! - It matches endpoints of other vendors by the descriptions of their types (DDS-XTypes 1.3, 7.6.3) if these
//!   announce them, as Fast DDS does, and never gets an answer when it asks for more of them. ROS 2 matches by a
//!   type's name, and so does Dust DDS if there is no description.
//! - It reads the infinite duration of others (RTPS 9.3.2: all bits of the fraction set) as 68 years, which is less
//!   than it requests. So it matches no peer that announces an infinite deadline or lease, as Fast DDS does. An
//!   absent value means infinite.

/// Seconds; within a factor of two of the lease of ROS 2's Fast DDS and Cyclone DDS.
const LEASE_S: u32 = 10;

/// The submessages and parameters of RTPS 9.3.1.5, 9.4.5.4 and 9.6.3 that matter here.
const SPDP_WRITER: [u8; 4] = [0, 1, 0, 0xc2];
const SEDP_WRITERS: [[u8; 4]; 2] = [[0, 0, 3, 0xc2], [0, 0, 4, 0xc2]];
const DATA: u8 = 0x15;
const LITTLE_ENDIAN: u8 = 0x01;
const INLINE_QOS: u8 = 0x02;
const PL_CDR_LE: [u8; 2] = [0, 3];
const PID_PAD: u16 = 0;
const PID_SENTINEL: u16 = 1;
const PID_LEASE: u16 = 2;
const PID_LIVELINESS: u16 = 0x1b;
const PID_DEADLINE: u16 = 0x23;
const PID_LIFESPAN: u16 = 0x2b;
const PID_TYPE_INFORMATION: u16 = 0x75;
const INFINITE: [u8; 8] = [0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff];
/// Kind automatic, infinite lease.
const ALIVE_BY_ITSELF: [u8; 12] = [0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff];

/// Changes an outgoing datagram: if it announces a participant, it gets our lease.
pub fn shorten_lease(datagram: &mut [u8]) {
    let mut found = None;
    parameters(datagram, |writer, pid, at, size| {
        if *writer == SPDP_WRITER && pid == PID_LEASE && size == 8 {
            found = Some(at);
        }
    });
    if let Some(at) = found {
        datagram[at + 4..at + 8].copy_from_slice(&LEASE_S.to_le_bytes());
        datagram[at + 8..at + 12].fill(0);
    }
}

/// Changes an incoming datagram: if it announces endpoints, it loses the descriptions of their types and infinite
/// durations.
pub fn leave_out_what_misleads(datagram: &mut [u8]) {
    let mut found = Vec::new();
    parameters(datagram, |writer, pid, at, size| {
        let value = &datagram[at + 4..at + 4 + size];
        let misleads = match pid {
            PID_TYPE_INFORMATION => true,
            PID_DEADLINE | PID_LIFESPAN => value == INFINITE,
            PID_LIVELINESS => value == ALIVE_BY_ITSELF,
            _ => false,
        };
        if misleads && SEDP_WRITERS.contains(writer) {
            found.push(at);
        }
    });
    for at in found {
        datagram[at..at + 2].copy_from_slice(&PID_PAD.to_le_bytes());
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..at + 2)?.first_chunk()?))
}

/// Passes on each parameter: its writer, its number, its position, and the size of its value, all of which is there. It
/// reads only little endian: Dust DDS sends nothing else, and announcements of others in big endian stay unchanged. It
/// ends at the first invalid length.
fn parameters(datagram: &[u8], mut tell: impl FnMut(&[u8; 4], u16, usize, usize)) {
    let mut at = 20; // behind the header
    while let (Some(&[id, flags]), Some(size)) =
        (datagram.get(at..at + 2).and_then(<[u8]>::first_chunk), u16_at(datagram, at + 2))
    {
        let end = if size == 0 { datagram.len() } else { at + 4 + usize::from(size) };
        let Some(data) = datagram.get(at..end) else { return };
        if id == DATA && flags & LITTLE_ENDIAN != 0 {
            // Extra flags, offset to inline QoS, reader, writer, sequence number; a truncated submessage has no
            // parameters.
            let _ = in_data(data, flags, |writer, pid, begin, size| tell(writer, pid, at + begin, size));
        }
        at = end;
    }
}

fn in_data(data: &[u8], flags: u8, mut tell: impl FnMut(&[u8; 4], u16, usize, usize)) -> Option<()> {
    let writer: &[u8; 4] = data.get(12..16)?.first_chunk()?;
    let mut at = 8 + usize::from(u16_at(data, 6)?);
    if flags & INLINE_QOS != 0 {
        while u16_at(data, at)? != PID_SENTINEL {
            at += 4 + usize::from(u16_at(data, at + 2)?);
        }
        at += 4;
    }
    if data.get(at..at + 2)? != PL_CDR_LE {
        return None;
    }
    at += 4;
    loop {
        let (pid, size) = (u16_at(data, at)?, usize::from(u16_at(data, at + 2)?));
        if pid == PID_SENTINEL {
            return Some(());
        }
        data.get(at..at + 4 + size)?;
        tell(writer, pid, at, size);
        at += 4 + size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: [u8; 12] = [2, 0, 8, 0, 100, 0, 0, 0, 0, 0, 0, 0];
    const TYPE_INFORMATION: [u8; 8] = [0x75, 0, 4, 0, 9, 9, 9, 9];
    const INFINITE_DEADLINE: [u8; 12] = [0x23, 0, 8, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff];
    const LIFESPAN_OF_A_SECOND: [u8; 12] = [0x2b, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    const AUTOMATIC_FOR_EVER: [u8; 16] = [0x1b, 0, 12, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff];
    const MANUAL_FOR_EVER: [u8; 16] = [0x1b, 0, 12, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff];

    /// A header, INFO_TS, then DATA of each of these writers with parameters, the first with inline QoS.
    fn datagram(writers: &[[u8; 4]]) -> Vec<u8> {
        let mut datagram = b"RTPS\x02\x04\x01\x14".to_vec();
        datagram.extend([7; 12]);
        datagram.extend([0x09, 0x01, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        for (number, writer) in writers.iter().enumerate() {
            let (inline, flags): (&[u8], u8) =
                if number == 0 { (&[0x70, 0, 4, 0, 1, 2, 3, 4, 1, 0, 0, 0], 0x07) } else { (&[], 0x05) };
            let head = [inline, &[0, 3, 0, 0], &LEASE, &TYPE_INFORMATION, &INFINITE_DEADLINE].concat();
            let body =
                [&head[..], &LIFESPAN_OF_A_SECOND, &AUTOMATIC_FOR_EVER, &MANUAL_FOR_EVER, &[1, 0, 0, 0]].concat();
            datagram.extend([DATA, flags, (20 + body.len()) as u8, 0, 0, 0, 16, 0, 0, 0, 0, 0]);
            datagram.extend(writer);
            datagram.extend([0, 0, 0, 0, 1, 0, 0, 0]);
            datagram.extend(body);
        }
        datagram
    }

    fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
        let at = bytes.windows(from.len()).position(|part| part == from).unwrap();
        [&bytes[..at], to, &bytes[at + to.len()..]].concat()
    }

    #[test]
    fn the_lease_of_an_announcement_is_ours_and_nothing_else_changes() {
        let before = datagram(&[SPDP_WRITER]);
        let mut after = before.clone();
        shorten_lease(&mut after);
        assert_eq!(after, replaced(&before, &LEASE, &[2, 0, 8, 0, LEASE_S as u8, 0, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn endpoints_lose_what_misleads_and_nothing_else() {
        let before = datagram(&SEDP_WRITERS);
        let mut after = before.clone();
        leave_out_what_misleads(&mut after);
        let mut expected = before;
        for parameter in [&TYPE_INFORMATION[..], &INFINITE_DEADLINE, &AUTOMATIC_FOR_EVER] {
            let padded = [&[0, 0], &parameter[2..]].concat();
            expected = replaced(&replaced(&expected, parameter, &padded), parameter, &padded);
        }
        assert_eq!(after, expected);
    }

    #[test]
    fn other_datagrams_stay_as_they_are_however_they_are_cut() {
        let user = datagram(&[[0, 0, 1, 3]]);
        let nonsense = vec![0xff; 100];
        for whole in [user, nonsense] {
            for size in 0..whole.len() {
                let mut after = whole[..size].to_vec();
                shorten_lease(&mut after);
                leave_out_what_misleads(&mut after);
                assert_eq!(whole[..size], after);
            }
        }
        for size in 0..datagram(&SEDP_WRITERS).len() {
            leave_out_what_misleads(&mut datagram(&SEDP_WRITERS)[..size]); // must not panic
        }
    }
}
