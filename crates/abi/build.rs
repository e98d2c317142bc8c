//! Finds the files of facts of the plugins in this tree.

use std::fmt::Write;
use std::path::Path;

fn main() {
    // Asked for now, not when this was built: another checkout may have built it.
    let folder = format!("{}/../../native/middleware", std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo"));
    println!("cargo::rerun-if-changed=build.rs");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.retain(|name| Path::new(&folder).join(name).join("facts").is_file());
    names.sort();
    let mut table = String::from("const IN_THIS_TREE: &[(&str, &str)] = &[\n");
    for name in names {
        println!("cargo::rerun-if-changed={folder}/{name}/facts");
        writeln!(table, "    ({name:?}, include_str!({:?})),", format!("{folder}/{name}/facts")).unwrap();
    }
    table.push_str("];\n");
    std::fs::write(Path::new(&std::env::var_os("OUT_DIR").unwrap()).join("facts.rs"), table).unwrap();
}
