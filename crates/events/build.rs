//! Takes the numbers of the kinds of events from `native/include/tacho/events.h`, and the widths of their words from
//! `widths.h` beside it, which alone have them.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

fn main() {
    // Asked for now, not when this was built: another checkout may have built it.
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    println!("cargo::rerun-if-changed=build.rs");
    let read = |name: &str| {
        let path = format!("{folder}/../../native/include/tacho/{name}");
        println!("cargo::rerun-if-changed={path}");
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let (header, widths) = (read("events.h"), read("widths.h"));
    let kinds = header.split_once("enum tacho_kind {").and_then(|(_, rest)| rest.split_once("};"));
    let (mut numbers, mut table, mut of_words) = (String::new(), String::new(), [0u64; 256]);
    let (mut by_name, mut short) = (HashMap::new(), [0u8; 256]);
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
        if let Some((_, rest)) = widths.split_once(&format!("[TACHO_{name}] = 0x")) {
            let digits = rest.split(',').next().unwrap_or_default();
            let all = u64::from_str_radix(digits, 16).unwrap_or_else(|error| panic!("TACHO_{name}, {digits}: {error}"));
            of_words[usize::from(next)] = all << (64 - 4 * digits.len());
        }
        by_name.insert(name, next);
        if let Some(whole) = name.strip_prefix("SHORT_") {
            assert!(widths.contains(&format!("[TACHO_{whole}] = TACHO_{name},")), "TACHO_{name}: not in tacho_short");
            short[usize::from(by_name[whole])] = next as u8;
        }
        next += 1;
    }
    writeln!(numbers, "/// Short forms of kinds; 0: there is none.").unwrap();
    writeln!(numbers, "pub(crate) const SHORT: [u8; 256] = {short:?};").unwrap();
    writeln!(numbers, "/// How each word of a kind lies, 4 bits a word, the first word in the highest ones.").unwrap();
    writeln!(numbers, "pub(crate) const WIDTHS: [u64; 256] = {of_words:#x?};").unwrap();
    let tested = format!("#[cfg(test)]\npub(crate) const HEADER: &[(u16, &str, &str)] = &[\n{table}];\n");
    std::fs::write(Path::new(&std::env::var_os("OUT_DIR").unwrap()).join("number.rs"), numbers + &tested).unwrap();
}
