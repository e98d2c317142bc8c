//! Messages of protocol buffers, written field by field (Protocol Buffers, "Encoding"). The few messages of Perfetto
//! that are written here need no compiler of schemas.

/// A message that is being written.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// A field of an integer, a boolean or an enumeration.
    pub fn number(mut self, field: u32, value: u64) -> Message {
        self.key(field, 0);
        self.varint(value);
        self
    }

    /// A field of type fixed64.
    pub fn fixed(mut self, field: u32, value: u64) -> Message {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// A field of type double.
    pub fn double(self, field: u32, value: f64) -> Message {
        self.fixed(field, value.to_bits())
    }

    /// A field of text.
    pub fn text(self, field: u32, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    /// A field of another message.
    pub fn message(self, field: u32, inner: &Message) -> Message {
        self.bytes(field, &inner.0)
    }

    /// What was written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes(mut self, field: u32, bytes: &[u8]) -> Message {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_specification() {
        // The specification's own examples: 150 in field 1; "testing" in field 2; the first message in field 3.
        let first = Message::default().number(1, 150);
        assert_eq!(first.as_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing");
        assert_eq!(text.as_bytes(), [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        assert_eq!(Message::default().message(3, &first).as_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().double(4, 1.0).as_bytes(), [0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }
}
