//! Reads what nodes measured with their own clock, if a workload asks for that (`in_node_clock`): files below `clock/`.

use crate::exit::Failure;
use crate::runs;
use anyhow::Context;
use std::io::ErrorKind;
use std::path::Path;

const MESSAGES: &str = ".messages.csv";

/// Passes on node, kind, start and end of each callback, in ns.
pub fn callbacks(folder: &Path, on_row: impl FnMut(&str, &str, i64, i64)) -> Result<(), Failure> {
    let node = |file: &str| if file.ends_with(MESSAGES) { None } else { file.strip_suffix(".csv").map(str::to_owned) };
    rows(folder, "kind,callback,start_ns,end_ns", node, on_row)
}

/// Passes on when each message was stamped and when it was received, in ns.
pub fn messages(folder: &Path, mut on_row: impl FnMut(i64, i64)) -> Result<(), Failure> {
    let node = |file: &str| file.strip_suffix(MESSAGES).map(str::to_owned);
    rows(folder, "publisher,sequence,stamp_ns,received_ns", node, |_, _, stamp, received| on_row(stamp, received))
}

/// Reads the files of a node and passes on the first and the last two columns of each row. Without the folder there are
/// no rows.
fn rows(
    folder: &Path,
    columns: &str,
    node_of: impl Fn(&str) -> Option<String>,
    mut on_row: impl FnMut(&str, &str, i64, i64),
) -> Result<(), Failure> {
    let files = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        files => files.with_context(|| folder.display().to_string())?,
    };
    for file in files {
        let path = file.with_context(|| folder.display().to_string())?.path();
        let Some(node) = path.file_name().and_then(|name| node_of(&name.to_string_lossy())) else { continue };
        for (number, line) in runs::read_text(&path)?.lines().enumerate().skip(1) {
            let words: Vec<&str> = line.split(',').collect();
            let row = match words[..] {
                [first, _, from, to] => from.parse().ok().zip(to.parse().ok()).map(|(from, to)| (first, from, to)),
                _ => None,
            };
            let expected = || format!("{}:{}: {line:?}; expected {columns}", path.display(), number + 1);
            let (first, from, to) = row.with_context(expected)?;
            on_row(&node, first, from, to);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reads_its_own_files_and_a_torn_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("relay.csv", "kind,callback,start_ns,end_ns\nsubscription,0,10,30\n");
        write("relay.messages.csv", "publisher,sequence,stamp_ns,received_ns\n0,1,5,10\n");
        let (mut ran, mut came) = (Vec::new(), Vec::new());
        callbacks(folder.path(), |node, kind, from, to| ran.push((node.to_owned(), kind.to_owned(), from, to)))
            .unwrap();
        messages(folder.path(), |stamp, received| came.push((stamp, received))).unwrap();
        assert_eq!((ran, came), (vec![("relay".into(), "subscription".into(), 10, 30)], vec![(5, 10)]));
        callbacks(&folder.path().join("none"), |_, _, _, _| panic!("no file")).unwrap();
        write("relay.messages.csv", "publisher,sequence,stamp_ns,received_ns\n0,1,5,1\n0,2,");
        let Err(Failure::Fault(error)) = messages(folder.path(), |_, _| {}) else { panic!("torn") };
        assert!(
            error.to_string().contains("relay.messages.csv:3: ") && error.to_string().contains("received_ns"),
            "{error}"
        );
    }
}
