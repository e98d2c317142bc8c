"""`tacho simulate`: runs of workloads again in virtual time, beside what was measured."""

import json
import re
import signal

import pytest
from thread_pool import thread_pool
from waiting import finished, wait_for

SPINNING = """
middleware: inproc
nodes:
  source: {spin: 10 Hz, work: 1 ms, publishes: {/a: {size: 64 B, rate: 10 Hz}}}
  filter: {spin: 15 Hz, work: 2 ms, subscribes: {/a: {depth: 1}}, publishes: {/b: {size: 64 B}}}
  act:    {spin: 20 Hz, work: 1 ms, subscribes: {/b: {depth: 1}}}
chains: {chain: [source, filter, act]}
run: {duration: 3 s, seed: 5}
"""


@pytest.fixture
def measured(tacho):
    (tacho.directory / "spinning.yaml").write_text(SPINNING)
    tacho("bench", "spinning.yaml", "-o", "measured")
    return tacho.directory / "measured"


def prediction(tacho, run):
    return json.loads((tacho.directory / run / "prediction.json").read_text())


def named(prediction, name="chain"):
    return next(chain for chain in prediction["chains"] if chain["name"] == name)


def events(run):
    return {file.name: file.read_bytes() for file in (run / "events").iterdir()}


TALK = """
middleware: ros2
topology: {kind: one-to-many, nodes: 1, size: 1 KiB, rate: $rate}
run: {duration: 2 s}
"""


@pytest.mark.timing
def test_messages_at_another_rate_take_what_runs_at_rates_around_it_show(tacho, undisturbed):
    def measured(*rates):
        (tacho.directory / "talk.yaml").write_text(f"{TALK}sweep: {{rate: [{', '.join(rates)}]}}\n")
        return undisturbed("bench", "talk.yaml")

    seldom, rates, talk = measured("20 Hz"), measured("20 Hz", "200 Hz", "1000 Hz"), measured("500 Hz")

    def simulated(costs):
        tacho("simulate", talk, "--costs", costs, "-o", f"by-{costs}")
        found = prediction(tacho, f"by-{costs}")
        (chain,) = found["chains"]
        # Medians, because one wait for a busy machine moves the mean of either run.
        return abs(chain["simulated"]["median_ms"] / chain["measured"]["median_ms"] - 1), found

    off, found = simulated(rates)
    # At 20 Hz caches are cold and CPUs asleep: such a message takes more than twice as long on an idle machine.
    off_seldom, by_seldom = simulated(seldom)
    assert off < off_seldom / 2, (off, off_seldom)
    pauses, parts = zip(*((warmth["pause_ns"], warmth["transit"]) for warmth in found["costs"]["warmth"]))
    assert pauses == pytest.approx((1e6, 5e6, 50e6), rel=0.1), "the longest pause last"
    assert list(parts) == sorted(parts) and parts[-1] == 1
    assert "doubts" not in found
    assert "warmth" not in by_seldom["costs"]
    [apart_ms] = re.findall(r"sent (\S+) ms apart", by_seldom["doubts"][0])
    # A stall in the runs at 20 Hz may return in the simulation, whose timer skips what it missed.
    [topic] = json.loads((tacho.directory / f"by-{seldom}" / "summary.json").read_text())["topics"]
    assert float(apart_ms) == pytest.approx(1000 / topic["rate_hz"], rel=0.02)


@pytest.mark.timing
def test_a_run_again_in_virtual_time_takes_as_long(tacho, measured):
    done = tacho("simulate", measured, "-o", "simulated")
    assert "Predicted beside measured" in done.stdout
    chain = named(prediction(tacho, "simulated"))
    # One seed draws the same phases and work: what is left are the waits of a busy machine. Every other output takes
    # 60 ms and every other 110 ms, so that their mean is what is compared: one output more or less moves the median.
    assert chain["simulated"]["mean_ms"] == pytest.approx(chain["measured"]["mean_ms"], rel=0.15)
    assert chain["error_percent"]["mean"] == pytest.approx(
        100 * (chain["simulated"]["mean_ms"] / chain["measured"]["mean_ms"] - 1), abs=1e-6
    )
    assert json.loads((tacho.directory / "simulated/run.json").read_text())["verb"] == "simulate"
    tacho("explain", "simulated", "--chain", "chain")
    tacho("report", "simulated", "-o", "report.html")


def test_what_if_stands_beside_what_is(tacho, measured):
    changes = ["filter.on=arrival", "act.on=arrival"]
    words = [word for change in changes for word in ("--set", change)]
    done = tacho("simulate", measured, *words, "-o", "what-if")
    assert "simulated as it is" in done.stdout
    predicted = prediction(tacho, "what-if")
    chain = named(predicted)
    assert predicted["set"] == changes
    # The computation is left; both nodes waited for their next wake before.
    assert chain["simulated"]["mean_ms"] < 0.5 * chain["as_is"]["mean_ms"]
    assert chain["simulated"]["mean_ms"] >= 4
    assert (tacho.directory / "what-if/as-is/summary.json").is_file()


def test_a_seed_gives_the_same_events_again_and_the_prediction_holds_its_costs(tacho, measured):
    tacho("simulate", measured, "-o", "one")
    tacho("simulate", measured, "--costs", "one/prediction.json", "-o", "two")
    tacho("simulate", measured, "--seed", "6", "-o", "three")
    one, two, three = (events(tacho.directory / run) for run in ("one", "two", "three"))
    assert one == two
    assert one != three


def test_a_sweep_of_a_workload_without_costs(tacho, workloads):
    done = tacho("simulate", workloads / "inproc.yaml", "--set", "filter.work=[1 ms, 3 ms]", "-o", "sweep")
    assert "--costs RUN" in done.stderr
    summary = json.loads((tacho.directory / "sweep/summary.json").read_text())
    latencies = {point["parameters"]["work"]: point["latency_us"]["mean"] for point in summary["points"]}
    assert latencies.keys() == {"1 ms", "3 ms"}


def test_of_an_executor_whose_threads_are_all_busy_no_single_one_is_blamed(tacho):
    """The messages need 4.75 threads and the timer 0.6, and there are 4."""
    (tacho.directory / "w.yaml").write_text(thread_pool("reentrant", sleep="95 ms"))
    tacho("simulate", "w.yaml", "-o", "run")
    explained = tacho.json("explain", "run")
    first, *others = explained["verdict"]["culprits"]
    assert "All threads of the executor of /node were busy" in first["text"], first
    assert first["next"].startswith("Give the executor of /node another thread"), first
    assert not [other for other in others if "thread runs waits" in other["text"] or "for one thread" in other["text"]]
    [late] = [finding for finding in explained["findings"] if finding["lint"] == "late-timer"]
    assert [case["next"] for case in late["cases"]] == ["more threads than 4; or less work in /node /points"]


OVERLOADED = """
middleware: inproc
nodes:
  camera: {publishes: {/image: {rate: 100 Hz, depth: 40}}}
  detector: {sleep: 30 ms, subscribes: {/image: {depth: 40}}, publishes: {/objects: {}}}
  planner: {subscribes: {/objects: {}}}
chains: {chain: [camera, detector, planner]}
run: {duration: 3 s}
"""


@pytest.mark.timing
def test_simulated_nodes_take_what_still_lies_in_their_queues_at_the_end_as_real_ones_do(tacho):
    (tacho.directory / "overloaded.yaml").write_text(OVERLOADED)
    tacho("bench", "overloaded.yaml", "-o", "real")
    tacho("simulate", "overloaded.yaml", "--costs", "real", "-o", "simulated")

    def lost(run):
        chain = named(json.loads((tacho.directory / run / "summary.json").read_text()))
        return {(cause["node"], cause["kind"]): cause["inputs"] for cause in chain["lost_inputs"]}

    real = lost("real")
    # The detector has 40 images left when sources stop, which take it 1.2 s. The planner waits 0.2 s for the first of their objects.
    assert set(real) == {("/detector", "overwritten"), ("/planner", "pending")}
    assert 25 <= real["/planner", "pending"] <= 40
    assert lost("simulated") == pytest.approx(real, abs=6)


@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (["--set", "filter.spn=2 Hz"], 2, "spn"),
        (["--set", "/nowhere.depth=1"], 2, "/nowhere"),
        (["--set", "filter"], 2, "--set filter"),
        (["--cpus", "1", "--set", "run.cpus.filter=[3]"], 3, "CPU 3"),
        (["--costs", "nothing"], 2, "nothing"),
    ],
)
def test_what_cannot_be_simulated_is_an_error_that_names_it(tacho, words, exit_code, said):
    (tacho.directory / "spinning.yaml").write_text(SPINNING)
    done = tacho("simulate", "spinning.yaml", *words, "-o", "wrong", expect=exit_code)
    assert said in done.stderr


def test_a_simulation_that_is_interrupted_leaves_a_run(tacho):
    (tacho.directory / "long.yaml").write_text(SPINNING.replace("3 s", "9000 min").replace("20 Hz", "1000 Hz"))
    process = tacho.start("simulate", "long.yaml", "--no-scheduler", "-o", "long")
    wait_for(lambda: list((tacho.directory / "long/events").glob("*")), "events of the simulation")
    process.send_signal(signal.SIGINT)
    _, err = finished(process)
    assert process.returncode == 128 + signal.SIGINT, err
    info = json.loads((tacho.directory / "long/run.json").read_text())
    assert info["cut_short"]
    assert (tacho.directory / "long/summary.json").is_file()
