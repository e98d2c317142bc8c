//! The same run analysed by one thread and by several. A process of its own: the number of threads is one setting of
//! it.

mod simulated;

use simulated::{analysed, figures, Simulation};
use std::collections::BTreeMap;
use std::path::Path;
use tacho_tables::in_order::use_threads;
use tacho_tables::store;

/// Every file of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry"));
    entries.map(|e| (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).expect("file"))).collect()
}

#[test]
fn tables_and_figures_are_the_same_to_the_byte_however_many_threads_made_them() {
    for seed in 0..8 {
        let (builder, _) = Simulation::run(seed, |node| 100 + node as u32);
        let folder = tempfile::tempdir().expect("folder");
        let run = builder.write(folder.path()).expect("write");
        let mut of_one = None;
        for threads in [1, 2, 7] {
            use_threads(threads);
            let tables = analysed(&run);
            assert!(!tables.chains.is_empty() && !tables.messages.is_empty());
            let out = tempfile::tempdir().expect("folder");
            store::write(out.path(), &tables).expect("tables");
            let made = (files(out.path()), figures(&tables));
            assert!(*of_one.get_or_insert_with(|| made.clone()) == made, "seed {seed}, {threads} threads");
        }
    }
}
