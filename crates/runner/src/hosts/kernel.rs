//! Links made by the kernel: a bridge, pairs of veth, and queueing disciplines at both ends of each.

use super::namespace::{Namespace, INTERFACE, QUEUE_PACKETS};
use super::switch::tap;
use anyhow::{Context, Result};
use std::os::fd::OwnedFd;
use tacho_workload::model::Link;

/// Most bytes that wait for a link that has only a rate.
const QUEUE_BYTES: u64 = 4 << 20;

/// Whether the kernel can delay and lose packets, tried in a namespace that has no traffic.
pub fn has_netem(namespace: &Namespace) -> bool {
    let lines = ["qdisc add dev lo root netem delay 1ms".to_owned(), "qdisc del dev lo root".to_owned()];
    namespace.batch("tc", &lines).is_ok()
}

/// Joins hosts by a bridge. `netem` says whether delay and loss are possible.
pub fn join(bridge: &Namespace, hosts: &[&Namespace], links: &[Link], netem: bool) -> Result<()> {
    // Snooping would hold back multicast until some host requests it by IGMP, for which discovery does not wait.
    let mut lines = vec![
        "link add name bridge0 type bridge mcast_snooping 0".into(),
        "link set bridge0 addrgenmode none up".into(),
    ];
    for (index, host) in hosts.iter().enumerate() {
        lines.push(format!("link add name port{index} type veth peer name {INTERFACE} netns {}", host.path()));
        lines.push(format!("link set port{index} addrgenmode none master bridge0 up"));
    }
    bridge.batch("ip", &lines)?;
    for (index, (host, link)) in hosts.iter().zip(links).enumerate() {
        let Some(discipline) = discipline(link, netem) else { continue };
        // One segment in each packet: otherwise one loss would drop what a wire carries in forty packets.
        host.batch("ip", &[format!("link set {INTERFACE} gso_max_segs 1")])?;
        host.batch("tc", &[format!("qdisc add dev {INTERFACE} root {discipline}")])?;
        bridge.batch("tc", &[format!("qdisc add dev port{index} root {discipline}")])?;
    }
    Ok(())
}

/// Gives each board a tap device on the bridge.
pub fn join_boards(bridge: &Namespace, boards: &[Link]) -> Result<Vec<OwnedFd>> {
    let mut wires = Vec::new();
    for (index, link) in boards.iter().enumerate() {
        let name = format!("board{index}");
        wires.push(bridge.within(|| tap(&name)).context("/dev/net/tun")?.into());
        bridge.batch("ip", &[format!("link set {name} addrgenmode none master bridge0 up")])?;
        if let Some(discipline) = discipline(link, false) {
            bridge.batch("tc", &[format!("qdisc add dev {name} root {discipline}")])?;
        }
    }
    Ok(wires)
}

/// The arguments of tc(8) that shape one end of a link; `None` if nothing is requested.
fn discipline(link: &Link, netem: bool) -> Option<String> {
    if !netem || (link.delay.is_none() && link.loss_percent.is_none()) {
        // The bucket holds what may be sent at once: 100 us of the rate, at least one packet.
        let rate = link.rate_bit_per_s?;
        let bucket = (rate / 8 / 10_000).max(2048);
        return Some(format!("tbf rate {rate}bit burst {bucket} limit {QUEUE_BYTES}"));
    }
    let mut words = format!("netem limit {QUEUE_PACKETS}");
    if let Some(delay) = link.delay {
        words += &format!(" delay {}us", delay.as_nanos() as f64 / 1e3);
    }
    if let Some(loss) = link.loss_percent {
        words += &format!(" loss {loss}%");
    }
    if let Some(rate) = link.rate_bit_per_s {
        words += &format!(" rate {rate}bit");
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn links_in_the_words_of_tc() {
        let rate = Link { rate_bit_per_s: Some(50_000_000), ..Link::default() };
        let all = Link { delay: Some(Duration::from_micros(2500)), loss_percent: Some(0.5), ..rate };
        assert_eq!(discipline(&Link::default(), true), None);
        assert_eq!(discipline(&rate, true).unwrap(), "tbf rate 50000000bit burst 2048 limit 4194304");
        assert_eq!(discipline(&all, true).unwrap(), "netem limit 10000 delay 2500us loss 0.5% rate 50000000bit");
        assert_eq!(discipline(&all, false), discipline(&rate, true));
        assert_eq!(discipline(&Link { rate_bit_per_s: None, ..all }, false), None);
    }
}
