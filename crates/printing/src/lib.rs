//! Writes all text that goes out, so that a terminal shows the control characters in the names of nodes, traces, files
//! and paths instead of obeying them.
//!
//! Such names are foreign text: an escape in the name of a topic would steer the terminal, a newline would forge a
//! line. [`eprintln!`] writes to stderr, one line a call. Text for stdout is composed as [`Lines`], which know which
//! line ends are ours.

mod once;
mod terminal;

pub use once::{once, once_with, reason_of};
pub use terminal::{stderr_screen, stdout_screen, Screen};

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};

/// Writes one line to stderr and makes everything visible that would steer a terminal, including line ends. Unlike the
/// standard macro it does not panic if the reader is gone (`tacho record ... 2>&1 | head`), because that would end a
/// recording.
#[macro_export]
macro_rules! eprintln {
    ($($text:tt)*) => {
        $crate::line_to_stderr(format_args!($($text)*))
    };
}

/// Implements [`eprintln!`].
pub fn line_to_stderr(text: fmt::Arguments<'_>) {
    let text = text.to_string();
    // Nobody reads stderr any more.
    let _ = io::stderr().write_all(format!("{}\n", visible(&text)).as_bytes());
}

/// Writes several lines to stderr.
pub fn lines_to_stderr(lines: &Lines) {
    let _ = lines.write(&mut io::stderr());
}

/// Whether a terminal obeys this character instead of showing it, or may (Unicode's "Bidirectional Algorithm", table 4;
/// line separators).
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` with every character that a terminal would obey in a visible form: `\n`, `\x1b`, `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.contains(is_obeyed) {
        text.chars().fold(String::with_capacity(text.len() + 16), shown).into()
    } else {
        text.into()
    }
}

/// Formats a value as [`visible`] does.
pub struct Visible<T>(pub T);

impl<T: Display> Display for Visible<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&visible(&self.0.to_string()))
    }
}

fn shown(mut out: String, c: char) -> String {
    let written = match c {
        '\n' => write!(out, "\\n"),
        '\t' => write!(out, "\\t"),
        '\r' => write!(out, "\\r"),
        c if c.is_ascii_control() => write!(out, "\\x{:02x}", u32::from(c)),
        c if is_obeyed(c) => write!(out, "\\u{{{:x}}}", u32::from(c)),
        c => write!(out, "{c}"),
    };
    written.unwrap_or_else(|_| unreachable!("a string takes all text"));
    out
}

/// Makes JSON safe for a terminal: the same value, with `\u` escapes for what a terminal would obey. Outside strings,
/// JSON contains only line ends of that.
pub fn json(text: &str) -> Lines {
    let mut out = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        let written =
            if is_obeyed(c) && c != '\n' { write!(out, "\\u{:04x}", u32::from(c)) } else { write!(out, "{c}") };
        written.unwrap_or_else(|_| unreachable!("a string takes all text"));
    }
    out.push('\n');
    Lines(out)
}

/// Our lines, with foreign text in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines(String);

impl Lines {
    /// None yet.
    pub fn new() -> Lines {
        Lines::default()
    }

    /// Takes text that was composed line by line, with each foreign part made [`visible`]. Of the control characters it
    /// keeps line ends, tabs and colours (ESC `[` number `m`).
    pub fn composed(text: &str) -> Lines {
        let (mut out, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(at) = rest.find(|c| is_obeyed(c) && c != '\n' && c != '\t') {
            let (plain, from) = rest.split_at(at);
            out.push_str(plain);
            let end = colour(from).unwrap_or_else(|| from.chars().next().map_or(0, char::len_utf8));
            let (obeyed, behind) = from.split_at(end);
            if colour(from).is_some() {
                out.push_str(obeyed);
            } else {
                out = obeyed.chars().fold(out, shown);
            }
            rest = behind;
        }
        out.push_str(rest);
        Lines(out)
    }

    /// Adds a line of any text.
    pub fn line(&mut self, text: impl Display) {
        self.cells([text]);
    }

    /// Adds a line of cells with tabs between them.
    pub fn cells(&mut self, cells: impl IntoIterator<Item = impl Display>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| Visible(cell).to_string()).collect();
        self.0.push_str(&cells.join("\t"));
        self.0.push('\n');
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Writes all of it.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(self.0.as_bytes())
    }
}

/// Length of the colour that `text` begins with.
fn colour(text: &str) -> Option<usize> {
    let number = text.strip_prefix("\x1b[")?;
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    (number.as_bytes().get(digits) == Some(&b'm')).then_some("\x1b[m".len() + digits)
}

/// Formats a size for people, to a tenth: `208 KiB`, `23.8 GiB`.
pub fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    let tenths = (value * 10.0).round() / 10.0;
    format!("{tenths} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_visible_and_all_else_stays() {
        assert_eq!(
            visible("/a\u{1b}[2J\n\t\r\0\u{7f}\u{9b}31m\u{202e}b\u{2028}"),
            r"/a\x1b[2J\n\t\r\x00\x7f\u{9b}31m\u{202e}b\u{2028}"
        );
        assert!(matches!(visible("/points Größe 点 µs"), Cow::Borrowed(_)));
        assert_eq!(format!("{:>4}|{:<4}|", Visible("a"), Visible("\u{7}")), "   a|\\x07|");
    }

    #[test]
    fn lines_of_ours_stay_lines_and_foreign_ones_do_not_become_any() {
        let mut lines = Lines::new();
        lines.line(format_args!("node {}", "a\ntacho: all is well"));
        lines.cells(["a\tb", "c"]);
        assert_eq!(lines.as_str(), "node a\\ntacho: all is well\na\\tb\tc\n");
        let composed = Lines::composed("\x1b[1mhead\x1b[0m\n\tx\x1b[2J\u{9b}m\x1b]0;title\x07\x1b");
        assert_eq!(composed.as_str(), "\x1b[1mhead\x1b[0m\n\tx\\x1b[2J\\u{9b}m\\x1b]0;title\\x07\\x1b");
    }

    #[test]
    fn json_keeps_its_value() {
        assert_eq!(
            json("{\n  \"a\u{7f}\u{9b}\": \"\u{202e}\\u001b\"\n}").as_str(),
            "{\n  \"a\\u007f\\u009b\": \"\\u202e\\u001b\"\n}\n"
        );
    }

    #[test]
    fn sizes_are_rounded_to_tenths() {
        assert_eq!(size(212_992), "208 KiB");
        assert_eq!(size(25_000_000_000), "23.3 GiB");
        assert_eq!(size(12), "12 B");
    }
}
