//! Compares with the bytes that rclpy.serialization.serialize_message of ROS 2 Kilted returns for the same messages.
//! Padding has no meaning, and is written as zeros here.

use super::*;

const CASES: &[(&str, &[u8], &str)] = &[
    ("Bytes", b"abc", "00010000 00000000 00000000 1b000000 HEADER 616263"),
    (
        "PointCloud2",
        b"abc",
        "00010000 01000000 02000000 06000000 6c696461 72000000 01000000 1b000000 01000000 0a000000 696e7465 6e736974 \
         79000000 00000000 02000000 01000000 00000000 01000000 1b000000 1b000000 HEADER 616263 01",
    ),
    (
        "Image",
        b"abc",
        "00010000 01000000 02000000 07000000 63616d65 72610000 01000000 1b000000 06000000 6d6f6e6f 38000000 1b000000 \
         1b000000 HEADER 616263",
    ),
    (
        "TwistStamped",
        &[
            0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0,
        ],
        "00010000 01000000 02000000 23000000 30303030303030303030303030303035 2e 3030303030303036 2e 3030303030303037 \
         00 00 000000000000f83f 0000000000000000 0000000000000000 0000000000000000 0000000000000000 00000000000000c0",
    ),
];

fn bytes(hexadecimal: &str, header: &Header) -> Vec<u8> {
    let header: String = header.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let digits = hexadecimal.replace("HEADER", &header).replace([' ', '\n'], "");
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn messages_are_serialised_as_ros_2_does_and_come_back() {
    let header = Header { sequence: 5, stamp_ns: SECOND + 2, publisher: 6, reserved: 7 };
    for (name, data, expected) in CASES {
        let mut message = Ros::new(name, data.len());
        message.data_mut().copy_from_slice(data);
        message.set_header(&header).unwrap();
        let mut serialised = Vec::new();
        message.serialize_into(&mut serialised).unwrap();
        assert_eq!(serialised, bytes(expected, &header), "{name}");
        assert_eq!(message.serialized_size(), serialised.len(), "{name}");

        let back = Ros::deserialize(name, &serialised[..]).unwrap();
        assert_eq!((back.header(), back.data()), (Some(header), *data), "{name}");
        assert_eq!(back, message, "{name}");
    }
}

#[test]
fn what_is_not_ours_is_refused() {
    let foreign = |bytes: &[u8]| Ros::deserialize("Bytes", bytes).unwrap_err().to_string();
    assert!(foreign(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9]).contains("without a header of ours"));
    assert!(foreign(&[0, 1, 0, 0, 9]).contains("no Bytes"));
}

#[test]
fn stamps_before_the_epoch_come_back() {
    let mut twist = Ros::new("TwistStamped", TWIST);
    let header = Header { sequence: u64::MAX, stamp_ns: -5, publisher: u32::MAX, reserved: 0 };
    twist.set_header(&header).unwrap();
    assert_eq!(twist.header(), Some(header));
    let Ros::Twist(message, _) = &twist else { unreachable!("a twist") };
    assert_eq!(message.header.stamp, Time { sec: -1, nanosec: 999_999_995 });
}
