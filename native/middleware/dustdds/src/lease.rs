//! How long others believe in us. Dust DDS announces a lease of 100 s and cannot be told another: a peer that was killed would count as
//! matched for that long, and hold up reliable writers. So our announcements are changed on their way out.

/// Seconds, as ROS 2's Fast DDS and Cyclone DDS have it within a factor of two.
pub const LEASE_S: u32 = 10;

/// RTPS 9.3.1.5, 9.4.5.1.1, 9.6.3: of the submessages and parameters that matter here.
const SPDP_WRITER: [u8; 4] = [0, 1, 0, 0xc2];
const DATA: u8 = 0x15;
const DATA_HEAD: usize = 20;
const INLINE_QOS: u8 = 0x02;
const PL_CDR_LE: [u8; 2] = [0, 3];
const PID_SENTINEL: u16 = 1;
const PID_LEASE: u16 = 2;

/// Sets the lease in a datagram that announces a participant; any other is left as it is.
pub fn shorten(datagram: &mut [u8]) {
    if let Some(at) = find(datagram) {
        datagram[at..at + 4].copy_from_slice(&LEASE_S.to_le_bytes());
        datagram[at + 4..at + 8].fill(0);
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..at + 2)?.first_chunk()?))
}

/// Where the eight bytes of the lease stand. All that Dust DDS sends is little endian.
fn find(datagram: &[u8]) -> Option<usize> {
    let mut at = 20;
    loop {
        let head = datagram.get(at..at + 4)?;
        let size = usize::from(u16_at(datagram, at + 2)?);
        let whole = if size == 0 { datagram.len() - at } else { 4 + size };
        if head[0] == DATA && datagram.get(at + 12..at + 16)? == SPDP_WRITER {
            let mut parameters = at + 4 + DATA_HEAD;
            if head[1] & INLINE_QOS != 0 {
                while u16_at(datagram, parameters)? != PID_SENTINEL {
                    parameters += 4 + usize::from(u16_at(datagram, parameters + 2)?);
                }
                parameters += 4;
            }
            return in_parameters(datagram, parameters);
        }
        at += whole;
    }
}

fn in_parameters(datagram: &[u8], encapsulation: usize) -> Option<usize> {
    if datagram.get(encapsulation..encapsulation + 2)? != PL_CDR_LE {
        return None;
    }
    let mut at = encapsulation + 4;
    loop {
        match (u16_at(datagram, at)?, u16_at(datagram, at + 2)?) {
            (PID_SENTINEL, _) => return None,
            (PID_LEASE, 8) => return datagram.get(at + 4..at + 12).map(|_| at + 4),
            (_, size) => at += 4 + usize::from(size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header, INFO_TS, then DATA of this writer with two parameters and a sentinel.
    fn announcement(writer: [u8; 4]) -> Vec<u8> {
        let mut datagram = b"RTPS\x02\x04\x01\x14".to_vec();
        datagram.extend([7; 12]);
        datagram.extend([0x09, 0x01, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        let parameters = [&[0, 3, 0, 0][..], &[0x16, 0, 4, 0, 1, 0x14, 0, 0], &[2, 0, 8, 0, 100, 0, 0, 0, 0, 0, 0, 0], &[1, 0, 0, 0]].concat();
        datagram.extend([DATA, 0x05, (DATA_HEAD + parameters.len()) as u8, 0, 0, 0, 16, 0, 0, 0, 0, 0]);
        datagram.extend(writer);
        datagram.extend([0, 0, 0, 0, 1, 0, 0, 0]);
        datagram.extend(parameters);
        datagram
    }

    #[test]
    fn the_lease_of_an_announcement_is_ours_and_nothing_else_changes() {
        let before = announcement(SPDP_WRITER);
        let mut after = before.clone();
        shorten(&mut after);
        let at = before.windows(8).position(|bytes| bytes == [100, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!(after[at..at + 8], [LEASE_S as u8, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((&before[..at], &before[at + 8..]), (&after[..at], &after[at + 8..]));
    }

    #[test]
    fn other_datagrams_stay_as_they_are() {
        let announced = announcement(SPDP_WRITER);
        let cut = (0..announced.len()).map(|size| announced[..size].to_vec()).filter(|bytes| find(bytes).is_none());
        for before in cut.chain([announcement([0, 0, 3, 0xc2]), vec![0xff; 100]]) {
            let mut after = before.clone();
            shorten(&mut after);
            assert_eq!(before, after);
        }
    }
}
