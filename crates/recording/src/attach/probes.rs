//! Lists the functions of tracetools and their arguments: which probes to define, and how a record becomes an event.
//!
//! The table equals that in `native/recorder/tracepoints.h`, and a test checks this.

use tacho_events::number;

/// A function of tracetools, `ros_trace_NAME` and `ros_trace_do_NAME`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Function {
    pub name: &'static str,
    /// Number of the event's kind in `events.h`.
    pub kind: u16,
    /// One letter for each argument: a word (w), a bool (b), the address of a gid (g), the address of a text (t).
    pub arguments: &'static str,
}

/// A function of the same name as its event.
macro_rules! of {
    ($name:ident, $arguments:literal) => {
        Function { name: stringify!($name), kind: number::$name, arguments: $arguments }
    };
}

/// These are not in the recorder's table either, because the recorder does more than record their arguments.
const WITH_MORE: [Function; 3] = [of!(rcl_init, "w"), of!(callback_start, "wb"), of!(callback_end, "w")];

/// All others but `rmw_publish`, whose arguments depend on the release.
const FUNCTIONS: &[Function] = &[
    of!(rcl_node_init, "wwtt"),
    of!(rmw_publisher_init, "wg"),
    of!(rcl_publisher_init, "wwwtw"),
    of!(rclcpp_publish, "ww"),
    of!(rclcpp_intra_publish, "ww"),
    of!(rcl_publish, "ww"),
    of!(rmw_subscription_init, "wg"),
    of!(rcl_subscription_init, "wwwtw"),
    of!(rclcpp_subscription_init, "ww"),
    of!(rclcpp_subscription_callback_added, "ww"),
    of!(rmw_take, "wwwb"),
    of!(rcl_take, "w"),
    of!(rclcpp_take, "w"),
    of!(rcl_service_init, "wwwt"),
    of!(rclcpp_service_callback_added, "ww"),
    of!(rmw_take_request, "wwgwb"),
    of!(rmw_send_response, "wwgww"),
    of!(rmw_client_init, "wg"),
    of!(rcl_client_init, "wwwt"),
    of!(rmw_send_request, "www"),
    of!(rmw_take_response, "wwwwb"),
    of!(rcl_timer_init, "ww"),
    of!(rclcpp_timer_callback_added, "ww"),
    of!(rclcpp_timer_link_node, "ww"),
    of!(rclcpp_callback_register, "wt"),
    of!(rcl_lifecycle_state_machine_init, "ww"),
    of!(rcl_lifecycle_transition, "wtt"),
    of!(rclcpp_executor_get_next_ready, ""),
    of!(rclcpp_executor_wait_for_work, "w"),
    of!(rclcpp_executor_execute, "w"),
    of!(rclcpp_ipb_to_subscription, "ww"),
    of!(rclcpp_buffer_to_ipb, "ww"),
    of!(rclcpp_construct_ring_buffer, "ww"),
    of!(rclcpp_ring_buffer_enqueue, "wwwb"),
    of!(rclcpp_ring_buffer_dequeue, "www"),
    of!(rclcpp_ring_buffer_clear, "w"),
];

/// From this release of tracetools on, `rmw_publish` has the publisher's handle and a timestamp.
const PUBLISH_WITH_HANDLE: (u16, u8, u8) = (8, 0, 0);

/// Returns the functions that a library of a release has. If the release is unknown, only the first argument of
/// `rmw_publish` is recorded.
pub(super) fn functions(release: Option<(u16, u8, u8)>) -> Vec<Function> {
    let publish = match release {
        Some(release) if release >= PUBLISH_WITH_HANDLE => of!(rmw_publish, "www"),
        Some(_) => of!(rmw_publish, "0w0"),
        None => Function { kind: number::rmw_publish_of_unknown_release, ..of!(rmw_publish, "w") },
    };
    FUNCTIONS.iter().copied().chain(WITH_MORE).chain([publish]).collect()
}

#[cfg(target_arch = "x86_64")]
const REGISTERS: [&str; 6] = ["%di", "%si", "%dx", "%cx", "%r8", "%r9"]; // System V ABI, 3.2.3
#[cfg(target_arch = "aarch64")]
const REGISTERS: [&str; 6] = ["%x0", "%x1", "%x2", "%x3", "%x4", "%x5"]; // AAPCS64, 6.8.2

/// A field of a record, by what it becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Word {
        offset: usize,
        size: usize,
    },
    Text {
        offset: usize,
    },
    /// A word for which the function has no argument.
    Zero,
}

/// Fetch arguments as `uprobe_events` takes them (Documentation/trace/uprobetracer.rst): fields f0, f1 ... in the order
/// of the arguments.
pub(super) fn fetch(arguments: &str) -> String {
    let mut text = String::new();
    let (mut field, mut registers) = (0, REGISTERS.iter());
    let mut add = |what: String| {
        text.push_str(&format!(" f{field}={what}"));
        field += 1;
    };
    for argument in arguments.chars() {
        if argument == '0' {
            continue;
        }
        let Some(register) = registers.next() else { break };
        match argument {
            'b' => add(format!("{register}:u8")),
            'g' => {
                add(format!("+0({register}):x64"));
                add(format!("+8({register}):x64"));
            }
            't' => add(format!("+0({register}):string")),
            _ => add(format!("{register}:x64")),
        }
    }
    text
}

/// Returns the fields of a function's record in the order of its arguments, from the `format` file of its event.
pub(super) fn fields(arguments: &str, format: &str) -> Result<Vec<Field>, String> {
    let mut next = 0;
    let mut place = || {
        let name = format!("f{next}");
        next += 1;
        offset_and_size(format, &name).ok_or_else(|| format!("no field {name}"))
    };
    let mut fields = Vec::new();
    for argument in arguments.chars() {
        match argument {
            '0' => fields.push(Field::Zero),
            't' => fields.push(Field::Text { offset: place()?.0 }),
            'g' => {
                for _ in 0..2 {
                    let (offset, size) = place()?;
                    fields.push(Field::Word { offset, size });
                }
            }
            _ => {
                let (offset, size) = place()?;
                fields.push(Field::Word { offset, size });
            }
        }
    }
    Ok(fields)
}

/// Parses a line like `field:u64 f0; offset:16; size:8; signed:0;`, whose parts are separated by tabs.
fn offset_and_size(format: &str, name: &str) -> Option<(usize, usize)> {
    let line = format.lines().find(|line| {
        let declaration = line.trim().strip_prefix("field:").and_then(|rest| rest.split(';').next());
        declaration.is_some_and(|declaration| declaration.rsplit(' ').next() == Some(name))
    })?;
    let number = |key: &str| line.split(';').find_map(|part| part.trim().strip_prefix(key)?.parse().ok());
    Some((number("offset:")?, number("size:")?))
}

/// Returns words and texts of an event from the raw bytes of a record, or `None` if the record is shorter than its
/// fields need.
pub(super) fn read<'a>(fields: &[Field], raw: &'a [u8]) -> Option<(Vec<u64>, Vec<&'a str>)> {
    let (mut words, mut texts) = (Vec::with_capacity(fields.len()), Vec::new());
    for field in fields {
        match *field {
            Field::Zero => words.push(0),
            Field::Word { offset, size } => {
                let mut word = [0; 8];
                let size = size.min(8);
                word[..size].copy_from_slice(raw.get(offset..offset + size)?);
                words.push(u64::from_le_bytes(word));
            }
            // __data_loc: u16 offset, u16 length with the NUL.
            Field::Text { offset } => {
                let place = raw.get(offset..offset + 4)?;
                let start = u16::from_le_bytes([place[0], place[1]]) as usize;
                let length = u16::from_le_bytes([place[2], place[3]]) as usize;
                let bytes = raw.get(start..start + length)?;
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                texts.push(std::str::from_utf8(&bytes[..end]).unwrap_or(""));
            }
        }
    }
    Some((words, texts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::Payload;

    /// Name, argument letters of every function in tracepoints.h.
    fn of_the_recorder() -> Vec<(String, String)> {
        let header = include_str!("../../../../native/recorder/tracepoints.h");
        let (_, table) = header.split_once("clang-format off */").expect("table");
        let table = table.replace('\n', " ");
        table
            .split("TRACEPOINT")
            .skip(1)
            .map(|entry| {
                let (_, entry) = entry.split_once('(').expect("(");
                let (name, rest) = entry.split_once(',').expect("name");
                let (_, rest) = rest.split_once('(').expect("arguments");
                let (parameters, _) = rest.split_once(')').expect(")");
                let letters =
                    parameters.split(',').map(str::trim).filter(|parameter| *parameter != "void").map(|parameter| {
                        match parameter {
                            p if p.starts_with("const char *") => 't',
                            p if p.starts_with("const uint8_t *") => 'g',
                            p if p.starts_with("bool") => 'b',
                            _ => 'w',
                        }
                    });
                (name.trim().to_string(), letters.collect())
            })
            .collect()
    }

    #[test]
    fn the_table_is_that_of_the_recorder() {
        let ours: Vec<_> = FUNCTIONS.iter().map(|f| (f.name.to_string(), f.arguments.to_string())).collect();
        assert_eq!(ours, of_the_recorder());
    }

    #[test]
    fn arguments_make_the_words_and_texts_of_their_kind() {
        for release in [None, Some((4, 1, 0)), Some((8, 6, 0))] {
            for function in functions(release) {
                let (_, _, words) = Payload::KINDS.iter().find(|(kind, _, _)| *kind == function.kind).expect("a kind");
                let count = |letters: &[char]| function.arguments.chars().filter(|c| letters.contains(c)).count();
                assert_eq!(count(&['w', 'b', '0']) + 2 * count(&['g']), *words, "{}", function.name);
                assert_eq!(count(&['t']), Payload::texts(function.kind), "{}", function.name);
            }
        }
    }

    #[test]
    fn a_record_is_read_by_its_format() {
        let format = "name: x\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
                      \tfield:u64 f0;\toffset:16;\tsize:8;\tsigned:0;\n\
                      \tfield:__data_loc char[] f1;\toffset:24;\tsize:4;\tsigned:1;\n\
                      \tfield:u8 f2;\toffset:28;\tsize:1;\tsigned:0;\n";
        let fields = fields("wtb0", format).expect("fields");
        let mut raw = vec![0; 29];
        raw[16..24].copy_from_slice(&0x1234u64.to_le_bytes());
        raw[24..28].copy_from_slice(&(29u32 | 5 << 16).to_le_bytes());
        raw[28] = 1;
        raw.extend(b"/abc\0");
        assert_eq!(read(&fields, &raw), Some((vec![0x1234, 1, 0], vec!["/abc"])));
        assert_eq!(read(&fields, &raw[..30]), None, "cut short");
        assert!(super::fields("wwww", format).is_err());
    }
}
