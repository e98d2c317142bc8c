//! Lints for the kernel settings that messages of 1 and 2 MB over UDP need, and for discovery over loopback.
//!
//! The values offered are those of the ROS 2 documentation, "DDS tuning information".

use crate::{Finding, Network, LARGEST_MESSAGE};
use tacho_printing::size;

const SOCKET_BUFFER: u64 = 2_147_483_647;
const FRAGMENT_MEMORY: u64 = 128 << 20;
const FRAGMENT_TIME_S: u64 = 3;

pub(crate) fn findings(facts: &Network) -> Vec<Finding> {
    vec![buffer_limit(facts), buffer_default(facts), fragments(facts), loopback(facts)]
}

/// The most that a middleware may request by SO_RCVBUF and SO_SNDBUF (socket(7)).
fn buffer_limit(facts: &Network) -> Finding {
    let name = "socket-buffer-limit";
    let (Some(receive), Some(send)) = (facts.rmem_max, facts.wmem_max) else {
        return Finding::unknown(name, "net.core.rmem_max or wmem_max cannot be read");
    };
    let found = format!("net.core.rmem_max {}, wmem_max {}", size(receive), size(send));
    if receive >= LARGEST_MESSAGE && send >= LARGEST_MESSAGE {
        return Finding::ok(name, found);
    }
    let cost = "a message of 2 MiB over UDP comes faster than it is taken and does not fit: loss and late messages \
                from 1 MB on (study A)";
    let mut finding = Finding::costs(name, found, cost);
    for (key, value) in [("rmem_max", receive), ("wmem_max", send)] {
        if value < LARGEST_MESSAGE {
            finding = finding.mend(format!("sysctl -w net.core.{key}={SOCKET_BUFFER}"));
        }
    }
    finding
}

/// The buffer of a socket whose owner requests none.
fn buffer_default(facts: &Network) -> Finding {
    let name = "socket-buffer-default";
    let (Some(receive), Some(send)) = (facts.rmem_default, facts.wmem_default) else {
        return Finding::unknown(name, "net.core.rmem_default or wmem_default cannot be read");
    };
    let found = format!("net.core.rmem_default {}, wmem_default {}", size(receive), size(send));
    if receive >= LARGEST_MESSAGE {
        return Finding::ok(name, found);
    }
    let cost = "a middleware that asks for no size of its own cannot hold one message of 2 MiB that comes over UDP: \
                loss (study A)";
    Finding::costs(name, found, cost).mend(format!("sysctl -w net.core.rmem_default={}", 4 * LARGEST_MESSAGE))
}

/// A datagram that lacks a fragment keeps its memory until its timeout. When memory is full, no fragmented datagram
/// arrives.
fn fragments(facts: &Network) -> Finding {
    let name = "ip-fragments";
    let (Some(memory), Some(seconds)) = (facts.ipfrag_high_thresh, facts.ipfrag_time_s) else {
        return Finding::unknown(name, "net.ipv4.ipfrag_high_thresh or ipfrag_time cannot be read");
    };
    let found = format!("net.ipv4.ipfrag_high_thresh {}, ipfrag_time {seconds} s", size(memory));
    if memory >= FRAGMENT_MEMORY && seconds <= FRAGMENT_TIME_S {
        return Finding::ok(name, found);
    }
    let whole = memory / (64 << 10);
    let cost = format!(
        "between machines, {whole} datagrams of 64 KiB, or fewer, that lose a fragment within {seconds} s keep all \
         others out: large messages over UDP stop (V2X, study B); on loopback nothing is cut into fragments"
    );
    let mut finding = Finding::costs(name, found, cost);
    if seconds > FRAGMENT_TIME_S {
        finding = finding.mend(format!("sysctl -w net.ipv4.ipfrag_time={FRAGMENT_TIME_S}"));
    }
    if memory < FRAGMENT_MEMORY {
        finding = finding.mend(format!("sysctl -w net.ipv4.ipfrag_high_thresh={FRAGMENT_MEMORY}"));
    }
    finding
}

fn loopback(facts: &Network) -> Finding {
    let name = "loopback-multicast";
    let flag = match facts.loopback_flag {
        Some(true) => "lo has the flag MULTICAST",
        Some(false) => "lo lacks the flag MULTICAST, so a middleware that looks at it does without",
        None => "the flags of lo cannot be read",
    };
    match &facts.loopback_multicast {
        Some(Ok(())) => Finding::ok(name, format!("a datagram to a group on 127.0.0.1 arrived; {flag}")),
        Some(Err(words)) => Finding::costs(
            name,
            format!("{words}; {flag}"),
            "nodes kept to this machine (ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST) may not find each other, or later: \
             start-up (study C, 2)",
        )
        .mend("ip link set lo up multicast on")
        .mend("ip route add 239.255.0.0/16 dev lo"),
        None => Finding::unknown(name, format!("not tried; {flag}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn buffers_must_be_allowed_to_hold_the_largest_message() {
        let of = |receive, send| {
            buffer_limit(&Network { rmem_max: Some(receive), wmem_max: Some(send), ..Network::default() })
        };
        assert_eq!(of(4 << 20, 4 << 20).verdict, Verdict::Ok);
        assert_eq!(of(212_992, 212_992).mend.len(), 2);
        assert_eq!(of(212_992, 4 << 20).mend, ["sysctl -w net.core.rmem_max=2147483647"]);
        assert_eq!(buffer_limit(&Network { rmem_max: Some(4 << 20), ..Network::default() }).verdict, Verdict::Unknown);
    }

    #[test]
    fn the_default_buffer_matters_where_nothing_is_asked_for() {
        let of = |receive| {
            buffer_default(&Network { rmem_default: Some(receive), wmem_default: Some(212_992), ..Network::default() })
                .verdict
        };
        assert_eq!((of(212_992), of(8 << 20)), (Verdict::Costs, Verdict::Ok));
        assert_eq!(buffer_default(&Network::default()).verdict, Verdict::Unknown);
    }

    #[test]
    fn fragments_need_memory_and_a_short_time() {
        let of = |memory, seconds| {
            fragments(&Network { ipfrag_high_thresh: Some(memory), ipfrag_time_s: Some(seconds), ..Network::default() })
        };
        assert_eq!(of(128 << 20, 3).verdict, Verdict::Ok);
        assert_eq!(of(4 << 20, 3).mend, ["sysctl -w net.ipv4.ipfrag_high_thresh=134217728"]);
        assert_eq!(of(128 << 20, 30).mend, ["sysctl -w net.ipv4.ipfrag_time=3"]);
        assert!(of(4 << 20, 30).cost.unwrap().contains("64 datagrams"));
        assert_eq!(fragments(&Network::default()).verdict, Verdict::Unknown);
    }

    #[test]
    fn multicast_on_loopback_is_ok_where_a_datagram_arrived() {
        let of = |result| {
            loopback(&Network { loopback_multicast: Some(result), loopback_flag: Some(false), ..Network::default() })
        };
        assert!(of(Ok(())).verdict == Verdict::Ok && of(Ok(())).found.contains("lacks the flag"));
        assert_eq!(of(Err("Network is unreachable".into())).verdict, Verdict::Costs);
        assert_eq!(loopback(&Network::default()).verdict, Verdict::Unknown);
    }
}
