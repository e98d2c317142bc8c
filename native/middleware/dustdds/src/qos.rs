//! Quality of service in Dust DDS's terms, read back after it is set.

use dust_dds::infrastructure::qos::{DataReaderQos, DataWriterQos};
use dust_dds::infrastructure::qos_policy::{
    DataRepresentationQosPolicy, DurabilityQosPolicy, DurabilityQosPolicyKind, HistoryQosPolicy, HistoryQosPolicyKind,
    ReliabilityQosPolicy, ReliabilityQosPolicyKind, UserDataQosPolicy, XCDR_DATA_REPRESENTATION,
};
use dust_dds::infrastructure::time::DurationKind;
use std::fmt::Debug;
use tacho_seam::{Error, Qos, Result};

/// Announces the hash of a type as ROS 2 does (REP 2011).
pub fn type_hash(hash: &str) -> UserDataQosPolicy {
    UserDataQosPolicy { value: format!("typehash={hash};").into_bytes() }
}

fn policies(asked: &Qos) -> Result<(ReliabilityQosPolicy, DurabilityQosPolicy, HistoryQosPolicy)> {
    let depth = u32::try_from(asked.depth)
        .map_err(|_| Error::new(format!("depth {}; expected at most {}", asked.depth, u32::MAX)))?;
    let reliability = ReliabilityQosPolicy {
        kind: if asked.reliable { ReliabilityQosPolicyKind::Reliable } else { ReliabilityQosPolicyKind::BestEffort },
        // A writer that must wait for its readers waits, and its sends are then late; a limit would lose messages.
        max_blocking_time: DurationKind::Infinite,
    };
    let durability = DurabilityQosPolicy {
        kind: if asked.transient_local {
            DurabilityQosPolicyKind::TransientLocal
        } else {
            DurabilityQosPolicyKind::Volatile
        },
    };
    let history = HistoryQosPolicy {
        kind: if asked.keep_all { HistoryQosPolicyKind::KeepAll } else { HistoryQosPolicyKind::KeepLast(depth) },
    };
    Ok((reliability, durability, history))
}

/// ROS 2's messages are XCDR1.
fn representation() -> DataRepresentationQosPolicy {
    DataRepresentationQosPolicy { value: vec![XCDR_DATA_REPRESENTATION] }
}

pub fn writer(asked: &Qos, hash: &str) -> Result<DataWriterQos> {
    let (reliability, durability, history) = policies(asked)?;
    let (user_data, representation) = (type_hash(hash), representation());
    Ok(DataWriterQos { reliability, durability, history, user_data, representation, ..Default::default() })
}

pub fn reader(asked: &Qos, hash: &str) -> Result<DataReaderQos> {
    let (reliability, durability, history) = policies(asked)?;
    let (user_data, representation) = (type_hash(hash), representation());
    Ok(DataReaderQos { reliability, durability, history, user_data, representation, ..Default::default() })
}

/// Checks that Dust DDS set up what was asked for.
pub fn honoured<T: PartialEq + Debug>(topic: &str, asked: &T, found: &T) -> Result<()> {
    if asked == found {
        return Ok(());
    }
    Err(Error::new(format!("{topic}: asked for {asked:?}, but reading back found {found:?}")))
}
