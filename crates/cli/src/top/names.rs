//! Shortens long names for a narrow column, so that no two look the same.

use std::collections::HashMap;
use tacho_report::shorten;
use tacho_tables::cut_left;

/// A name, and how many characters at its end are never cut off: a function's own name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Named<'a> {
    pub name: &'a str,
    pub kept: usize,
}

impl Named<'_> {
    /// Shortens the name to at most `width` characters.
    fn shortened(&self, width: usize) -> String {
        let Named { name, kept } = *self;
        let length = name.chars().count();
        if length <= width || kept == 0 {
            return shorten(name, width);
        }
        if kept + LEAST_BEFORE > width {
            return cut_left(name, width);
        }
        let before: String = name.chars().take(length - kept).collect();
        format!("{}{}", shorten(&before, width - kept), name.chars().skip(length - kept).collect::<String>())
    }
}

/// A part of a name is shown only if it has this many characters.
const LEAST_BEFORE: usize = 4;

/// Shortens each name to at most `width` characters. A name that is too long loses its middle, or what is before its
/// function. Names that would then look the same show only what differs. Names that still look the same get numbers.
pub fn fitted(of: &[Named<'_>], width: usize) -> Vec<String> {
    let names: Vec<&str> = of.iter().map(|named| named.name).collect();
    let names = names.as_slice();
    let mut shown: Vec<String> = of.iter().map(|named| named.shortened(width)).collect();
    for alike in alike(names, &shown) {
        let alike: Vec<usize> = alike.into_iter().filter(|row| of[*row].kept == 0).collect();
        let (head, tail) = common(&alike.iter().map(|row| names[*row]).collect::<Vec<_>>());
        for row in &alike {
            shown[*row] = differing(names[*row], head, tail, width);
        }
    }
    for alike in alike(names, &shown) {
        for (number, row) in alike.iter().enumerate() {
            let mark = format!(" #{}", number + 1);
            shown[*row] = format!("{}{mark}", of[*row].shortened(width.saturating_sub(mark.len())));
        }
    }
    shown
}

/// Groups the rows of different names that look the same.
fn alike(names: &[&str], shown: &[String]) -> Vec<Vec<usize>> {
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    (0..names.len()).for_each(|row| groups.entry(&shown[row]).or_default().push(row));
    let differ = |rows: &Vec<usize>| rows.iter().any(|row| names[*row] != names[rows[0]]);
    groups.into_values().filter(differ).collect()
}

/// How many characters all names share at the beginning, and how many at the end after those. Both count whole words,
/// the parts of a path.
fn common(names: &[&str]) -> (usize, usize) {
    let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let shortest = letters.iter().map(Vec::len).min().unwrap_or(0);
    let same = |at: &dyn Fn(&[char]) -> char| letters.iter().all(|name| at(name) == at(&letters[0]));
    let head = (0..shortest).take_while(|place| same(&|name| name[*place])).count();
    let tail = (0..shortest - head).take_while(|place| same(&|name| name[name.len() - 1 - place])).count();
    let Some(first) = letters.first() else { return (0, 0) };
    let parts = |letter: &char| matches!(letter, '/' | ' ');
    let head = first[..head].iter().rposition(parts).map_or(0, |place| place + 1);
    let tail = first[first.len() - tail..].iter().position(parts).map_or(0, |place| tail - place);
    (head, tail)
}

/// Shows what differs in a name, between as much of its beginning and end as fits.
fn differing(name: &str, head: usize, tail: usize, width: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    let own: String = letters[head..letters.len() - tail].iter().collect();
    let own_width = own.chars().count();
    if own_width + 2 >= width {
        return shorten(&format!("…{own}"), width);
    }
    let room = width - own_width - 2; // for what it begins and ends with, and two marks
    let before: String = match head <= room {
        true => letters[..head].iter().collect(),
        false => letters[..room].iter().chain(['…'].iter()).collect(),
    };
    let left = width - own_width - before.chars().count();
    let after: String = match tail {
        0 => String::new(),
        _ if tail <= left => letters[letters.len() - tail..].iter().collect(),
        _ => std::iter::once('…')
            .chain(letters[letters.len() - left.saturating_sub(1)..].iter().copied())
            .take(left)
            .collect(),
    };
    format!("{before}{own}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(names: &[&str], width: usize) -> Vec<String> {
        super::fitted(&names.iter().map(|name| Named { name, kept: 0 }).collect::<Vec<_>>(), width)
    }

    /// Dozens of paths lead between the same two ends and differ in the middle of a name too long for any terminal.
    #[test]
    fn dozens_of_long_names_that_differ_somewhere_are_told_apart() {
        let ends = (
            "* /sensing/lidar/top/velodyne_driver to /control/trajectory_follower/longitudinal by",
            "/control/command/control_cmd",
        );
        let names: Vec<String> = (0..48)
            .map(|k| format!("{} /perception/objects/branch_{k}/filtered /planning/path {}", ends.0, ends.1))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for width in [24, 40, 80, 120] {
            let shown = fitted(&names, width);
            let mut different: Vec<&String> = shown.iter().collect();
            different.sort();
            different.dedup();
            assert_eq!(different.len(), names.len(), "{width}: {shown:?}");
            assert!(
                shown.iter().all(|name| name.chars().count() <= width && name.starts_with("* ")),
                "{width}: {shown:?}"
            );
            assert!((0..48).all(|k| shown[k].contains(&k.to_string())), "{width}: {shown:?}");
        }
    }

    #[test]
    fn names_that_have_room_are_whole_and_others_lose_their_middle() {
        assert_eq!(fitted(&["/points", "/image"], 8), ["/points", "/image"]);
        assert_eq!(fitted(&["/points_filtered", "/image"], 9), ["/poi…ered", "/image"]);
        let same = fitted(&["/points_filtered", "/points_filtered"], 9);
        assert_eq!(same, ["/poi…ered", "/poi…ered"], "the same name");
    }

    #[test]
    fn the_own_name_of_a_function_is_whole_in_any_width_that_holds_it() {
        let name = "/planning/behaviour/planner timer 100 ms nav::Planner::reload_map";
        let kept = "reload_map".len();
        for width in kept..name.len() {
            let shown = super::fitted(&[Named { name, kept }, Named { name: "/a /b f", kept: 1 }], width);
            assert!(shown[0].ends_with("reload_map") || width <= kept, "{width}: {shown:?}");
            assert!(shown[0].chars().count() <= width, "{width}: {shown:?}");
        }
        let alike = [Named { name, kept }, Named { name: &name.replace("nav", "navigation"), kept }]
            .map(|named| named.name.to_owned());
        let named: Vec<Named<'_>> = alike.iter().map(|name| Named { name, kept }).collect();
        let shown = super::fitted(&named, 24);
        assert!(shown[0] != shown[1] && shown.iter().all(|name| name.contains("reload_map")), "{shown:?}");
    }

    #[test]
    fn what_looks_the_same_however_it_is_cut_is_numbered() {
        // They differ at both ends of the part that is too long.
        let names = ["aXbbbbbbbbbbbbbbbbbbbbbbXc", "aXbbbbbbbbbbbbbYbbbbbbbbXc", "aXbbbbbbZbbbbbbbbbbbbbbbXc"];
        let shown = fitted(&names, 9);
        assert!(shown[0] != shown[1] && shown[1] != shown[2] && shown[0] != shown[2], "{shown:?}");
    }
}
