//! The crate against the headers: a C compiler says what is in `middleware.h`, `task.h` and `node_tasks.h`. No number
//! of them stands here.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::process::Command;
use tacho_abi::node_tasks::{NodeTasks, RawLent, NODE_TASKS_ABI};
use tacho_abi::task::{
    TaskCall, TaskConfig, TaskEndpoint, TaskInput, TaskKind, TaskOutput, TaskParameter, TaskSignal, TaskSlot, TaskText,
    Tasks, TASK_ABI,
};
use tacho_abi::{EndpointConfig, Header, Message, Qos, SessionConfig, Table, ABI, ERROR_SIZE};

const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../native/include");

/// What this crate says of each expression of C.
type Ours = BTreeMap<String, u64>;

/// Sizes and offsets of structs, whose fields are given in their order; where C calls one otherwise, its name follows.
macro_rules! layout {
    ($ours:ident, $($c:literal as $rust:ty { $($field:ident $(= $c_field:literal)?),* })*) => {$(
        $ours.insert(format!("sizeof(struct {})", $c), size_of::<$rust>() as u64);
        $(
            let name = [$($c_field,)? stringify!($field)][0];
            $ours.insert(format!("offsetof(struct {}, {name})", $c), offset_of!($rust, $field) as u64);
        )*
    )*};
}

fn ours() -> Ours {
    let mut ours = Ours::new();
    layout! { ours,
        "tacho_header" as Header { sequence, stamp_ns, publisher, reserved }
        "tacho_qos" as Qos { reliability, durability, history, depth }
        "tacho_message" as Message { header, data, size, loan }
        "tacho_session_config" as SessionConfig { domain, transport, address }
        "tacho_endpoint_config" as EndpointConfig { node, topic, message_type = "type", size, qos }
        "tacho_middleware" as Table {
            abi, name, transports, types, version, open, close, node, advertise, subscribe, publisher_matched,
            subscription_matched, borrow, publish, take, give_back, descriptor
        }
        "tacho_task_parameter" as TaskParameter { name, unit, least, greatest, initial, meaning }
        "tacho_task_text" as TaskText { name, meaning }
        "tacho_task_slot" as TaskSlot { name, size, optional, reserved }
        "tacho_task_signal" as TaskSignal { name, unit, meaning, is_list, reserved }
        "tacho_task_endpoint" as TaskEndpoint { topic, message_type = "type", size }
        "tacho_task_config" as TaskConfig { node, seed, values, inputs, input_count, outputs, output_count, texts }
        "tacho_task_input" as TaskInput { header, data, size, is_new, reserved }
        "tacho_task_output" as TaskOutput { data, size, publish, reserved }
        "tacho_task_call" as TaskCall { now_ns, inputs, outputs, report, report_context }
        "tacho_task_kind" as TaskKind {
            name, meaning, parameters, parameter_count, inputs, input_count, outputs, output_count, create, run,
            figures, destroy, signals, signal_count, texts, text_count
        }
        "tacho_tasks" as Tasks { abi, name, kinds, kind_count }
        "tacho_lent" as RawLent { header, data, size, input }
        "tacho_node_tasks" as NodeTasks { abi, reserved, create, hear, run, figures, destroy }
    }
    let constants = [
        ("TACHO_MIDDLEWARE_ABI", u64::from(ABI)),
        ("TACHO_TASK_ABI", u64::from(TASK_ABI)),
        ("TACHO_NODE_TASKS_ABI", u64::from(NODE_TASKS_ABI)),
        ("TACHO_ERROR_SIZE", ERROR_SIZE as u64),
        ("TACHO_BEST_EFFORT", false.into()),
        ("TACHO_RELIABLE", true.into()),
        ("TACHO_VOLATILE", false.into()),
        ("TACHO_TRANSIENT_LOCAL", true.into()),
        ("TACHO_KEEP_LAST", false.into()),
        ("TACHO_KEEP_ALL", true.into()),
    ];
    ours.extend(constants.map(|(name, value)| (name.to_owned(), value)));
    ours
}

/// What a program of C prints for these expressions.
fn of_the_header(expressions: impl Iterator<Item = String>) -> Ours {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("header.c"), folder.join("header"));
    let prints: String =
        expressions.map(|e| format!("  printf(\"%s = %llu\\n\", \"{e}\", (unsigned long long)({e}));\n")).collect();
    let text = format!("#include <stdio.h>\n#include <tacho/node_tasks.h>\nint main(void) {{\n{prints}}}\n");
    std::fs::write(&source, text).unwrap();
    let compiled = Command::new("cc").args(["-I", INCLUDE, "-o"]).args([&program, &source]).output();
    let compiled = compiled.expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
    let line = |line: &str| line.split_once(" = ").map(|(e, value)| (e.to_owned(), value.parse().unwrap())).unwrap();
    printed.lines().map(line).collect()
}

#[test]
fn structs_and_constants_are_those_of_the_headers() {
    let ours = ours();
    assert_eq!(ours, of_the_header(ours.keys().cloned()));
}

/// A field that only a header has is found in the structs' text: padding could hide it from their sizes.
#[test]
fn no_struct_or_field_of_the_headers_is_left_out() {
    let read = |name| std::fs::read_to_string(format!("{INCLUDE}/tacho/{name}.h")).unwrap();
    let header = read("middleware") + &read("task") + &read("node_tasks");
    let ours = ours();
    let mut found = 0;
    for body in header.split("\nstruct tacho_").skip(1) {
        let Some((name, fields)) = body.split_once(" {\n").filter(|(name, _)| !name.contains(';')) else { continue };
        let declared = without_comments(fields.split("\n};").next().unwrap());
        let declared = declared.split(';').map(str::trim).filter(|field| !field.is_empty());
        let expected = ours.keys().filter(|key| key.starts_with(&format!("offsetof(struct tacho_{name},"))).count();
        assert_eq!(declared.count(), expected, "fields of struct tacho_{name}");
        found += 1;
    }
    assert_eq!(found, ours.keys().filter(|key| key.starts_with("sizeof")).count(), "structs");
}

fn without_comments(text: &str) -> String {
    text.split("/*").enumerate().map(|(i, part)| if i == 0 { part } else { part.split_once("*/").unwrap().1 }).collect()
}
