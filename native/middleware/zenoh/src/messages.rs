//! ROS 2's messages, as the ros2 plugin fills them, serialised as CDR.
//!
//! Types with a byte array hold our header in its first bytes, ahead of the data. TwistStamped has no such array: its
//! stamp is the header's stamp, its frame_id the other header fields in hexadecimal, its six numbers the data.

use cdr::{CdrLe, Infinite};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use tacho_seam::{Error, Header, Result, Say, HEADER_SIZE};

const SECOND: i64 = 1_000_000_000;
const TWIST: usize = 6 * size_of::<f64>();

/// builtin_interfaces/Time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Time {
    sec: i32,
    nanosec: u32,
}

/// std_msgs/Header.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stamped {
    stamp: Time,
    frame_id: String,
}

/// std_msgs/MultiArrayDimension.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Dimension {
    label: String,
    size: u32,
    stride: u32,
}

/// std_msgs/MultiArrayLayout.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    dim: Vec<Dimension>,
    data_offset: u32,
}

/// std_msgs/UInt8MultiArray.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UInt8MultiArray {
    layout: Layout,
    #[serde(with = "serde_bytes")]
    data: Vec<u8>,
}

/// sensor_msgs/PointField.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PointField {
    name: String,
    offset: u32,
    datatype: u8,
    count: u32,
}

/// sensor_msgs/PointCloud2.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PointCloud2 {
    header: Stamped,
    height: u32,
    width: u32,
    fields: Vec<PointField>,
    is_bigendian: bool,
    point_step: u32,
    row_step: u32,
    #[serde(with = "serde_bytes")]
    data: Vec<u8>,
    is_dense: bool,
}

/// sensor_msgs/Image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Image {
    header: Stamped,
    height: u32,
    width: u32,
    encoding: String,
    is_bigendian: u8,
    step: u32,
    #[serde(with = "serde_bytes")]
    data: Vec<u8>,
}

/// geometry_msgs/TwistStamped; its two vectors follow each other without a gap.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TwistStamped {
    header: Stamped,
    twist: [f64; 6],
}

/// A message of ROS 2; if it has numbers instead of bytes, the bytes to be filled in are beside it.
#[derive(Debug, Clone, PartialEq)]
pub enum Ros {
    Bytes(UInt8MultiArray),
    Cloud(PointCloud2),
    Image(Image),
    Twist(TwistStamped, [u8; TWIST]),
}

impl Time {
    fn of(ns: i64) -> Result<Self> {
        let sec = i32::try_from(ns.div_euclid(SECOND)).say(|| format!("a stamp of {ns} ns"))?;
        Ok(Self { sec, nanosec: ns.rem_euclid(SECOND) as u32 })
    }

    fn ns(&self) -> i64 {
        i64::from(self.sec) * SECOND + i64::from(self.nanosec)
    }
}

impl Ros {
    /// Makes a message with room for this many bytes of data.
    pub fn new(name: &str, size: usize) -> Self {
        let data = vec![0; HEADER_SIZE + size];
        let (width, header) =
            (data.len() as u32, |frame: &str| Stamped { frame_id: frame.into(), ..Default::default() });
        match name {
            // One row of one-byte points, so that any size is a well-formed cloud.
            "PointCloud2" | "PointCloud1m" => {
                let field = PointField { name: "intensity".into(), offset: 0, datatype: 2 /* UINT8 */, count: 1 };
                let (header, fields) = (header("lidar"), vec![field]);
                let (height, point_step, is_bigendian, is_dense) = (1, 1, false, true);
                Self::Cloud(PointCloud2 {
                    header,
                    height,
                    width,
                    fields,
                    is_bigendian,
                    point_step,
                    row_step: width,
                    data,
                    is_dense,
                })
            }
            // One row of mono8.
            "Image" => {
                let (header, encoding) = (header("camera"), "mono8".into());
                Self::Image(Image { header, height: 1, width, encoding, is_bigendian: 0, step: width, data })
            }
            "TwistStamped" => Self::Twist(TwistStamped::default(), [0; TWIST]),
            _ => Self::Bytes(UInt8MultiArray { layout: Layout::default(), data }),
        }
    }

    fn array(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(UInt8MultiArray { data, .. })
            | Self::Cloud(PointCloud2 { data, .. })
            | Self::Image(Image { data, .. }) => Some(data),
            Self::Twist(..) => None,
        }
    }

    /// Returns the data.
    pub fn data(&self) -> &[u8] {
        match self {
            Self::Twist(_, bytes) => bytes,
            _ => self.array().and_then(|array| array.get(HEADER_SIZE..)).unwrap_or_default(),
        }
    }

    /// Returns the data, to be filled in.
    pub fn data_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Bytes(UInt8MultiArray { data, .. })
            | Self::Cloud(PointCloud2 { data, .. })
            | Self::Image(Image { data, .. }) => &mut data[HEADER_SIZE..],
            Self::Twist(_, bytes) => bytes,
        }
    }

    /// Writes the header into it.
    pub fn set_header(&mut self, header: &Header) -> Result<()> {
        match self {
            Self::Bytes(UInt8MultiArray { data, .. }) => data[..HEADER_SIZE].copy_from_slice(&header.to_bytes()),
            Self::Cloud(PointCloud2 { header: stamped, data, .. })
            | Self::Image(Image { header: stamped, data, .. }) => {
                stamped.stamp = Time::of(header.stamp_ns)?;
                data[..HEADER_SIZE].copy_from_slice(&header.to_bytes());
            }
            Self::Twist(twist, bytes) => {
                let stamp = Time::of(header.stamp_ns)?;
                let frame_id = format!("{:016x}.{:08x}.{:08x}", header.sequence, header.publisher, header.reserved);
                twist.header = Stamped { stamp, frame_id };
                for (number, bytes) in twist.twist.iter_mut().zip(bytes.chunks_exact(8)) {
                    *number = f64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
                }
            }
        }
        Ok(())
    }

    /// Returns the header; absent if the message is not one of ours.
    pub fn header(&self) -> Option<Header> {
        let Self::Twist(twist, _) = self else { return Header::from_bytes(self.array()?) };
        let mut fields = twist.header.frame_id.split('.');
        let mut field = || u64::from_str_radix(fields.next()?, 16).ok();
        let (sequence, publisher, reserved) = (field()?, field()?, field()?);
        let (publisher, reserved) = (publisher.try_into().ok()?, reserved.try_into().ok()?);
        Some(Header { sequence, stamp_ns: twist.header.stamp.ns(), publisher, reserved })
    }

    /// Returns the length of the serialised message in bytes.
    pub fn serialized_size(&self) -> usize {
        let size = match self {
            Self::Bytes(message) => cdr::calc_serialized_size(message),
            Self::Cloud(message) => cdr::calc_serialized_size(message),
            Self::Image(message) => cdr::calc_serialized_size(message),
            Self::Twist(message, _) => cdr::calc_serialized_size(message),
        };
        size as usize
    }

    /// Serialises it as little-endian CDR, with the encapsulation header.
    pub fn serialize_into(&self, out: impl Write) -> Result<()> {
        let done = match self {
            Self::Bytes(message) => cdr::serialize_into::<_, _, _, CdrLe>(out, message, Infinite),
            Self::Cloud(message) => cdr::serialize_into::<_, _, _, CdrLe>(out, message, Infinite),
            Self::Image(message) => cdr::serialize_into::<_, _, _, CdrLe>(out, message, Infinite),
            Self::Twist(message, _) => cdr::serialize_into::<_, _, _, CdrLe>(out, message, Infinite),
        };
        done.say(|| "serialise".into())
    }

    /// Deserialises a message of the type with this name in a workload.
    pub fn deserialize(name: &str, input: impl Read) -> Result<Self> {
        let read = match name {
            "PointCloud2" | "PointCloud1m" => cdr::deserialize_from(input, Infinite).map(Self::Cloud),
            "Image" => cdr::deserialize_from(input, Infinite).map(Self::Image),
            "TwistStamped" => cdr::deserialize_from(input, Infinite).map(|twist: TwistStamped| {
                let mut bytes = [0; TWIST];
                for (number, bytes) in twist.twist.iter().zip(bytes.chunks_exact_mut(8)) {
                    bytes.copy_from_slice(&number.to_ne_bytes());
                }
                Self::Twist(twist, bytes)
            }),
            _ => cdr::deserialize_from(input, Infinite).map(Self::Bytes),
        };
        read.say(|| format!("a message that is no {name}")).and_then(|message: Self| match message.header() {
            Some(_) => Ok(message),
            None => Err(Error::new(format!("a {name} without a header of ours"))),
        })
    }
}

#[cfg(test)]
mod tests;
