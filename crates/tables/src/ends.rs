//! Where a chain begins and ends, in words.

/// Where nodes turn that come back to the first of them: at the one in the middle. `None`: they do not come back, or
/// never leave.
pub fn turn<N: PartialEq>(nodes: &[N]) -> Option<&N> {
    let (first, last) = nodes.first().zip(nodes.last())?;
    (first == last).then(|| &nodes[nodes.len() / 2]).filter(|turn| *turn != first)
}

/// `/a to /c`, `/a to /b and back`, or `/a` if nothing leaves it; `None` for no path. Of a path as
/// [`Chain`](crate::Chain) has it: it may end with a topic.
pub fn ends(path: &[String]) -> Option<String> {
    let nodes: Vec<&String> = path.iter().step_by(2).collect();
    let (first, last) = path.first().zip(path.last())?;
    Some(match turn(&nodes) {
        Some(turn) if first == last => format!("{first} to {turn} and back"),
        _ if first == last => first.clone(),
        _ => format!("{first} to {last}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_comes_back_is_named_by_where_it_turns() {
        let of = |path: &str| ends(&path.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap();
        assert_eq!(of("/a /x /b /y /a"), "/a to /b and back");
        assert_eq!(of("/a /x /b /y /c"), "/a to /c");
        assert_eq!(of("/a /x /b /y /a /z"), "/a to /z");
        assert_eq!(of("/a"), "/a");
        assert_eq!(of("/a /x /a"), "/a");
        assert_eq!(ends(&[]), None);
    }
}
