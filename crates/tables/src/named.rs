//! Names in a sentence.

use std::fmt::Display;

/// `a, b, c and 4 more`: the first `most` of some names, and how many more there are.
pub fn named<N: Display>(names: impl IntoIterator<Item = N>, most: usize) -> String {
    let mut names = names.into_iter();
    let first: Vec<String> = names.by_ref().take(most).map(|name| name.to_string()).collect();
    match names.count() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_most_are_counted() {
        assert_eq!(named(["a", "b", "c"], 3), "a, b, c");
        assert_eq!(named(1..=7, 3), "1, 2, 3 and 4 more");
        assert_eq!(named(Vec::<String>::new(), 3), "");
    }
}
