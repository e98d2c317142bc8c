//! Records of an MCAP file: an opcode, a length, and the fields that reading needs. Turns bytes into fields and never
//! panics.

use std::io::{self, Read};

/// First and last bytes of a file.
pub(crate) const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";
/// Length of a footer's content.
pub(super) const FOOTER_BYTES: u64 = 20;

/// Kinds of records that are read.
pub(super) mod opcode {
    pub const FOOTER: u8 = 0x02;
    pub const SCHEMA: u8 = 0x03;
    pub const CHANNEL: u8 = 0x04;
    pub const MESSAGE: u8 = 0x05;
    pub const CHUNK: u8 = 0x06;
    pub const DATA_END: u8 = 0x0f;
    /// The last kind that the specification uses; those from 0x80 on are a writer's own.
    pub const LAST: u8 = DATA_END;
}

/// The head of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub opcode: u8,
    /// Length of the content in bytes.
    pub length: u64,
}

impl Head {
    pub const BYTES: u64 = 9;

    /// Reads the next head; `None` at the end of all bytes, an error of kind `UnexpectedEof` inside it.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Head>> {
        let mut bytes = [0; Head::BYTES as usize];
        match read_up_to(from, &mut bytes)? {
            0 => Ok(None),
            9 => Ok(Some(Head { opcode: bytes[0], length: Fields(&bytes[1..]).u64().unwrap_or(0) })),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Whether the specification has such a record.
    pub fn is_known(self) -> bool {
        self.opcode != 0 && (self.opcode <= opcode::LAST || self.opcode >= 0x80)
    }
}

/// Fills `into` as far as there are bytes; gives how many there were.
pub(crate) fn read_up_to(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < into.len() {
        match from.read(&mut into[done..]) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// The fields of a record, one after the other; `None` after its last byte. Numbers are little endian, and a length
/// precedes each text.
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (found, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*found)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads bytes after their length.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        let (found, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(found)
    }

    /// Reads a text; replaces what is no UTF-8 in it.
    pub fn text(&mut self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

/// The definition of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    pub id: u16,
    pub name: String,
    /// `ros2msg`, `ros2idl`, `ros1msg`, ...
    pub encoding: String,
    pub text: String,
}

impl Schema {
    pub fn read(content: &[u8]) -> Option<Schema> {
        let mut fields = Fields(content);
        Some(Schema { id: fields.u16()?, name: fields.text()?, encoding: fields.text()?, text: fields.text()? })
    }
}

/// A topic, as one writer of the file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Channel {
    pub id: u16,
    /// 0 if the writer gave no definition.
    pub schema: u16,
    pub topic: String,
    /// Serialisation of its messages: `cdr`, `ros1`, `json`, ...
    pub encoding: String,
}

impl Channel {
    pub fn read(content: &[u8]) -> Option<Channel> {
        let mut fields = Fields(content);
        Some(Channel { id: fields.u16()?, schema: fields.u16()?, topic: fields.text()?, encoding: fields.text()? })
    }
}

/// The fields before the data of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageHead {
    pub channel: u16,
    /// Its number; 0 if the writer gives none.
    pub sequence: u32,
    pub log_ns: u64,
    pub publish_ns: u64,
}

impl MessageHead {
    pub const BYTES: usize = 22;

    pub fn read(fields: &mut Fields<'_>) -> Option<MessageHead> {
        let (channel, sequence) = (fields.u16()?, fields.u32()?);
        Some(MessageHead { channel, sequence, log_ns: fields.u64()?, publish_ns: fields.u64()? })
    }
}
