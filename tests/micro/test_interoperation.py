# SPDX-License-Identifier: Apache-2.0
"""tacho-micro as a Linux process with unmodified ROS 2 (rclpy on Fast DDS), and with itself, on the loopback."""

import pytest
from processes import Program, RosPeer, missed_until_heard

# A volatile writer owes its reader nothing that it sends before the reader has matched it, and the writer cannot see
# when that is. So if every message counts, the writer is held until both have reported a match. Its history has room
# for all messages, so a reader that does not run for a while still finds each.
HELD = ("reliable", "held", "count", 20, "depth", 64)
ENDLESS = 1_000_000  # of best effort a busy machine may lose any number

HASH_OF_STRING = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


def node(programs, domain, *arguments) -> Program:
    return Program(programs / "node", domain, "micro_node", *arguments, "interface", "127.0.0.1")


def numbers(texts: list[str]) -> list[int]:
    return [int(text.split()[0]) for text in texts]


@pytest.mark.parametrize("size", [25, 1340, 1400, 5000, 100_000])
@pytest.mark.parametrize("qos", ["best_effort", "reliable"])
def test_ros_hears_a_micro_node(programs, kilted, domain, started, qos, size):
    ros = started(RosPeer(kilted, domain))
    ros.tell(f"subscribe /chatter {qos}")
    micro = started(node(programs, domain, "pub", *(HELD if qos == "reliable" else []), "size", size))
    if qos == "reliable":
        micro.wait_for("matched 1")
        ros.wait_for('["matched", "/chatter", 1]')
        micro.tell("go")
    got = ros.records("got", 20 if qos == "reliable" else 5)
    heard = numbers([text for _, _, text, _ in got])
    assert all(len(text) == size for _, _, text, _ in got)
    if qos == "reliable":
        assert heard == list(range(1, 21))
        micro.wait_for("counters malformed 0 unsupported 0 oversized 0")  # it ends by itself: all was acknowledged
    else:
        assert heard == sorted(set(heard))


@pytest.mark.parametrize("size", [25, 1400, 5000, 100_000, 200_000])
@pytest.mark.parametrize("qos", ["best_effort", "reliable"])
def test_a_micro_node_hears_ros(programs, kilted, domain, started, qos, size):
    micro = started(node(programs, domain, "sub", *(["reliable"] if qos == "reliable" else [])))
    ros = started(RosPeer(kilted, domain))
    ros.tell(f"publish /chatter {qos} {size} {20 if qos == 'reliable' else ENDLESS} 50")
    got = [list(map(int, line.split()[1:])) for line in micro.wait_for("got", 20 if qos == "reliable" else 5)]
    heard = [number for _, number, _, _ in got]
    assert heard == sorted(set(heard)) and all(bytes_ == size for _, _, bytes_, _ in got)
    if qos == "reliable":
        assert heard == list(range(1, 21))
    stamps = [stamp for *_, stamp in got]
    assert stamps == sorted(stamps) and stamps[0] > 1_600_000_000 * 10**9  # Unix time, as ROS 2 writes it


@pytest.mark.parametrize("micro_first", [True, False])
def test_each_release_of_ros_both_ways_whoever_starts_first(programs, any_ros, domain, started, micro_first):
    arguments = ("both", *HELD)
    if micro_first:
        micro = started(node(programs, domain, *arguments))
        micro.wait_for("up")
    ros = started(RosPeer(any_ros, domain))
    ros.tell("subscribe /chatter reliable")
    ros.tell("publish /to_micro reliable 30 20 50")
    if not micro_first:
        micro = started(node(programs, domain, *arguments))
    micro.wait_for("matched 1")
    ros.wait_for('["matched", "/chatter", 1]')
    micro.tell("go")
    assert numbers([text for _, _, text, _ in ros.records("got", 20)]) == list(range(1, 21))
    assert [int(line.split()[2]) for line in micro.wait_for("got", 20)] == list(range(1, 21))


def test_the_ros_graph_shows_the_node_as_any_other(programs, any_ros, domain, started):
    started(node(programs, domain, "both", "reliable"))
    ros = started(RosPeer(any_ros, domain))
    ros.tell("subscribe /chatter reliable")
    nodes, topics, endpoints = ros.graph_until(
        lambda nodes, topics, endpoints: (
            "/micro micro_node" in nodes
            and "/to_micro" in topics
            and sum(e["node"] == "/micro micro_node" for e in endpoints) == 2
        )
    )
    assert topics["/chatter"] == topics["/to_micro"] == ["std_msgs/msg/String"]
    ours = {e["topic"]: e for e in endpoints if e["node"] == "/micro micro_node"}
    assert ours["/chatter"]["kind"] == "PUBLISHER" and ours["/to_micro"]["kind"] == "SUBSCRIPTION"
    for endpoint in ours.values():
        assert (endpoint["type"], endpoint["hash"], endpoint["reliability"], endpoint["durability"]) == (
            "std_msgs/msg/String",
            HASH_OF_STRING,
            "RELIABLE",
            "VOLATILE",
        )


def test_a_node_that_ends_leaves_the_graph_at_once(programs, kilted, domain, started):
    micro = started(node(programs, domain, "pub", "reliable"))
    ros = started(RosPeer(kilted, domain))
    ros.graph_until(lambda nodes, *_: "/micro micro_node" in nodes)
    assert micro.stop() == 0
    ros.graph_until(lambda nodes, *_: "/micro micro_node" not in nodes)


def test_late_ros_subscriber_gets_what_was_sent_before(programs, kilted, domain, started):
    micro = started(node(programs, domain, "pub", "durable", "depth", 5, "count", 12, "period", 1))
    micro.wait_for("sent 12")
    ros = started(RosPeer(kilted, domain))
    ros.tell("subscribe /chatter durable")
    assert numbers([text for _, _, text, _ in ros.records("got", 5)]) == [8, 9, 10, 11, 12]


def test_late_micro_subscriber_gets_what_ros_sent_before(programs, kilted, domain, started):
    ros = started(RosPeer(kilted, domain))
    ros.tell("subscribe /chatter durable")
    ros.tell("publish /chatter durable 25 6 50")
    ros.records("got", 6)
    micro = started(node(programs, domain, "sub", "durable"))
    assert [int(line.split()[2]) for line in micro.wait_for("got", 6)] == [1, 2, 3, 4, 5, 6]


def test_a_micro_node_hears_a_running_publisher_at_once(programs, kilted, domain, started):
    """Fast DDS announces the beginning of its history every 3 s, or when it is asked; earlier messages have been
    acknowledged, and are gone."""
    ros = started(RosPeer(kilted, domain))
    ros.tell(f"publish /chatter reliable 25 {ENDLESS} 50")
    first = started(node(programs, domain, "sub", "reliable"))
    first.wait_for("got", 20)
    late = started(node(programs, domain, "sub", "reliable"))
    late.wait_for("matched 1")
    missed = missed_until_heard(late, first)
    assert missed < 3 * 50 / 2, f"{missed} messages were sent after it had matched and before it heard one"
    sequences = [int(line.split()[1]) for line in late.wait_for("got", 50)]
    assert sequences[0] > 20 and sequences == list(range(sequences[0], sequences[0] + len(sequences)))


def test_incompatible_qos_does_not_match_and_is_counted(programs, kilted, domain, started):
    micro = started(node(programs, domain, "pub"))  # best effort
    ros = started(RosPeer(kilted, domain))
    ros.tell("subscribe /chatter reliable")
    micro.wait_for("incompatible 1")
    ros.tell("subscribe /chatter best_effort")
    micro.wait_for("matched 1")
    assert not micro.find("matched 2")


def test_events_tell_what_was_published_and_taken(programs, kilted, domain, started):
    ros = started(RosPeer(kilted, domain))
    ros.tell("events /tacho/micro_events")
    ros.tell("publish /to_micro reliable 25 5 20")
    ros.tell("subscribe /chatter reliable")
    started(node(programs, domain, "both", "reliable", "count", 5))
    _, _, endpoints = ros.graph_until(
        lambda nodes, topics, endpoints: len({e["topic"] for e in endpoints if e["kind"] == "PUBLISHER"}) == 2
    )
    gids = {e["topic"]: e["gid"][:32] for e in endpoints if e["kind"] == "PUBLISHER"}
    published, taken, count = {}, {}, 0
    while len(published) < 5 or len(taken) < 5:
        count += 1
        for _, kind, _, time_ns, sequence, guid, dropped in ros.records("event", count)[count - 1 : count]:
            assert dropped == 0
            if kind == 1 and guid == gids["/chatter"]:
                published[sequence] = time_ns
            if kind == 2 and guid == gids["/to_micro"]:
                taken[sequence] = time_ns
    for times in (published, taken):
        assert sorted(times) == [1, 2, 3, 4, 5] and [times[n] for n in sorted(times)] == sorted(times.values())


def test_micro_nodes_among_themselves(programs, domain, started):
    hearers = [started(node(programs, domain, "sub", "reliable")) for _ in range(3)]
    for hearer in hearers:
        hearer.wait_for("up")
    sender = started(node(programs, domain, "pub", "durable", "size", 3000, "count", 30, "depth", 30))
    sender.wait_for("matched 3")
    for hearer in hearers:
        heard = [int(line.split()[2]) for line in hearer.wait_for("got", 10)]
        assert heard == list(range(heard[0], heard[0] + len(heard)))
