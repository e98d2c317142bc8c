//! Runs the fuzz target of event files on the corpus and some mutations of it. `fuzz/run` does the same for any time.

#[path = "../../../fuzz/checks/event_file.rs"]
mod event_file;
#[path = "../../../fuzz/mutate.rs"]
mod mutate;

#[test]
fn any_event_file_is_read_as_far_as_it_goes() {
    mutate::corpus("event_file", 1000, event_file::file);
}
