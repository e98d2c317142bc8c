//! Writes a twin: the workload as any other, with what is known of each part above it.

use crate::twin::Twin;

/// Longest line of a comment.
const WIDTH: usize = 118;

/// The twin as a workload file with comments.
pub fn write(twin: &Twin) -> String {
    let mut text = String::new();
    twin.remarks.iter().for_each(|remark| comment(&mut text, "", remark));
    let mut is_in_nodes = false;
    let mut nodes = twin.of_nodes.iter();
    for line in tacho_workload::write(&twin.workload).lines() {
        if !line.starts_with(' ') {
            is_in_nodes = line == "nodes:";
        } else if is_in_nodes && !line.starts_with("   ") {
            nodes.next().into_iter().flatten().for_each(|remark| comment(&mut text, "  ", remark));
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn comment(text: &mut String, indent: &str, remark: &str) {
    let mut line = format!("{indent}#");
    for word in remark.split_whitespace() {
        if line.len() + word.len() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = format!("{indent}#  ");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}
