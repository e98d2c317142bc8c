//! Figures of a bag.

use super::Distribution;
use serde::{Deserialize, Serialize};

/// One topic of a bag: what the recorder's log times, the senders' publish times and the stamps in headers tell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct BagTopicFigures {
    /// Name.
    pub topic: String,
    /// Type of its messages; empty where the bag does not say.
    pub datatype: String,
    /// Messages in the bag.
    pub messages: u64,
    /// Their bytes, serialised.
    pub bytes: u64,
    /// Those with a stamp; absent where its messages do not begin with a header, or it is not known whether they do.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stamped: Option<u64>,
    /// Numbers that no message has, between the least and the greatest that one has; absent where none is missing, as
    /// many writers of bags number messages themselves, and where the numbers cannot be those of one publisher.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub numbers_missing: Option<u64>,
    /// Gaps over their sum.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate_hz: Option<f64>,
    /// Log time to the next log time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gap_ms: Option<Distribution>,
    /// How far a gap is from the median gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jitter_ms: Option<Distribution>,
    /// Stamp to the stamp of the message that was logged next.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stamp_gap_ms: Option<Distribution>,
    /// Stamp to log time, by two clocks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub age_ms: Option<Distribution>,
    /// Publish time to log time, by two clocks; absent where the writer had one time only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub publish_to_log_ms: Option<Distribution>,
}
