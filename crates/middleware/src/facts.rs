//! Reads the facts of a plugin from its file. Loading the plugin would start its threads and services, and some plugins
//! cannot be loaded beside others.

use crate::library::plugin;
use object::{Object, ObjectSegment, ObjectSymbol, ReadCache};
use std::fs::File;
use std::path::Path;
use tacho_abi::Facts;

/// Reads the facts that the plugin of that name exports; none if it exports none, or is not in the folder.
pub fn facts(folder: &Path, name: &str) -> Facts {
    let text = File::open(plugin(folder, name)).ok().and_then(exported);
    text.map_or_else(Facts::default, |text| Facts::parse(&text))
}

fn exported(library: File) -> Option<String> {
    let library = ReadCache::new(library);
    let file = object::File::parse(&library).ok()?;
    let symbol = file.dynamic_symbols().find(|s| s.is_definition() && s.name() == Ok("tacho_facts"))?;
    let text = file.segments().find_map(|s| s.data_range(symbol.address(), symbol.size()).ok().flatten())?;
    Some(String::from_utf8_lossy(text).trim_end_matches('\0').to_owned())
}
