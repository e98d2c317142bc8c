//! The fuzz targets of workload and links files, on the corpus and some mutations of it. `fuzz/run` does the same for
//! as long as one likes.

#[path = "../../../fuzz/checks/links.rs"]
mod links;
#[path = "../../../fuzz/mutate.rs"]
mod mutate;
#[path = "../../../fuzz/checks/workload.rs"]
mod workload;

#[test]
fn any_workload_file_is_read_or_refused_and_what_was_read_can_be_written() {
    mutate::corpus("workload_yaml", 300, workload::file);
}

#[test]
fn any_links_file_is_read_or_refused_and_what_was_read_can_be_written() {
    mutate::corpus("links_yaml", 300, links::file);
}
