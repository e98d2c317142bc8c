//! The links file, in which an engineer states which input of a node makes which output, and names chains and their
//! deadlines.
//!
//! `tacho explain RUN --suggest` writes one with the inferred links, and `--links` reads it:
//!
//! ```
//! let text = "
//! links:
//!   /fusion:
//!     /points -> /objects: latest
//!     /map -> /objects: unrelated
//! chains:
//!   braking: {nodes: [/lidar, /fusion, /brake], deadline: 100 ms}
//!   obstacle to brake: {from: /points, to: /brake}
//! ";
//! let stated = tacho_workload::links::parse(text, "links.yaml")?;
//! assert_eq!(stated.links[0].rule, tacho_workload::links::Rule::Latest);
//! assert_eq!(stated.chains[0].deadline.map(|d| d.as_millis()), Some(100));
//! # Ok::<(), tacho_workload::Errors>(())
//! ```

use crate::diagnostic::{did_you_mean, Errors, Report, Span};
use crate::document::{self, Value, Yaml};
use crate::units;
use std::time::Duration;
use tacho_printing::{is_obeyed, visible};

/// How an output follows from an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The output carries the input's stamp in its header.
    HeaderStamp,
    /// The callback that took the input publishes the output.
    SameCallback,
    /// The output is made of the latest input taken before.
    Latest,
    /// The same, but the node empties its buffer: each input makes at most one output.
    LatestOnce,
    /// The output is made as soon as each topic has an input, as message filters do: each input is used once, in order.
    Match,
    /// The output does not depend on this input.
    Unrelated,
}

impl Rule {
    /// Every rule with its word in the file.
    pub const WORDS: [(Rule, &'static str); 6] = [
        (Rule::HeaderStamp, "header stamp"),
        (Rule::SameCallback, "same callback"),
        (Rule::Latest, "latest"),
        (Rule::LatestOnce, "latest once"),
        (Rule::Match, "match"),
        (Rule::Unrelated, "unrelated"),
    ];

    /// The rule's word in the file.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(rule, _)| *rule == self).map_or("", |(_, word)| word)
    }
}

/// An input of a node, an output, and their relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedLink {
    /// Node with its namespace.
    pub node: String,
    /// Topic that the node takes.
    pub input: String,
    /// Topic that the node publishes.
    pub output: String,
    /// How the output follows from the input.
    pub rule: Rule,
}

/// A chain that the user names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedChain {
    /// Its name.
    pub name: String,
    /// Names of nodes, or of their callbacks, source first. Empty if `between` states its ends, or if the chain is
    /// known by this name and only its deadline is stated.
    pub nodes: Vec<String>,
    /// Its two ends, instead of nodes: it includes every path between them.
    pub between: Option<Between>,
    /// An instance that takes longer is late.
    pub deadline: Option<Duration>,
}

/// The ends of chains, each a topic, a node or a callback; `topic:NAME`, `node:NAME` or `callback:NAME` if several have
/// that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between {
    /// If a topic: the chain begins with its publishers.
    pub from: String,
    /// If a topic: the chain ends with the publish call on it.
    pub to: String,
}

/// Content of a links file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    /// Links in the order of the file.
    pub links: Vec<StatedLink>,
    /// Chains in the order of the file.
    pub chains: Vec<StatedChain>,
}

const SHAPE: &str = "a map with `links:` (node to `INPUT -> OUTPUT: RULE`) and `chains:` (name to `{nodes: [...], \
                     deadline: 100 ms}` or `{from: /points, to: /brake}`)";
const RULES: &str = "one of `header stamp`, `same callback`, `latest`, `latest once`, `match`, `unrelated`";

/// Reads a links file. All mistakes are reported at once, each with its line.
pub fn parse(text: &str, file: &str) -> Result<Links, Errors> {
    let mut report = Report::new(file, text);
    let mut found = Links::default();
    match document::parse(text) {
        Err(error) => report.error("not-yaml", error.span, error.message, error.found, error.expected),
        Ok(None) => {}
        Ok(Some(root)) => top(&root, &mut found, &mut report),
    }
    let (errors, warnings) = report.finish();
    if errors.is_empty() {
        Ok(found)
    } else {
        Err(Errors { errors, warnings })
    }
}

fn top(root: &Yaml, found: &mut Links, report: &mut Report<'_>) {
    for (key, value) in entries(root, SHAPE, report) {
        match key.0 {
            "links" => {
                for (node, topics) in entries(value, "a map of nodes to `INPUT -> OUTPUT: RULE`", report) {
                    links_of(node, topics, found, report);
                }
            }
            "chains" => {
                for (name, chain) in
                    entries(value, "a map of chain names to `{nodes: [...], deadline: 100 ms}`", report)
                {
                    if let Some(chain) = chain_of(name.0, chain, report) {
                        found.chains.push(chain);
                    }
                }
            }
            other => unknown(key.1, other, &["links", "chains"], report),
        }
    }
}

fn links_of(node: Name<'_>, topics: &Yaml, found: &mut Links, report: &mut Report<'_>) {
    for ((pair, span), rule) in entries(topics, "a map of `INPUT -> OUTPUT` to a rule", report) {
        let Some((input, output)) = pair.split_once("->").map(|(i, o)| (i.trim(), o.trim())) else {
            report.error(
                "no-arrow",
                span,
                "a link names an input and an output",
                format!("`{pair}`"),
                "`INPUT -> OUTPUT`",
            );
            continue;
        };
        if input.is_empty() || output.is_empty() {
            report.error(
                "no-topic",
                span,
                "a link names an input and an output",
                format!("`{pair}`"),
                "a topic on each side of `->`",
            );
            continue;
        }
        let word = scalar(rule);
        match word.and_then(|word| Rule::WORDS.iter().find(|(_, known)| *known == word)) {
            Some((rule, _)) => found.links.push(StatedLink {
                node: node.0.into(),
                input: input.into(),
                output: output.into(),
                rule: *rule,
            }),
            None => {
                let meant = did_you_mean(word.unwrap_or(""), Rule::WORDS.iter().map(|(_, word)| *word));
                let hint = meant.map_or(String::new(), |word| format!("; did you mean `{word}`?"));
                report.error("unknown-rule", rule.span, "no rule", rule.describe(), format!("{RULES}{hint}"));
            }
        }
    }
}

fn chain_of(name: &str, yaml: &Yaml, report: &mut Report<'_>) -> Option<StatedChain> {
    let mut chain = StatedChain { name: name.into(), nodes: Vec::new(), between: None, deadline: None };
    let (mut from, mut to) = (None, None);
    let mut whole = true;
    for ((key, span), value) in entries(yaml, "`{nodes: [...], deadline: 100 ms}`", report) {
        match key {
            "from" | "to" => match scalar(value) {
                Some(name) => *(if key == "from" { &mut from } else { &mut to }) = Some(name.to_owned()),
                None => {
                    report.error(
                        "not-an-end",
                        value.span,
                        "no end of a chain",
                        value.describe(),
                        "a topic, a node or a callback",
                    );
                    whole = false;
                }
            },
            "nodes" => match &value.value {
                Value::List(items) if items.len() > 1 && items.iter().all(|item| scalar(item).is_some()) => {
                    chain.nodes = items.iter().filter_map(scalar).map(String::from).collect();
                }
                _ => {
                    report.error(
                        "not-a-chain",
                        value.span,
                        "no list of nodes",
                        value.describe(),
                        "a list of two nodes or more, source first",
                    );
                    whole = false;
                }
            },
            "deadline" => match scalar(value).map(units::parse_duration) {
                Some(Ok(deadline)) if !deadline.is_zero() => chain.deadline = Some(deadline),
                Some(Err(error)) => {
                    report.error(
                        "not-a-time",
                        value.span,
                        error.to_string(),
                        value.describe(),
                        "a time with its unit, `100 ms`",
                    );
                    whole = false;
                }
                _ => {
                    report.error(
                        "not-a-time",
                        value.span,
                        "no deadline",
                        value.describe(),
                        "a time above zero with its unit, `100 ms`",
                    );
                    whole = false;
                }
            },
            other => {
                unknown(span, other, &["nodes", "from", "to", "deadline"], report);
                whole = false;
            }
        }
    }
    match (from, to) {
        (None, None) => {}
        (Some(from), Some(to)) if chain.nodes.is_empty() => chain.between = Some(Between { from, to }),
        _ if whole => {
            report.error(
                "not-a-chain",
                yaml.span,
                "not the ends of a chain",
                yaml.describe(),
                "`from:` and `to:`, both, and no `nodes:`",
            );
            whole = false;
        }
        _ => {}
    }
    whole.then_some(chain)
}

/// A key and its place.
type Name<'y> = (&'y str, Span);

/// Returns the entries of a map, each key once. Reports a value that is not a map, and returns no entries.
fn entries<'y>(yaml: &'y Yaml, expected: &str, report: &mut Report<'_>) -> Vec<(Name<'y>, &'y Yaml)> {
    let Value::Map(pairs) = &yaml.value else {
        if !yaml.is_null() {
            report.error("not-a-map", yaml.span, "not a map", yaml.describe(), expected);
        }
        return Vec::new();
    };
    let mut found: Vec<(Name<'y>, &'y Yaml)> = Vec::new();
    for (key, value) in pairs {
        match scalar(key) {
            Some(name) => match found.iter().find(|((known, _), _)| *known == name) {
                Some(((_, first), _)) => {
                    let found = format!("`{name}`, first in line {}", first.line);
                    report.error("duplicate", key.span, "stands here a second time", found, "each once");
                }
                None => found.push(((name, key.span), value)),
            },
            None => report.error("not-a-name", key.span, "not a name", key.describe(), expected),
        }
    }
    found
}

fn scalar(yaml: &Yaml) -> Option<&str> {
    match &yaml.value {
        Value::Scalar(text, _) if !yaml.is_null() => Some(text),
        _ => None,
    }
}

fn unknown(span: Span, found: &str, known: &[&str], report: &mut Report<'_>) {
    let hint =
        did_you_mean(found, known.iter().copied()).map_or(String::new(), |word| format!("; did you mean `{word}`?"));
    report.error(
        "unknown-key",
        span,
        "unknown key",
        format!("`{found}`"),
        format!("one of {}{hint}", known.join(", ")),
    );
}

/// Writes a links file with a remark after each link, as `--suggest` prints it. Links are grouped by node, in the given
/// order.
pub fn write(links: &[(StatedLink, String)]) -> String {
    let mut out = String::from(
        "# Which input of a node makes which output. Rules: header stamp, same callback, latest, latest once (kept \
         until used),\n# match (message filters), unrelated.\n\
         # Correct what is wrong, delete what need not be stated; `tacho explain RUN --links FILE` then uses it.\n",
    );
    if links.is_empty() {
        return out + "links: {}\n";
    }
    out += "links:\n";
    let mut node = None;
    for (link, remark) in links {
        if node != Some(&link.node) {
            out += &format!("  {}\n", key(&link.node, "  "));
            node = Some(&link.node);
        }
        let key = key(&format!("{} -> {}", link.input, link.output), "    ");
        let remark = visible(remark);
        out += &format!("    {key} {}  # {remark}\n", link.rule.word());
    }
    out
}

/// Writes a text as a map key with its colon. A key above 1024 characters needs a leading `?` (YAML 1.2, 7.4.2).
fn key(text: &str, indent: &str) -> String {
    let quoted = quoted(text);
    if quoted.chars().count() < 1024 {
        format!("{quoted}:")
    } else {
        format!("? {quoted}\n{indent}:")
    }
}

/// Writes a text so that YAML reads it back. ROS names stay plain; anything else that a trace contains is quoted.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/_~ ->".contains(c);
    if text.starts_with(['/', '~']) && !text.ends_with(' ') && text.chars().all(plain) {
        return text.into();
    }
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if is_obeyed(c) => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(node: &str, input: &str, output: &str, rule: Rule) -> StatedLink {
        StatedLink { node: node.into(), input: input.into(), output: output.into(), rule }
    }

    #[test]
    fn what_was_written_is_read_back_whatever_the_names() {
        let links = [
            (link("/a", "/in", "/out", Rule::Match), "seen: 3 of 3".to_string()),
            (link("/a", "/in # 2", "/out", Rule::Latest), "two\nlines".into()),
            (link("\"b\": {", "/i", "/o", Rule::SameCallback), String::new()),
            (link("/b", "/i", "/o", Rule::Unrelated), String::new()),
            (link("/b", "/j", "/o", Rule::LatestOnce), String::new()),
            (
                link(&format!("/{}", "c".repeat(2000)), &format!("/in{}x", "\u{b}".repeat(300)), "/o", Rule::Latest),
                String::new(),
            ),
            (link(&format!("/{}", "c".repeat(2000)), &"e".repeat(1024 - 9), "/o", Rule::Match), "long".into()),
        ];
        let text = write(&links);
        let read = parse(&text, "x").unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(read.links, links.iter().map(|(link, _)| link.clone()).collect::<Vec<_>>());
        assert_eq!(parse(&write(&[]), "x").expect("empty"), Links::default());
    }

    #[test]
    fn every_mistake_is_told_with_its_line() {
        let text =
            "links:\n  /a:\n    /in: latest\n    /in -> /out: newest\n    -> /out: match\nchain: {}\nchains:\n  \
             c: {nodes: [/a], deadline: 5}\n  c: {}\n  d: {from: /points}\n  \
             e: {nodes: [/a, /b], from: /points, to: /brake}\n";
        let errors = parse(text, "links.yaml").expect_err("mistakes").errors;
        let found: Vec<_> = errors.iter().map(|e| (e.line, e.name)).collect();
        assert_eq!(
            found,
            [
                (3, "no-arrow"),
                (4, "unknown-rule"),
                (5, "no-topic"),
                (6, "unknown-key"),
                (8, "not-a-chain"),
                (8, "not-a-time"),
                (9, "duplicate"),
                (10, "not-a-chain"),
                (11, "not-a-chain")
            ]
        );
        assert!(errors[1].to_string().contains("links.yaml:4:"), "{}", errors[1]);
        assert!(errors[3].expected.contains("did you mean `chains`?"), "{}", errors[3]);
    }

    #[test]
    fn text_that_is_no_yaml_is_an_error_and_no_text_is_nothing() {
        assert_eq!(parse("links: [", "x").expect_err("cut").errors[0].name, "not-yaml");
        assert_eq!(parse("", "x"), Ok(Links::default()));
    }
}
