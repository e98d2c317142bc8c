"""The figures of a point on real runs, compared with answers that are known beforehand, or measured in another way."""

import csv
import json
import subprocess

import numpy
import pyarrow.parquet as parquet
import pytest
from places import ROOT

pytestmark = pytest.mark.timing

MS = 1_000_000


def bench(tacho, workload, name="run"):
    """Runs a workload and returns its only point and its directory."""
    (tacho.directory / f"{name}.yaml").write_text(workload)
    summary = tacho.json("bench", f"{name}.yaml", "-o", name)
    (point,) = summary["points"]
    return point, tacho.directory / name


def rows(run, table):
    return parquet.read_table(run / "tables" / f"{table}.parquet").to_pylist()


def clock(run, name):
    with open(run / "clock" / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def window(run):
    info = json.loads((run / "run.json").read_text())
    return info["measured_from_ns"], info["measured_to_ns"]


@pytest.fixture
def disturbed(tacho):
    """A plugin that disturbs messages by known amounts, over the socket plugin; see plugins/disturbed.c."""
    build = tacho.program.parent
    home = tacho.directory / "home"
    (home / "lib").mkdir(parents=True)
    (home / "tacho-node").symlink_to(build / "tacho-node")
    for library in (build / "lib").glob("*.so"):
        (home / "lib" / library.name).symlink_to(library)
    source = ROOT / "tests" / "plugins" / "disturbed.c"
    plugin = home / "lib" / "libtacho_disturbed.so"
    include = ROOT / "native" / "include"
    flags = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-I", include, "-o", plugin, source, "-ldl"], check=True)
    tacho.environment["TACHO_HOME"] = str(home)
    tacho.environment["TACHO_DISTURBED_PLUGIN"] = str(build / "lib" / "libtacho_socket.so")
    return tacho


# What was due.


def test_a_publisher_that_falls_behind_shows_exactly_the_sends_it_skipped(tacho):
    point, run = bench(
        tacho,
        """
middleware: inproc
nodes:
  camera: {work: 15 ms, publishes: {/image: {size: 64 B, rate: 100 Hz}}}
  listener: {subscribes: [/image]}
run: {duration: 2 s, in_node_clock: true}
""",
    )
    begin, end = window(run)
    period = 10 * MS
    # All due times lie on one grid; the clock inside the node shows when each send began, for the latest one that was
    # due by then.
    due = [p["due_ns"] for p in rows(run, "publications")]
    grid = due[0] % period
    assert all(abs(d % period - grid) <= 1 for d in due)
    starts = [int(c["start_ns"]) for c in clock(run, "camera") if c["kind"] == "timer"]
    sends = [(start - grid) // period * period + grid for start in starts]
    assert len(set(sends)) == len(sends)
    sent = sum(begin <= d < end for d in sends)
    # 2 s at 100 Hz are 200, whatever the phase; 15 ms of work leave time for at most 133 or 134.
    assert (point["due"], point["sent"], point["skipped"]) == (200, sent, 200 - sent)
    assert 60 < point["skipped"] and sent <= 134
    # The computation takes longer than the period.
    assert point["sent_late"] == point["sent"]
    assert point["send_lateness_us"]["min"] >= 15_000
    (camera,) = point["publishing"]
    assert (camera["due"], camera["sent"], camera["skipped"]) == (200, sent, 200 - sent)


def test_a_publisher_that_keeps_up_skips_nothing(tacho):
    point, _ = bench(
        tacho,
        """
middleware: inproc
nodes:
  camera: {publishes: {/image: {size: 64 B, rate: 2 Hz}}}
  listener: {subscribes: [/image]}
run: {duration: 3 s}
""",
    )
    # Other programs may keep it from running for a while, but not for a period.
    assert (point["due"], point["sent"], point["skipped"], point["sent_late"]) == (6, 6, 0, 0)
    assert point["send_lateness_us"]["min"] >= 0
    assert (point["rate_hz"], point["size_bytes"], point["repeats"]) == (2, 64, 1)


def test_repeats_add_up(tacho):
    point, run = bench(
        tacho,
        """
middleware: inproc
nodes:
  camera: {publishes: {/image: {size: 64 B, rate: 50 Hz}}}
  left: {subscribes: [/image]}
  right: {subscribes: [/image]}
run: {duration: 2 s, repeats: 2}
""",
    )
    each = [json.loads((run / "repeats" / n / "summary.json").read_text())["points"][0] for n in ("0", "1")]
    assert point["repeats"] == 2 and point["due"] == 200
    for name in ("due", "sent", "skipped", "sent_late", "received", "lost", "in_time", "late"):
        assert point[name] == sum(of[name] for of in each), name
    assert point["latency_us"]["count"] == sum(of["latency_us"]["count"] for of in each)
    assert point["fairness"]["messages"] == sum(of["fairness"]["messages"] for of in each)
    assert point["drift"]["stretches"] == sum(of["drift"]["stretches"] for of in each)
    assert 10 <= point["drift"]["stretches"] <= point["sent"] // 5
    assert (point["publishers"], point["subscribers"], len(point["subscribing"])) == (1, 2, 2)


# In time, late, lost.


def test_a_relay_that_drops_every_hundredth_message_shows_one_percent_loss(disturbed):
    disturbed.environment["TACHO_DROP_EVERY_relay"] = "100"
    point, run = bench(
        disturbed,
        """
middleware: disturbed
transport: tcp
nodes:
  camera: {publishes: {/image: {size: 64 B, rate: 200 Hz}}}
  relay: {subscribes: {/image: {depth: 1000}}, publishes: {/again: {size: 64 B}}}
  listener: {subscribes: {/again: {depth: 1000}}}
run: {duration: 3 s}
""",
    )
    lost = [m["sequence"] for m in rows(run, "messages") if m["delivery"] == "lost"]
    sent = [p["sequence"] for p in rows(run, "publications") if p["due_ns"] is not None]
    assert len(sent) == 600 - point["skipped"]
    assert lost == [s for s in sent if s % 100 == 99]
    at_relay, at_listener = sorted(point["subscribing"], key=lambda s: s["topic"], reverse=True)
    assert (at_relay["lost"], at_relay["received"]) == (len(lost), len(sent) - len(lost))
    assert abs(at_relay["lost"] - len(sent) / 100) < 1
    # The relay may have sent within the window what it took just before the window began.
    begin, end = window(run)
    sent_on = [p for p in rows(run, "publications") if p["due_ns"] is None and begin <= p["publish_ns"] < end]
    assert len(sent_on) > 0.9 * len(sent)
    assert (at_listener["lost"], at_listener["received"]) == (0, len(sent_on))
    assert point["lost"] == len(lost)
    assert point["loss_percent"] == pytest.approx(100 * len(lost) / (len(sent) + len(sent_on)))


def test_messages_that_a_full_queue_overwrites_are_lost_and_no_others(tacho):
    """Study B, 7: a publishing rate that does not match the processing time."""
    point, run = bench(
        tacho,
        """
middleware: inproc
nodes:
  camera: {publishes: {/image: {size: 64 B, rate: 100 Hz}}}
  detector: {work: 25 ms, subscribes: {/image: {depth: 1}}}
run: {duration: 2 s, in_node_clock: true}
""",
    )
    sent = {p["sequence"] for p in rows(run, "publications")}
    taken = {int(m["sequence"]) for m in clock(run, "detector.messages")}
    lost = {m["sequence"] for m in rows(run, "messages") if m["delivery"] == "lost"}
    assert lost == sent - taken
    assert (point["lost"], point["received"]) == (len(lost), len(sent & taken))
    # 25 ms of work leave time for 80 in 2 s, and for one that was begun before.
    assert point["received"] <= 82 and point["lost"] >= len(sent) - 82
    assert point["due"] == 200


@pytest.mark.parametrize(("deadline", "in_time"), [("1 us", False), ("10 s", True)])
def test_every_message_is_late_or_in_time_where_the_deadline_leaves_no_doubt(tacho, deadline, in_time):
    point, _ = bench(
        tacho,
        f"""
middleware: socket
transport: tcp
nodes:
  camera: {{publishes: {{/image: {{size: 64 B, rate: 50 Hz, deadline: {deadline}}}}}}}
  listener: {{subscribes: [/image]}}
run: {{duration: 1 s}}
""",
    )
    assert point["received"] > 0
    assert (point["in_time"], point["late"]) == ((point["received"], 0) if in_time else (0, point["received"]))
    (listener,) = point["subscribing"]
    assert (listener["in_time"], listener["late"]) == (point["in_time"], point["late"])
    assert point["in_time"] + point["late"] + point["lost"] == point["sent"]


# Fairness.

SEVEN = """
middleware: disturbed
transport: tcp
nodes:
  camera: {publishes: {/image: {size: 64 B, rate: 20 Hz}}}
""" + "".join(f"  listener_{i}: {{process: listeners, subscribes: [/image]}}\n" for i in range(7))


def test_subscribers_that_are_each_later_than_the_one_before_are_a_staircase(disturbed):
    for i in range(7):
        disturbed.environment[f"TACHO_DELAY_US_listener_{i}"] = str(4000 * i)
    point, run = bench(disturbed, SEVEN + "run: {duration: 2 s}\n")
    fairness = point["fairness"]
    assert (fairness["topic"], fairness["subscriptions"]) == ("/image", 7)
    assert [s["node"] for s in point["subscribing"]] == [f"/listener_{i}" for i in range(7)]
    assert fairness["staircase"] == 1
    assert fairness["staircase_p"] == pytest.approx(2 / 5040)
    # The same by hand: the mean latency of each over the messages that all of them took.
    latencies = {}
    for m in rows(run, "messages"):
        if m["callback_ns"] is not None:
            latencies.setdefault(m["sequence"], {})[m["subscription"]] = (m["callback_ns"] - m["publish_ns"]) / 1000
    common = [of for of in latencies.values() if len(of) == 7]
    assert fairness["messages"] == len(common) > 20
    means = [numpy.mean([of[s] for of in common]) for s in common[0]]
    assert fairness["spread_us"] == pytest.approx(max(means) - min(means))
    # The delay of each is at least 4 ms times its place.
    assert max(means) >= 24_000


def test_a_subscriber_that_is_delayed_on_purpose_shows_as_unfair(disturbed):
    disturbed.environment["TACHO_DELAY_US_listener_3"] = "20000"
    point, _ = bench(disturbed, SEVEN + "run: {duration: 2 s}\n")
    means = {s["node"]: s["latency_us"]["mean"] for s in point["subscribing"]}
    others = [mean for node, mean in means.items() if node != "/listener_3"]
    assert means["/listener_3"] >= 20_000
    assert point["fairness"]["spread_us"] > 2 * (max(others) - min(others))
    assert point["fairness"]["staircase"] < 1


# Resources and start-up.

THREE = """
middleware: socket
transport: tcp
nodes:
  camera: {publishes: {/image: {size: 64 B, rate: 50 Hz}}}
  left: {work: 5 ms, subscribes: [/image]}
  right: {subscribes: [/image]}
run: {duration: 2 s, start: START}
"""


def test_what_the_nodes_used_is_the_sum_of_their_processes(tacho):
    point, run = bench(tacho, THREE.replace("START", "together"))
    used = [p["resources"] for p in json.loads((run / "run.json").read_text())["processes"]]
    assert len(used) == 3
    assert point["cpu_percent"] == pytest.approx(sum(100 * u["cpu_ns"] / u["over_ns"] for u in used))
    assert point["wakeups_per_s"] == pytest.approx(sum(1e9 * u["voluntary_switches"] / u["over_ns"] for u in used))
    assert point["preemptions_per_s"] == pytest.approx(
        sum(1e9 * u["involuntary_switches"] / u["over_ns"] for u in used)
    )
    assert point["pss_bytes"] == sum(u["pss_bytes"] for u in used)
    assert point["rss_bytes"] == max(u["rss_bytes"] for u in used)
    # 5 ms of CPU time for each message; the readings may be a tenth of a second, five messages, away from the window on either side.
    (heard,) = (s["received"] for s in point["subscribing"] if s["node"] == "/left")
    (left,) = (p["resources"] for p in json.loads((run / "run.json").read_text())["processes"] if p["name"] == "left")
    assert heard > 12 and left["cpu_ns"] >= (heard - 12) * 5 * MS
    assert "startup_ms" not in point


def test_start_up_is_from_main_to_the_first_message_of_each_that_got_one(tacho):
    point, run = bench(tacho, THREE.replace("START", "at_once"))
    starts = [p["startup"] for p in json.loads((run / "run.json").read_text())["processes"]]
    took = [(s["first_message_ns"] - s["main_ns"]) / MS for s in starts if "first_message_ns" in s]
    startup = point["startup_ms"]
    assert (startup["count"], startup["min"], startup["max"]) == (2, pytest.approx(min(took)), pytest.approx(max(took)))
    assert min(took) > 0


# Latency, measured in other ways.


def test_the_latency_of_a_point_is_that_of_its_table_and_of_the_clock_inside_the_nodes(tacho):
    point, run = bench(
        tacho,
        """
middleware: socket
transport: tcp
nodes:
  camera: {publishes: {/image: {size: 4 KiB, rate: 100 Hz}}}
  listener: {subscribes: [/image]}
run: {duration: 2 s, in_node_clock: true}
""",
    )
    ours = point["latency_us"]
    table = parquet.read_table(run / "tables" / "messages.parquet").to_pylist()
    latencies = [(m["callback_ns"] - m["publish_ns"]) / 1000 for m in table if m["callback_ns"] is not None]
    assert ours["count"] == len(latencies) == point["received"]
    for name, value in {
        "min": numpy.min(latencies),
        "q1": numpy.quantile(latencies, 0.25),
        "median": numpy.median(latencies),
        "q3": numpy.quantile(latencies, 0.75),
        "p99": numpy.quantile(latencies, 0.99),
        "max": numpy.max(latencies),
        "mean": numpy.mean(latencies),
        "std": numpy.std(latencies, ddof=1),
    }.items():
        assert ours[name] == pytest.approx(value), name
    measured = {m["sequence"] for m in table}
    inside = [
        (int(m["received_ns"]) - int(m["stamp_ns"])) / 1000
        for m in clock(run, "listener.messages")
        if int(m["sequence"]) in measured
    ]
    # The stamp is taken just before our publish event, the receipt just after our callback event.
    assert len(inside) == len(latencies)
    assert numpy.median(inside) == pytest.approx(ours["median"], rel=0.25)


def test_what_explain_prints_of_a_run_holds_its_figures(tacho):
    point, run = bench(
        tacho,
        """
middleware: inproc
nodes:
  camera: {publishes: {/image: {size: 64 B, rate: 50 Hz}}}
  left: {subscribes: [/image]}
  right: {subscribes: [/image]}
run: {duration: 2 s}
""",
    )
    text = tacho("explain", run).stdout
    assert "Communication: inproc, 64 B, 50 Hz" in text
    assert f"{point['latency_us']['median']:.1f}" in text
    assert "Fairness" in text and "Drift" in text
    # Five publications each; on a busy machine some are skipped.
    assert 10 <= point["drift"]["stretches"] <= point["sent"] // 5
    assert (
        point["drift"]["slope_low_us_per_s"]
        <= point["drift"]["slope_us_per_s"]
        <= point["drift"]["slope_high_us_per_s"]
    )
