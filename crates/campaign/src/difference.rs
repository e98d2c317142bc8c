//! Compares a workload with the one that a run was begun with.

use tacho_workload::Workload;

/// Describes the first difference between the text of a run's workload and that of the requested one.
pub fn difference(there: &str, here: &str) -> String {
    let mut lines = there.lines().zip(here.lines()).enumerate();
    match lines.find(|(_, (there, here))| there != here) {
        Some((index, (there, here))) => {
            format!("line {} is `{}` there and `{}` now", index + 1, there.trim_end(), here.trim_end())
        }
        None => format!("{} lines there, {} now", there.lines().count(), here.lines().count()),
    }
}

/// Whether `text`, which a run directory holds, is this workload. Another version of tacho may have written it
/// differently.
pub fn same_workload(text: &str, workload: &Workload) -> bool {
    let here = tacho_workload::write(workload);
    let read = |text: &str| tacho_workload::parse(text, "workload.yaml").ok().map(|(workload, _)| workload);
    text == here || read(text).is_some_and(|there| read(&here) == Some(there))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "nodes: {a: {publishes: {/t: {rate: 10 Hz}}}, b: {subscribes: [/t]}}\nrun: {duration: 1 s}\n";

    #[test]
    fn a_workload_is_the_same_in_other_words_and_another_with_another_time() {
        let (workload, _) = tacho_workload::parse(TEXT, "w.yaml").unwrap();
        assert!(same_workload(&tacho_workload::write(&workload), &workload));
        assert!(same_workload(&format!("# as before\n{}", TEXT.replace("1 s", "1000 ms")), &workload));
        assert!(!same_workload(&TEXT.replace("1 s", "2 s"), &workload));
        assert!(!same_workload("nodes: [", &workload));
    }

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(difference("a\nb \nc\n", "a\nd\ne\n"), "line 2 is `b` there and `d` now");
        assert_eq!(difference("a\n", "a\nb\n"), "1 lines there, 2 now");
    }
}
