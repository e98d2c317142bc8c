//! Runs the fuzz targets of traces and bags on the corpus and some mutations of it. `fuzz/run` does the same for any
//! time.

#[path = "../../../fuzz/checks/ctf.rs"]
mod ctf;
#[path = "../../../fuzz/checks/ctf_index.rs"]
mod ctf_index;
#[path = "../../../fuzz/checks/mcap.rs"]
mod mcap;
#[path = "../../../fuzz/mutate.rs"]
mod mutate;
#[path = "../../../fuzz/checks/sqlite.rs"]
mod sqlite;

#[test]
fn any_metadata_is_read_or_refused() {
    mutate::corpus("ctf_metadata", 300, ctf::description);
}

#[test]
fn any_packets_are_read_as_far_as_they_go() {
    mutate::corpus("ctf_packets", 300, ctf::packets);
}

#[test]
fn any_bag_is_read_as_far_as_it_goes() {
    mutate::corpus("mcap", 300, mcap::file);
}

#[test]
fn no_index_makes_or_takes_an_event() {
    mutate::corpus("ctf_index", 300, ctf_index::index);
}

#[test]
fn any_database_is_read_as_far_as_it_goes() {
    mutate::corpus("sqlite", 300, sqlite::file);
}
