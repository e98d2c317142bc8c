//! Configures zenoh: peers that find each other on one interface, and connect by TCP, each with each.

use std::net::Ipv4Addr;
use tacho_seam::{Error, Result, Say, SessionConfig};
use zenoh::Config;

/// Messages themselves go by TCP. The default.
pub const PEER: &str = "peer";
/// Messages are in shared memory; TCP carries their places.
pub const SHM: &str = "shm";

/// The file that rmw_zenoh_cpp reads its configuration from.
const USERS: &str = "ZENOH_SESSION_CONFIG_URI";

/// UDP port on which the peers of domain 0 look for each other; each further domain adds one.
const SCOUTING_PORT: u32 = 17_446;
/// Zenoh's default.
const SCOUTING_GROUP: &str = "224.0.0.224";

/// The user's own configuration, if there is one: then only that one counts, except for shared memory. Else ours, which
/// differs from rmw_zenoh_cpp's default in three things: there is no router, so peers look for each other by multicast;
/// a reliable publisher never gives up a peer that it waits for; and only the transport "shm" has shared memory.
pub fn config(session: &SessionConfig) -> Result<Config> {
    let users = std::env::var(USERS).unwrap_or_default();
    let mut config =
        if users.is_empty() { ours(session)? } else { Config::from_file(&users).say(|| format!("{USERS}={users}"))? };
    let shm = session.transport == SHM;
    set(&mut config, "transport/shared_memory/enabled", &shm.to_string())?;
    // Everything that is made once is made when the session opens; see shared_memory.rs.
    set(&mut config, "transport/shared_memory/mode", "\"init\"")?;
    // Otherwise zenoh itself would copy messages above some size into shared memory, whatever the publisher passed.
    set(&mut config, "transport/shared_memory/transport_optimization/enabled", "false")?;
    Ok(config)
}

fn ours(session: &SessionConfig) -> Result<Config> {
    let address = if session.address.is_empty() { "127.0.0.1" } else { session.address };
    address.parse::<Ipv4Addr>().map_err(|_| {
        Error::new(format!("address \"{address}\" is no IPv4 address; expected one of an interface of this machine"))
    })?;
    let mut config = Config::default();
    for (key, value) in [
        ("mode", "\"peer\"".into()),
        ("listen/endpoints", format!("[\"tcp/{address}:0\"]")),
        ("scouting/multicast/interface", format!("\"{address}\"")),
        ("scouting/multicast/address", format!("\"{SCOUTING_GROUP}:{}\"", SCOUTING_PORT + session.domain)),
        // Matching shows when peers are there, so open() need not wait for them.
        ("open/return_conditions/connect_scouted", "false".into()),
        ("timestamping/enabled", "true".into()),
        // A process that does not run for a while on a busy machine is not gone; the end of its connection shows its
        // end.
        ("transport/link/tx/lease", "60000".into()),
        ("transport/unicast/open_timeout", "60000".into()),
        ("transport/unicast/accept_timeout", "60000".into()),
        ("transport/unicast/accept_pending", "10000".into()),
        // Microseconds; after them a connection is closed, and its messages are lost.
        ("transport/link/tx/queue/congestion_control/block/wait_before_close", "600000000".into()),
    ] {
        set(&mut config, key, &value)?;
    }
    Ok(config)
}

fn set(config: &mut Config, key: &str, value: &str) -> Result<()> {
    config.insert_json5(key, value).say(|| format!("configuration {key}: {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_and_addresses_keep_runs_apart() {
        let of = |domain, transport, address: &str| {
            let config = config(&SessionConfig { domain, transport, address })?;
            let get = |key| config.get_json(key).unwrap();
            Ok::<_, Error>([
                get("listen/endpoints"),
                get("scouting/multicast/address"),
                get("scouting/multicast/interface"),
                get("transport/shared_memory/enabled"),
            ])
        };
        assert_eq!(
            of(7, PEER, "").unwrap(),
            ["[\"tcp/127.0.0.1:0\"]", "\"224.0.0.224:17453\"", "\"127.0.0.1\"", "false"]
        );
        assert_eq!(
            of(0, SHM, "10.0.0.1").unwrap(),
            ["[\"tcp/10.0.0.1:0\"]", "\"224.0.0.224:17446\"", "\"10.0.0.1\"", "true"]
        );
        assert!(of(0, PEER, "eth0").unwrap_err().to_string().contains("\"eth0\" is no IPv4 address"));
    }
}
