//! Prints a repeated reason once, with the number of its subjects and the names of the first ones.

use std::collections::HashMap;

/// How many names follow a reason that several share.
const NAMED: usize = 3;

/// Joins lines that give the same reason for different processes, repeats, points, nodes or topics: the first of them
/// remains, names the next ones and counts the others. All other lines remain as they are, in their order.
pub fn once<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> Vec<String> {
    let counted = once_with(lines.into_iter().map(|line| (String::new(), 1, line.as_ref().to_owned())));
    counted.into_iter().map(|(_, _, line)| line).collect()
}

/// Does the same for lines with a name and a count. It joins only lines of one name, and adds up their counts.
pub fn once_with(lines: impl IntoIterator<Item = (String, u64, String)>) -> Vec<(String, u64, String)> {
    let mut order: Vec<(String, u64, String, Vec<String>)> = Vec::new();
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    for (name, count, line) in lines {
        let (reason, of) = split(&line);
        match places.get(&(name.clone(), reason.clone())) {
            Some(place) => {
                let (_, sum, _, others) = &mut order[*place];
                *sum += count;
                others.push(of);
            }
            None => {
                places.insert((name.clone(), reason), order.len());
                order.push((name, count, line, Vec::new()));
            }
        }
    }
    order.into_iter().map(|(name, count, line, others)| (name, count, line + &and_of(&others))).collect()
}

fn and_of(others: &[String]) -> String {
    let named: Vec<&str> = others.iter().map(String::as_str).filter(|of| !of.is_empty()).take(NAMED).collect();
    match (others.len(), named.len()) {
        (0, _) => String::new(),
        (all, 0) => format!(" ({} times)", all + 1),
        (all, few) if few < all => format!(" (the same of {} and {} more)", named.join(", "), all - few),
        _ => format!(" (the same of {})", named.join(", ")),
    }
}

/// Returns the reason in a line without its subjects: lines with equal results give the same reason.
pub fn reason_of(line: &str) -> String {
    split(line).0
}

/// Splits a line into its reason and its subjects.
fn split(line: &str) -> (String, String) {
    let (mut reason, mut of) = (Vec::new(), Vec::new());
    let mut words = line.split(' ').peekable();
    while let Some(word) = words.next() {
        if matches!(word, "process" | "repeat" | "point") && words.peek().is_some() {
            let name = words.next().unwrap_or_default();
            reason.push(word);
            of.extend([word, name.trim_end_matches(':')]);
            // The command line of the process follows.
            if words.peek().is_some_and(|next| next.starts_with('(')) {
                for part in words.by_ref() {
                    of.push(part.trim_end_matches(':'));
                    if part.trim_end_matches(':').ends_with(')') {
                        break;
                    }
                }
            }
        } else if word.len() > 1 && word.starts_with('/') {
            reason.push("/");
            of.push(word.trim_end_matches([',', ':', ';']));
        } else {
            reason.push(word);
        }
    }
    (reason.join(" "), of.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_have_is_said_once_with_how_many_and_the_first() {
        let deaths = (0..40).map(|n| format!("process talker_{n} was killed by signal 9 before the end"));
        let other = "process lidar was killed by signal 11 before the end".to_owned();
        let said = once(deaths.chain([other.clone()]));
        let first = "process talker_0 was killed by signal 9 before the end (the same of process talker_1, process \
                     talker_2, process talker_3 and 36 more)";
        assert_eq!(said, [first.to_owned(), other]);
    }

    #[test]
    fn repeats_points_command_lines_nodes_and_topics_may_differ() {
        let said = once([
            "repeat 0: the load ended",
            "repeat 1: the load ended",
            "point 003-16B: process a: no room",
            "point 004-1MiB: process b: no room",
        ]);
        assert_eq!(
            said,
            [
                "repeat 0: the load ended (the same of repeat 1)",
                "point 003-16B: process a: no room (the same of point 004-1MiB process b)"
            ]
        );
        let said = once([
            "process 7 (ros2 run x): was late",
            "process 8 (talker): was late",
            "/a /t: refused",
            "/b /t, refused",
            "/c /u: refused",
        ]);
        assert_eq!(said[0], "process 7 (ros2 run x): was late (the same of process 8 (talker))");
        assert_eq!(said[1..], ["/a /t: refused (the same of /b /t, /c /u)"]);
    }

    #[test]
    fn the_very_same_line_is_counted_and_what_differs_stays() {
        assert_eq!(once(["a", "b", "a", "a"]), ["a (3 times)", "b"]);
        assert_eq!(once(["3 events of process 7 (x) were dropped", "4 events of process 7 (x) were dropped"]).len(), 2);
        assert_eq!(once(Vec::<String>::new()), Vec::<String>::new());
    }

    #[test]
    fn counts_of_one_name_add_up() {
        let line = |name: &str, topic: &str| (name.to_owned(), 2, format!("messages on {topic} lost"));
        let said = once_with([line("x", "/a"), line("y", "/a"), line("x", "/b")]);
        let told: Vec<_> = said.iter().map(|(name, count, line)| (name.as_str(), *count, line.as_str())).collect();
        assert_eq!(told, [("x", 4, "messages on /a lost (the same of /b)"), ("y", 2, "messages on /a lost")]);
    }
}
