//! Right-hand sides of `name = value`, and the checks of their types.

use super::fault::Fault;
use super::types::ByteOrder;

type Result<T> = std::result::Result<T, Fault>;

/// A number, a string or a name.
pub(super) enum Value {
    Number(i128),
    Text(String),
}

impl Value {
    pub fn text(self) -> String {
        match self {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => text,
        }
    }

    pub fn whole(self, at: usize) -> Result<i128> {
        match self {
            Value::Number(number) => Ok(number),
            Value::Text(text) => Err(Fault::new(at, format!("\"{text}\""), "a number")),
        }
    }

    pub fn number(&self, at: usize) -> Result<u64> {
        match self {
            Value::Number(number) => {
                u64::try_from(*number).map_err(|_| Fault::new(at, number.to_string(), "a number from 0 on"))
            }
            Value::Text(text) => Err(Fault::new(at, format!("\"{text}\""), "a number")),
        }
    }

    pub fn signed(self, at: usize) -> Result<i64> {
        let number = self.whole(at)?;
        i64::try_from(number).map_err(|_| Fault::new(at, number.to_string(), "a number of 64 bits"))
    }
}

pub(super) fn alignment(bits: u64, at: usize) -> Result<u32> {
    let known = u32::try_from(bits).ok().filter(|b| b.is_power_of_two() && *b <= 1 << 20);
    known.ok_or_else(|| Fault::new(at, format!("an alignment of {bits} bits"), "a power of two"))
}

pub(super) fn byte_order(text: &str, at: usize) -> Result<ByteOrder> {
    match text {
        "le" => Ok(ByteOrder::Little),
        "be" | "network" => Ok(ByteOrder::Big),
        "native" => Ok(ByteOrder::Native),
        _ => Err(Fault::new(at, format!("the byte order \"{text}\""), "le, be, network or native")),
    }
}

pub(super) fn uuid(text: &str, at: usize) -> Result<[u8; 16]> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let number = (digits.len() == 32).then(|| u128::from_str_radix(&digits, 16).ok()).flatten();
    number.map(u128::to_be_bytes).ok_or_else(|| Fault::new(at, format!("the uuid \"{text}\""), "32 hexadecimal digits"))
}
