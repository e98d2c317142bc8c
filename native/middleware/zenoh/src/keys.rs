//! Zenoh's keys, as rmw_zenoh_cpp of ROS 2 forms them (its docs/design.md and liveliness_utils.cpp).
//!
//! Messages go to `<domain>/<topic>/<type>/<type hash>`. A liveliness token announces each node, publisher and
//! subscription: `@ros2_lv/<domain>/<session>/<node>/<entity>/<kind>/<enclave>/<namespace>/<node
//! name>/<topic>/<type>/<type hash>/<qos>`, with `%` for each slash in a part.

use tacho_seam::{Qos, RosType};

/// rmw_zenoh_cpp leaves a policy out of the token if it has its default value: reliable, volatile, keep last and this
/// depth.
const DEFAULT_DEPTH: usize = 42;

/// The entity of an endpoint's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `MP`.
    Publisher,
    /// `MS`.
    Subscription,
}

/// A publisher or subscription in a token, with the properties that matching compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    pub kind: Kind,
    pub topic: String,
    pub message_type: String,
    pub reliable: bool,
    pub transient_local: bool,
}

/// A node, with the parts of its tokens.
pub struct NodeKey<'a> {
    pub domain: u32,
    pub session: &'a str,
    pub node: usize,
    pub name: &'a str,
}

/// The key of a topic's messages.
pub fn topic(domain: u32, topic: &str, message: &RosType) -> String {
    format!("{domain}/{}/{}/{}", topic.trim_matches('/'), message.name, message.hash)
}

/// The key that all tokens of a domain match.
pub fn all_tokens(domain: u32) -> String {
    format!("@ros2_lv/{domain}/**")
}

fn mangled(part: &str) -> String {
    if part.is_empty() {
        "%".into()
    } else {
        part.replace('/', "%")
    }
}

impl NodeKey<'_> {
    fn begin(&self, entity: usize, kind: &str) -> String {
        let Self { domain, session, node, name } = self;
        format!("@ros2_lv/{domain}/{session}/{node}/{entity}/{kind}/%/%/{name}")
    }

    /// Returns the node's own token.
    pub fn token(&self) -> String {
        self.begin(self.node, "NN")
    }

    /// Returns the token of one of its endpoints.
    pub fn endpoint_token(&self, entity: usize, kind: Kind, topic: &str, message: &RosType, qos: &Qos) -> String {
        let kind = if kind == Kind::Publisher { "MP" } else { "MS" };
        let begin = self.begin(entity, kind);
        format!("{begin}/{}/{}/{}/{}", mangled(topic), mangled(message.name), mangled(message.hash), policies(qos))
    }
}

/// Numbers are those of rmw/types.h; deadline, lifespan and liveliness are the defaults.
fn policies(qos: &Qos) -> String {
    let reliability = if qos.reliable { "" } else { "2" };
    let durability = if qos.transient_local { "1" } else { "" };
    let history = if qos.keep_all { "2" } else { "" };
    let depth = if qos.depth == DEFAULT_DEPTH { String::new() } else { qos.depth.to_string() };
    format!("{reliability}:{durability}:{history},{depth}:,:,:,,")
}

impl Entity {
    /// Parses a token's key; absent for nodes, services and what others put below this prefix.
    pub fn parse(token: &str) -> Option<Self> {
        let parts: Vec<_> = token.split('/').collect();
        let [_, _, _, _, _, kind, _, _, _, topic, message_type, _, qos] = parts[..] else { return None };
        let kind = match kind {
            "MP" => Kind::Publisher,
            "MS" => Kind::Subscription,
            _ => return None,
        };
        let mut policies = qos.split(':');
        let reliable = matches!(policies.next()?, "" | "0" | "1");
        let transient_local = policies.next()? == "1";
        Some(Self {
            kind,
            topic: topic.replace('%', "/"),
            message_type: message_type.into(),
            reliable,
            transient_local,
        })
    }

    /// Whether a publisher and a subscription match: topic and type must be equal, and the publisher must offer at
    /// least what is requested (DDS 1.4, 2.2.3).
    pub fn matches(&self, other: &Self) -> bool {
        let (publisher, subscription) = match (self.kind, other.kind) {
            (Kind::Publisher, Kind::Subscription) => (self, other),
            (Kind::Subscription, Kind::Publisher) => (other, self),
            _ => return false,
        };
        publisher.topic == subscription.topic
            && publisher.message_type == subscription.message_type
            && publisher.reliable >= subscription.reliable
            && publisher.transient_local >= subscription.transient_local
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHATTER: RosType = RosType { name: "std_msgs::msg::dds_::String_", hash: "RIHS01_df66" };
    const DEFAULT: Qos = Qos { reliable: true, transient_local: false, keep_all: false, depth: 42 };

    #[test]
    fn keys_are_those_of_rmw_zenoh() {
        // Formed as by its Entity and TopicInfo: enclave and namespace are "/".
        assert_eq!(topic(0, "/chatter", &CHATTER), "0/chatter/std_msgs::msg::dds_::String_/RIHS01_df66");
        let talker = NodeKey { domain: 2, session: "aac3178e146ba6f1fc6e6a4085e77f21", node: 0, name: "talker" };
        assert_eq!(talker.token(), "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/talker");
        let depth_7 = Qos { depth: 7, ..DEFAULT };
        assert_eq!(
            talker.endpoint_token(10, Kind::Publisher, "/chatter", &CHATTER, &depth_7),
            "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/10/MP/%/%/talker/%chatter/\
             std_msgs::msg::dds_::String_/RIHS01_df66/::,7:,:,:,,"
        );
    }

    #[test]
    fn a_token_tells_what_matching_needs() {
        let node = NodeKey { domain: 1, session: "ab", node: 3, name: "node" };
        let told =
            |kind, topic: &str, qos| Entity::parse(&node.endpoint_token(4, kind, topic, &CHATTER, &qos)).unwrap();
        let best_effort = Qos { reliable: false, ..DEFAULT };
        let kept = Qos { transient_local: true, keep_all: true, ..DEFAULT };
        let publisher = |qos| told(Kind::Publisher, "/lidar/points", qos);
        let subscription = |qos| told(Kind::Subscription, "/lidar/points", qos);
        assert_eq!(publisher(DEFAULT).topic, "/lidar/points");
        assert_eq!(Entity::parse(&node.token()), None);
        for (offered, requested, expected) in [
            (DEFAULT, DEFAULT, true),
            (DEFAULT, best_effort, true),
            (best_effort, DEFAULT, false),
            (kept, DEFAULT, true),
            (DEFAULT, kept, false),
        ] {
            assert_eq!(publisher(offered).matches(&subscription(requested)), expected, "{offered:?} {requested:?}");
            assert_eq!(subscription(requested).matches(&publisher(offered)), expected, "{offered:?} {requested:?}");
        }
        assert!(!publisher(DEFAULT).matches(&told(Kind::Subscription, "/points", DEFAULT)));
        assert!(!publisher(DEFAULT).matches(&publisher(DEFAULT)));
    }
}
