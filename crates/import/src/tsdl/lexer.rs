//! Tokens of TSDL (CTF 1.8, appendix C).

use super::fault::Fault;

/// One token, with its byte offset in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'a> {
    pub at: usize,
    pub kind: Kind<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind<'a> {
    Word(&'a str),
    Number(u64),
    /// Between quotes, escapes undone.
    Text(String),
    /// `:=`, `...`, `::`, or one character.
    Mark(&'a str),
    End,
}

impl Kind<'_> {
    /// Shows the token in an error.
    pub fn shown(&self) -> String {
        match self {
            Kind::Word(word) => format!("\"{word}\""),
            Kind::Number(number) => number.to_string(),
            Kind::Text(text) => format!("the string \"{text}\""),
            Kind::Mark(mark) => format!("\"{mark}\""),
            Kind::End => "the end of the metadata".into(),
        }
    }
}

/// Splits text into tokens, the last of which is [`Kind::End`].
pub(super) fn tokens(text: &str) -> (Vec<Token<'_>>, Option<Fault>) {
    let bytes = text.as_bytes();
    let (mut found, mut fault, mut at) = (Vec::new(), None, 0);
    while let Some(&byte) = bytes.get(at) {
        let rest = &text[at..];
        let (kind, length) = match byte {
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with("//") => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'/' if rest.starts_with("/*") => {
                let Some(end) = rest[2..].find("*/") else {
                    fault = Some(Fault::new(at, "a comment without an end", "\"*/\""));
                    break;
                };
                at += end + 4;
                continue;
            }
            b'L' if rest[1..].starts_with(['"', '\'']) => {
                at += 1;
                continue;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
                (Kind::Word(&rest[..length]), length)
            }
            b'0'..=b'9' => match number(rest) {
                Some((value, length)) => (Kind::Number(value), length),
                None => {
                    fault = Some(Fault::new(
                        at,
                        "a number that is none",
                        "a decimal, hexadecimal or octal number of 64 bits",
                    ));
                    break;
                }
            },
            b'"' | b'\'' => match quoted(rest, byte.into()) {
                Some((value, length)) => (Kind::Text(value), length),
                None => {
                    fault = Some(Fault::new(at, "a string without an end", format!("{} behind it", char::from(byte))));
                    break;
                }
            },
            _ => {
                let mark = [":=", "...", "::", "->"].into_iter().find(|m| rest.starts_with(m));
                let length = mark.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), str::len);
                (Kind::Mark(&rest[..length]), length)
            }
        };
        found.push(Token { at, kind });
        at += length;
    }
    found.push(Token { at: at.min(text.len()), kind: Kind::End });
    (found, fault)
}

/// Value and length of a number, with C's suffixes.
fn number(text: &str) -> Option<(u64, usize)> {
    let length = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let digits = text[..length].trim_end_matches(['u', 'U', 'l', 'L']);
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(&digits[1..], 8)
    } else {
        digits.parse()
    };
    value.ok().map(|v| (v, length))
}

/// Content and length of a string or character literal between two `quote`s.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut rest = text.char_indices();
    rest.next();
    while let Some((at, c)) = rest.next() {
        match c {
            _ if c == quote => return Some((value, at + 1)),
            '\\' => {
                let (start, c) = rest.next()?;
                let (meant, length) = escaped(&text[start..]).unwrap_or((c, c.len_utf8()));
                value.push(meant);
                while rest.offset() < start + length {
                    rest.next();
                }
            }
            _ => value.push(c),
        }
    }
    None
}

/// The character that an escape after a backslash means in C, and its length; a code is one of ISO 8859-1.
fn escaped(text: &str) -> Option<(char, usize)> {
    let code = |from: usize, most: usize, base: u32| {
        let length = text[from..].chars().take(most).take_while(|c| c.is_digit(base)).count();
        Some((char::from(u8::from_str_radix(&text[from..from + length], base).ok()?), from + length))
    };
    let meant = match text.chars().next()? {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        'x' => return code(1, 2, 16),
        '0'..='7' => return code(0, 3, 8),
        _ => return None,
    };
    Some((meant, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_strings_and_marks_are_told_apart_and_comments_left_out() {
        let (found, fault) = tokens("a := 0x10 /* no */ ... \"b\\\"c\" // no\n[017]; 18446744073709551615");
        let kinds: Vec<Kind<'_>> = found.into_iter().map(|t| t.kind).collect();
        assert_eq!(fault, None);
        assert_eq!(
            kinds,
            [
                Kind::Word("a"),
                Kind::Mark(":="),
                Kind::Number(16),
                Kind::Mark("..."),
                Kind::Text("b\"c".into()),
                Kind::Mark("["),
                Kind::Number(15),
                Kind::Mark("]"),
                Kind::Mark(";"),
                Kind::Number(u64::MAX),
                Kind::End,
            ]
        );
    }

    #[test]
    fn what_has_no_end_is_named_with_its_offset() {
        for (text, at) in [("a /* b", 2), ("x = \"abc", 4), ("9z", 0)] {
            let (_, fault) = tokens(text);
            assert_eq!(fault.expect(text).at, at);
        }
    }
}
