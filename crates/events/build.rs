//! Takes the numbers of the kinds of events from `native/include/tacho/events.h`, which alone has them.

use std::fmt::Write;
use std::path::Path;

fn main() {
    // Asked for now, not when this was built: another checkout may have built it.
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let path = format!("{folder}/../../native/include/tacho/events.h");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={path}");
    let header = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let kinds = header.split_once("enum tacho_kind {").and_then(|(_, rest)| rest.split_once("};"));
    let (mut numbers, mut table) = (String::new(), String::new());
    let mut next: u16 = 0;
    for line in kinds.expect("enum tacho_kind").0.lines() {
        let Some(enumerator) = line.trim().strip_prefix("TACHO_") else { continue };
        let (enumerator, comment) = enumerator.split_once("/*").unwrap_or((enumerator, ""));
        let (name, number) = enumerator.split_once('=').unwrap_or((enumerator, ""));
        let of_name = |c: char| c.is_whitespace() || c == ',';
        let (name, number) = (name.trim_matches(of_name), number.trim_matches(of_name));
        if !number.is_empty() {
            next = number.parse().unwrap_or_else(|error| panic!("TACHO_{name} = {number}: {error}"));
        }
        let comment = comment.trim_end_matches("*/").trim();
        let ours = name.to_lowercase();
        writeln!(numbers, "/// `TACHO_{name}`.\npub const {ours}: u16 = {next};").unwrap();
        writeln!(table, "    ({next}, {ours:?}, {comment:?}),").unwrap();
        next += 1;
    }
    let tested = format!("#[cfg(test)]\npub(crate) const HEADER: &[(u16, &str, &str)] = &[\n{table}];\n");
    std::fs::write(Path::new(&std::env::var_os("OUT_DIR").unwrap()).join("number.rs"), numbers + &tested).unwrap();
}
