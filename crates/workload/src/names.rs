//! Which names a workload file may have.

/// Rule of node and process names: that of ROS 2 node names, which are also good file names.
pub(crate) const NAME_RULE: &str = "letters, digits and underscores, not a digit first, at most 255";
/// The rule as a pattern, for the schema.
pub(crate) const NAME_PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_]{0,254}$";
/// Rule of topic names: that of fully qualified names in ROS 2.
pub(crate) const TOPIC_RULE: &str = "a fully qualified topic name, such as /points or /lidar/points";
/// The rule as a pattern, for the schema.
pub(crate) const TOPIC_PATTERN: &str = "^(/[A-Za-z_][A-Za-z0-9_]*)+$";
/// Rule of plugin, transport and type names.
pub(crate) const WORD_PATTERN: &str = "^[A-Za-z0-9_][A-Za-z0-9_./:-]*$";

/// A parameter of the sweep in place of a value: `$size`, `$qos.depth`.
pub(crate) const PARAMETER_PATTERN: &str = "^\\$[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$";

/// Whether a text follows [`NAME_RULE`].
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.len() <= 255
}

/// Whether a text follows [`TOPIC_RULE`].
pub(crate) fn is_topic(text: &str) -> bool {
    text.len() <= 255 && text.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_name))
}

/// Whether a text names a plugin, transport or message type.
pub(crate) fn is_word(text: &str) -> bool {
    text.len() <= 255
        && text.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_./:-".contains(c))
}
