//! Columns of integers as text: each a varint of seven bits a byte (Protocol Buffers, "Encoding"), all of them base64.
//!
//! A time in ns of a sorted column takes three bytes as the difference from the one before, against ten digits or more
//! in JSON. web/src/timeline/columns.ts reads them.

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use serde::Serialize;

/// Integers of one column.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Column(String);

impl Column {
    /// Values that are mostly small: indices, counts, durations.
    pub fn of(values: impl IntoIterator<Item = i64>) -> Column {
        let mut bytes = Vec::new();
        values.into_iter().for_each(|value| varint(&mut bytes, zigzag(value)));
        Column(STANDARD.encode(bytes))
    }

    /// Values that grow: each as its difference from the one before.
    pub fn growing(values: impl IntoIterator<Item = i64>) -> Column {
        let mut before = 0;
        Column::of(values.into_iter().map(|value| value - std::mem::replace(&mut before, value)))
    }

    /// Values some of which are absent.
    pub fn optional(values: impl IntoIterator<Item = Option<i64>>) -> Column {
        let mut bytes = Vec::new();
        values.into_iter().for_each(|value| varint(&mut bytes, value.map_or(0, |value| zigzag(value) + 1)));
        Column(STANDARD.encode(bytes))
    }

    /// Bytes that it takes in the page.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// Small magnitudes as small numbers: 0, -1, 1, -2 as 0, 1, 2, 3.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(column: &Column) -> Vec<u8> {
        STANDARD.decode(&column.0).unwrap()
    }

    #[test]
    fn small_magnitudes_are_single_bytes() {
        assert_eq!(decoded(&Column::of([0, -1, 1, -2, 2])), [0, 1, 2, 3, 4]);
        assert_eq!(decoded(&Column::of([150])), [0xac, 0x02], "300, the zigzag of 150");
    }

    #[test]
    fn growing_values_are_differences() {
        assert_eq!(decoded(&Column::growing([1000, 1003, 1001])), [0xd0, 0x0f, 6, 3]);
    }

    #[test]
    fn an_absent_value_differs_from_zero() {
        assert_eq!(decoded(&Column::optional([None, Some(0), Some(1)])), [0, 1, 3]);
    }
}
