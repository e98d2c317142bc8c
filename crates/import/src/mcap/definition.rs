//! Finds out from a type's definition in an MCAP file whether its messages begin with a header.

use super::record::Schema;

/// Whether the first field is a `std_msgs/Header`; `None` if the definition is in an unknown language, or cannot be
/// read.
pub(crate) fn begins_with_header(schema: &Schema) -> Option<bool> {
    match schema.encoding.as_str() {
        // It defines an empty message, or its writer had not found the definition.
        _ if schema.text.trim().is_empty() => None,
        "ros2msg" | "ros1msg" => Some(first_field(&schema.text).is_some_and(is_header)),
        "ros2idl" => first_member(&schema.text, &schema.name).map(|of| of == "std_msgs::msg::Header"),
        _ => None,
    }
}

fn is_header(datatype: &str) -> bool {
    matches!(datatype, "std_msgs/Header" | "std_msgs/msg/Header" | "Header")
}

/// Type of the first field of a `.msg` file; definitions of other types follow it after a line of `=`. `None` if it has
/// no field.
fn first_field(text: &str) -> Option<&str> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.take_while(|line| !line.starts_with("===")).filter(|line| !line.is_empty()).find_map(|line| {
        let (datatype, rest) = line.split_once(char::is_whitespace)?;
        // `uint8 UNKNOWN=0` is a constant, `int32 count 0` a field with a default.
        let behind_name = rest.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start();
        (!behind_name.starts_with('=')).then_some(datatype)
    })
}

/// Type of the first member of the struct `name` (`sensor_msgs/msg/Imu`), in that struct's section.
fn first_member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let of_name = |section: &&str| section.lines().next().is_some_and(|line| line.trim() == name);
    // Sections begin with a line of `=` and one `IDL: name`.
    let section = text.split("IDL: ").find(of_name).unwrap_or(text);
    let struct_name = name.rsplit('/').next()?;
    let mut words = Words(section);
    while let Some(word) = words.next() {
        if word == "struct" && words.next() == Some(struct_name) && words.next() == Some("{") {
            return words.next();
        }
    }
    None
}

/// Words and signs of OMG IDL, without comments, strings and annotations.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn skip_annotation(&mut self) {
        self.token();
        if self.0.trim_start().starts_with('(') {
            let mut depth = 0;
            while let Some(token) = self.token() {
                match token {
                    "(" => depth += 1,
                    ")" => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        }
    }

    /// A word, a sign or a string.
    fn token(&mut self) -> Option<&'a str> {
        loop {
            let text = self.0.trim_start();
            let rest = match text {
                _ if text.starts_with("//") || text.starts_with('#') => {
                    text.split_once('\n').map_or("", |(_, rest)| rest)
                }
                _ if text.starts_with("/*") => text.split_once("*/").map_or("", |(_, rest)| rest),
                _ => {
                    let first = text.chars().next()?;
                    let word =
                        text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
                    let end = match first {
                        '"' => string_end(text),
                        _ => word.max(first.len_utf8()),
                    };
                    let (token, rest) = text.split_at(end);
                    self.0 = rest;
                    return Some(token);
                }
            };
            self.0 = rest;
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            match self.token()? {
                "@" => self.skip_annotation(),
                string if string.starts_with('"') => {}
                word => return Some(word),
            }
        }
    }
}

/// Offset after the quotation mark that ends the string at the beginning of `text`.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(encoding: &str, name: &str, text: &str) -> Option<bool> {
        begins_with_header(&Schema { id: 1, name: name.into(), encoding: encoding.into(), text: text.into() })
    }

    #[test]
    fn the_first_field_of_a_msg_file_decides() {
        let battery = "# State of a battery\n\nuint8 UNKNOWN = 0\nuint8 FULL=1 # full\nstd_msgs/Header  header\n\
                       float32 voltage\n";
        assert_eq!(schema("ros2msg", "sensor_msgs/msg/BatteryState", battery), Some(true));
        assert_eq!(schema("ros1msg", "sensor_msgs/Imu", "Header header\nfloat64 x"), Some(true));
        let later = "float32 voltage\nstd_msgs/Header header\n";
        assert_eq!(schema("ros2msg", "a/msg/B", later), Some(false));
        assert_eq!(schema("ros2msg", "a/msg/B", "string<=8 text \"a=b\"\nstd_msgs/Header header"), Some(false));
        let of_another = "================\nMSG: std_msgs/Header\nstd_msgs/Header header\n";
        assert_eq!(schema("ros2msg", "std_msgs/msg/Empty", of_another), Some(false));
    }

    #[test]
    fn the_first_member_of_the_struct_of_an_idl_file_decides() {
        let idl = "================\nIDL: sensor_msgs/msg/Imu\n// generated\n#include \"std_msgs/msg/Header.idl\"\n\
                   module sensor_msgs {\n  module msg {\n    typedef double double__9[9];\n    \
                   @verbatim (language=\"comment\", text=\n      \"struct Imu { \\\" ) double\" \"x\")\n    \
                   struct Imu {\n      @verbatim (language=\"comment\", text=\"of (x)\")\n      \
                   std_msgs::msg::Header header;\n      double x;\n    };\n  };\n};\n================\n\
                   IDL: std_msgs/msg/Header\n\
                   module std_msgs { module msg { struct Header { builtin_interfaces::msg::Time stamp; string \
                   frame_id; }; }; };";
        assert_eq!(schema("ros2idl", "sensor_msgs/msg/Imu", idl), Some(true));
        assert_eq!(schema("ros2idl", "std_msgs/msg/Header", idl), Some(false));
        assert_eq!(schema("ros2idl", "a/msg/Missing", idl), None);
    }

    #[test]
    fn a_definition_in_another_language_says_nothing() {
        assert_eq!(schema("jsonschema", "Imu", "{}"), None);
        assert_eq!(schema("protobuf", "Imu", "x"), None);
        assert_eq!(schema("ros2msg", "sensor_msgs/msg/Imu", ""), None);
    }
}
