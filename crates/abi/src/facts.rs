//! What is known of a middleware before it is loaded.

include!(concat!(env!("OUT_DIR"), "/facts.rs"));

/// What tacho does otherwise for one middleware than for another. A plugin exports it as text (`tacho_facts`), from the
/// file `facts` in its folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts {
    /// `ends-alone`: its processes must end one after the other.
    pub ends_alone: bool,
    /// `one-process`: it hands over inside one process alone, whatever the transport.
    pub one_process: bool,
    /// `ros-on-dds`: names and messages on the wire are those of ROS 2 on DDS.
    pub ros_on_dds: bool,
}

impl Facts {
    /// Of a text with a fact in a line. Lines that begin with `#` are comments; what is not known here is not used.
    pub fn parse(text: &str) -> Facts {
        let has = |word: &str| text.lines().any(|line| line.trim() == word);
        Facts { ends_alone: has("ends-alone"), one_process: has("one-process"), ros_on_dds: has("ros-on-dds") }
    }

    /// Of a plugin of this source tree, built or not; none of another.
    pub fn in_this_tree(name: &str) -> Facts {
        let found = IN_THIS_TREE.iter().find(|(of, _)| *of == name);
        found.map_or_else(Facts::default, |(_, text)| Facts::parse(text))
    }

    /// The plugins of this source tree that have facts, in the order of their names.
    pub fn all_in_this_tree() -> impl Iterator<Item = (&'static str, Facts)> {
        IN_THIS_TREE.iter().map(|(name, text)| (*name, Facts::parse(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_words_on_lines_of_their_own() {
        let facts = Facts::parse("# one-process\nends-alone\n not-known-here\n  ros-on-dds \n");
        assert_eq!(facts, Facts { ends_alone: true, one_process: false, ros_on_dds: true });
        assert_eq!(Facts::in_this_tree("no such plugin"), Facts::default());
    }

    #[test]
    fn every_file_of_facts_is_there_and_holds_words_that_are_known() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../native/middleware");
        let has_facts = |entry: std::fs::DirEntry| entry.path().join("facts").is_file().then(|| entry.file_name());
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().filter_map(|entry| has_facts(entry.unwrap())).collect();
        files.sort();
        assert_eq!(
            files,
            Facts::all_in_this_tree().map(|(name, _)| name).collect::<Vec<_>>(),
            "touch crates/abi/build.rs"
        );
        for (name, text) in IN_THIS_TREE {
            let words = text.lines().filter(|line| !line.starts_with('#'));
            for word in words {
                assert_ne!(Facts::parse(word), Facts::default(), "{name}: {word} is no fact");
            }
        }
    }
}
