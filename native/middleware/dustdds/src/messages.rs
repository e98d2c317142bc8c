//! ROS 2's messages in Dust DDS's type system, filled in as the ros2 plugin does.
//!
//! Types with a byte array hold our header in its first bytes, ahead of the data. TwistStamped has no such array: its
//! stamp is the header's stamp, its frame_id the other header fields in hexadecimal, its six numbers the data.

use dust_dds::infrastructure::type_support::DdsType;
use dust_dds::xtypes::type_support::TypeSupport;
use std::fmt::Debug;
use tacho_seam::{Header, Result, Say, HEADER_SIZE};

const SECOND: i64 = 1_000_000_000;

/// A message of ROS 2 that carries ours.
pub trait Ros: TypeSupport + Send + Sync + Debug + 'static {
    /// Makes a message with room for this many bytes of data.
    fn with_room(size: usize) -> Self;
    /// Returns the data.
    fn data(&self) -> &[u8];
    /// Returns the data, to be filled in.
    fn data_mut(&mut self) -> &mut [u8];
    /// Writes the header into it.
    fn set_header(&mut self, header: &Header) -> Result<()>;
    /// Returns the header; absent if the message is not one of ours.
    fn header(&self) -> Option<Header>;
}

/// builtin_interfaces/Time.
#[derive(Debug, Clone, Default, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct Time {
    sec: i32,
    nanosec: u32,
}

/// std_msgs/Header.
#[derive(Debug, Clone, Default, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct Stamped {
    stamp: Time,
    frame_id: String,
}

/// std_msgs/MultiArrayDimension.
#[derive(Debug, Clone, Default, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct Dimension {
    label: String,
    size: u32,
    stride: u32,
}

/// std_msgs/MultiArrayLayout.
#[derive(Debug, Clone, Default, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct Layout {
    dim: Vec<Dimension>,
    data_offset: u32,
}

/// std_msgs/UInt8MultiArray.
#[derive(Debug, Clone, Default, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct UInt8MultiArray {
    layout: Layout,
    data: Vec<u8>,
}

/// sensor_msgs/PointField.
#[derive(Debug, Clone, Default, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct PointField {
    name: String,
    offset: u32,
    datatype: u8,
    count: u32,
}

/// sensor_msgs/PointCloud2.
#[derive(Debug, Clone, Default, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct PointCloud2 {
    header: Stamped,
    height: u32,
    width: u32,
    fields: Vec<PointField>,
    is_bigendian: bool,
    point_step: u32,
    row_step: u32,
    data: Vec<u8>,
    is_dense: bool,
}

/// sensor_msgs/Image.
#[derive(Debug, Clone, Default, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct Image {
    header: Stamped,
    height: u32,
    width: u32,
    encoding: String,
    is_bigendian: u8,
    step: u32,
    data: Vec<u8>,
}

/// geometry_msgs/TwistStamped; its two vectors follow each other without a gap.
#[derive(Debug, Clone, Default, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct TwistStamped {
    header: Stamped,
    twist: [f64; 6],
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

fn behind_header(bytes: &[u8]) -> &[u8] {
    bytes.get(HEADER_SIZE..).unwrap_or_default()
}

fn room(size: usize) -> Vec<u8> {
    vec![0; HEADER_SIZE + size]
}

fn framed(frame: &str) -> Stamped {
    Stamped { frame_id: frame.into(), ..Default::default() }
}

impl Ros for UInt8MultiArray {
    fn with_room(size: usize) -> Self {
        Self { layout: Layout::default(), data: room(size) }
    }

    fn data(&self) -> &[u8] {
        behind_header(&self.data)
    }

    fn data_mut(&mut self) -> &mut [u8] {
        &mut self.data[HEADER_SIZE..]
    }

    fn set_header(&mut self, header: &Header) -> Result<()> {
        self.data[..HEADER_SIZE].copy_from_slice(&header.to_bytes());
        Ok(())
    }

    fn header(&self) -> Option<Header> {
        Header::from_bytes(&self.data)
    }
}

/// Implements [`Ros`] for a stamped message with our header ahead of its bytes.
macro_rules! stamped_bytes {
    () => {
        fn data(&self) -> &[u8] {
            behind_header(&self.data)
        }

        fn data_mut(&mut self) -> &mut [u8] {
            &mut self.data[HEADER_SIZE..]
        }

        fn set_header(&mut self, header: &Header) -> Result<()> {
            self.header.stamp = Time::of(header.stamp_ns)?;
            self.data[..HEADER_SIZE].copy_from_slice(&header.to_bytes());
            Ok(())
        }

        fn header(&self) -> Option<Header> {
            Header::from_bytes(&self.data)
        }
    };
}

/// One row of one-byte points, so that any size is a well-formed cloud.
impl Ros for PointCloud2 {
    fn with_room(size: usize) -> Self {
        let field = PointField { name: "intensity".into(), offset: 0, datatype: 2 /* UINT8 */, count: 1 };
        let data = room(size);
        let (width, header, fields) = (data.len() as u32, framed("lidar"), vec![field]);
        let (height, point_step, is_bigendian, is_dense) = (1, 1, false, true);
        Self { header, height, width, fields, is_bigendian, point_step, row_step: width, data, is_dense }
    }

    stamped_bytes!();
}

/// One row of mono8.
impl Ros for Image {
    fn with_room(size: usize) -> Self {
        let data = room(size);
        let width = data.len() as u32;
        Self {
            header: framed("camera"),
            height: 1,
            width,
            encoding: "mono8".into(),
            is_bigendian: 0,
            step: width,
            data,
        }
    }

    stamped_bytes!();
}

impl Ros for TwistStamped {
    fn with_room(_size: usize) -> Self {
        Self::default()
    }

    fn data(&self) -> &[u8] {
        // SAFETY: covers all of the six numbers, whose bytes are initialised.
        unsafe { std::slice::from_raw_parts(self.twist.as_ptr().cast(), size_of_val(&self.twist)) }
    }

    fn data_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; any bytes are a number.
        unsafe { std::slice::from_raw_parts_mut(self.twist.as_mut_ptr().cast(), size_of_val(&self.twist)) }
    }

    fn set_header(&mut self, header: &Header) -> Result<()> {
        let frame_id = format!("{:016x}.{:08x}.{:08x}", header.sequence, header.publisher, header.reserved);
        self.header = Stamped { stamp: Time::of(header.stamp_ns)?, frame_id };
        Ok(())
    }

    fn header(&self) -> Option<Header> {
        let mut fields = self.header.frame_id.split('.');
        let mut field = || u64::from_str_radix(fields.next()?, 16).ok();
        let (sequence, publisher, reserved) = (field()?, field()?, field()?);
        let (publisher, reserved) = (publisher.try_into().ok()?, reserved.try_into().ok()?);
        Some(Header { sequence, stamp_ns: self.header.stamp.ns(), publisher, reserved })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { sequence: 7, stamp_ns: 2_000_000_003, publisher: 9, reserved: 1 };

    fn filled<T: Ros>(size: usize) -> T {
        let mut message = T::with_room(size);
        message.data_mut().iter_mut().zip(1..).for_each(|(byte, value)| *byte = value);
        message.set_header(&HEADER).unwrap();
        message
    }

    fn comes_back<T: Ros + PartialEq>(size: usize) {
        let message: T = filled(size);
        assert_eq!((message.header(), message.data().len()), (Some(HEADER), size));
        let again = T::create_sample(&mut filled::<T>(size).create_dynamic_sample()).unwrap();
        assert_eq!(again, message);
    }

    #[test]
    fn header_and_data_come_back() {
        comes_back::<UInt8MultiArray>(5);
        comes_back::<PointCloud2>(0);
        comes_back::<Image>(300);
        comes_back::<TwistStamped>(48);
        assert_eq!(UInt8MultiArray::default().header(), None);
    }
}
