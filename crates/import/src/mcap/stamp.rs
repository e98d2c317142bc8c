//! Reads the stamp of a header, which is the first field of a serialised message.

/// How many bytes of a message are read.
pub(crate) const BYTES: usize = 12;

const NS_PER_S: i64 = 1_000_000_000;

/// Returns the stamp, in ns, of a message that begins with a `std_msgs/Header` in this serialisation. `None` if the
/// stamp is 0, which nobody set, is no valid time, or if the bytes have another encoding.
pub(crate) fn of(encoding: &str, data: &[u8]) -> Option<i64> {
    let word = |at: usize| data.get(at..)?.first_chunk::<4>().copied();
    let (seconds, ns) = match encoding {
        // Four bytes name the encoding (DDSI-RTPS 2.5, 10.2; XTypes 1.3, 7.6.3.1.2), then comes
        // `builtin_interfaces/Time`. Neither padding nor a length precedes the first field of plain CDR, version 1 or
        // 2.
        "cdr" => match word(0)? {
            [0, 0x00 | 0x06, ..] => (i32::from_be_bytes(word(4)?).into(), u32::from_be_bytes(word(8)?)),
            [0, 0x01 | 0x07, ..] => (i32::from_le_bytes(word(4)?).into(), u32::from_le_bytes(word(8)?)),
            _ => return None,
        },
        // The header's number, then its stamp.
        "ros1" => (i64::from(u32::from_le_bytes(word(4)?)), u32::from_le_bytes(word(8)?)),
        _ => return None,
    };
    let is_time = i64::from(ns) < NS_PER_S && (seconds, ns) != (0, 0);
    is_time.then(|| seconds * NS_PER_S + i64::from(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_either_byte_order_and_of_ros_1_are_read() {
        let little = [0, 1, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 1];
        let big = [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 5];
        assert_eq!((of("cdr", &little), of("cdr", &big)), (Some(2_000_000_005), Some(2_000_000_005)));
        assert_eq!(of("ros1", &[9, 9, 9, 9, 2, 0, 0, 0, 5, 0, 0, 0]), Some(2_000_000_005));
        let before_1970 = [0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 5, 0, 0, 0];
        assert_eq!(of("cdr", &before_1970), Some(-999_999_995));
    }

    #[test]
    fn what_is_no_stamp_is_none() {
        let unset = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let no_ns = [0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0xff];
        let parameter_list = [0, 3, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0];
        for bytes in [&unset[..], &no_ns, &parameter_list, &unset[..11], &[]] {
            assert_eq!(of("cdr", bytes), None, "{bytes:?}");
        }
        assert_eq!(of("json", &[0, 1, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0]), None);
    }
}
