//! The same run with its tables in memory and in files. A process of its own: where tables lie is one setting of it.

mod simulated;

use simulated::{analysed, figures, Simulation};
use tacho_tables::rows;

#[test]
fn tables_and_figures_do_not_depend_on_where_rows_lie() {
    for seed in 0..8 {
        let (builder, _) = Simulation::run(seed, |node| 100 + node as u32);
        let folder = tempfile::tempdir().expect("folder");
        let run = builder.write(folder.path()).expect("write");
        rows::keep_in_memory(8 << 20);
        let in_memory = analysed(&run);
        let told = figures(&in_memory);
        rows::keep_in_memory(0);
        let in_files = analysed(&run);
        assert!(in_files.executions.in_file() && in_files.messages.in_file());
        assert_eq!(in_files, in_memory, "seed {seed}");
        assert_eq!(figures(&in_files), told, "seed {seed}");
        rows::keep_in_memory(8 << 20);
    }
}
