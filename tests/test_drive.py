"""A car drives around the track on real ROS 2, in real time, and the run says whether it kept its lane."""

import json
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
from driving import offset
from places import ROOT
from signals import Signals
from waiting import finished, wait_for_window

# Control that steers to a near point, and nodes that spin at 10 Hz: their commands come so late that the car swings.
NEAR = ["--speed=13m/s", "--set=control.work.lookahead_time=0.4 s"]
SPINNING = [f"--set={node}.spin=10 Hz" for node in ("odometry", "route", "planner", "control", "drive_by_wire")]


def quality(run: Path) -> dict[tuple[str, str], float]:
    """Figures by node and name."""
    summary = json.loads((run / "summary.json").read_text())
    return {(of["node"], of["name"]): of["values"][0] for of in summary["quality"]}


@pytest.mark.timing
def test_the_car_keeps_its_lane_through_the_first_corner(tacho, workloads):
    done = tacho("drive", workloads / "drive.yaml", "--speed", "10m/s", "--instances", "200", "-o", "run")
    assert "Lane kept for" in done.stdout and "Success: 1 of 1 drives of 200 instances each." in done.stdout
    figures = quality(tacho.directory / "run")
    assert figures["car", "lane_kept"] == 1 and figures["car", "driven_m"] > 130
    assert 9.5 < figures["car", "speed_max_m_per_s"] < 10.5
    assert 0 < figures["car", "lateral_error_max_m"] < 0.95
    assert figures["planner", "plans"] >= 150 and figures["lidar", "points_mean"] > 50_000
    assert figures["detection", "clouds"] >= 150 and figures["detection", "objects"] == 0
    chains = {
        chain["name"]: chain for chain in json.loads((tacho.directory / "run/summary.json").read_text())["chains"]
    }
    assert chains["control"]["path"][0] == "/odometry" and chains["control"]["path"][-1] == "/car"
    assert chains["control"]["instances"] >= 150

    assert_signals_agree(tacho.directory / "run", figures)

    # In virtual time, with the costs of this drive and the same phases, it drives the same way.
    options = ["--speed", "10m/s", "--instances", "200", "--virtual"]
    tacho("drive", workloads / "drive.yaml", *options, "--costs", "run", "-o", "virtual")
    virtual = quality(tacho.directory / "virtual")
    assert virtual.keys() == figures.keys()
    for name, apart in [("driven_m", 0.02), ("speed_max_m_per_s", 0.02), ("lateral_error_max_m", 0.2)]:
        assert virtual["car", name] == pytest.approx(figures["car", name], rel=apart), name
    assert virtual["lidar", "points_mean"] == pytest.approx(figures["lidar", "points_mean"], rel=0.01)
    assert_signals_agree(tacho.directory / "virtual", virtual)
    assert len(published_ns(tacho.directory / "virtual", "/vehicle_state")) > 1900
    real_signals, virtual_signals = Signals(tacho.directory / "run"), Signals(tacho.directory / "virtual")
    assert sorted(real_signals.names) == sorted(virtual_signals.names)


def published_ns(run: Path, topic: str) -> np.ndarray:
    """When the messages of a topic were published that one of its subscriptions is judged by."""
    endpoints, messages = (
        parquet.read_table(run / f"tables/{name}.parquet").to_pylist() for name in ("endpoints", "messages")
    )
    subscription = next(row for row, of in enumerate(endpoints) if (of["kind"], of["topic"]) == ("subscription", topic))
    return np.sort([message["publish_ns"] for message in messages if message["subscription"] == subscription])


def assert_signals_agree(run: Path, figures: dict[tuple[str, str], float]):
    """What the tasks reported over time is what they report of the whole drive, and lies on the track."""
    signals = Signals(run)
    of_car = {name: signals.values("car", name) for name in ("x", "y", "heading", "speed", "lateral_error")}
    at_s = signals.at_s("car", "x")
    for name in of_car:
        assert np.array_equal(signals.at_s("car", name), at_s), f"{name} and x are of the same instants"
    published_s = published_ns(run, "/vehicle_state") / 1e9
    reported_s = signals.column("car", "x", "reported_ns") / 1e9
    is_published = (published_s[0] - 1e-3 < reported_s) & (reported_s <= published_s[-1])
    assert np.all(np.diff(at_s) > 0) and is_published.sum() == len(published_s), "each published state is a signal"
    # The figures are of each step of 1 ms, the signals of each published state.
    assert abs(of_car["lateral_error"]).max() == pytest.approx(figures["car", "lateral_error_max_m"], abs=0.005)
    assert of_car["lateral_error"] == pytest.approx(offset(of_car["x"], of_car["y"]), abs=1e-6)
    assert of_car["speed"].max() == pytest.approx(figures["car", "speed_max_m_per_s"], abs=0.05)
    way = np.hypot(np.diff(of_car["x"]), np.diff(of_car["y"])).sum()
    assert way == pytest.approx(figures["car", "driven_m"], rel=0.01)
    assert way == pytest.approx(np.trapezoid(of_car["speed"], at_s), rel=0.002)
    age = signals.values("car", "command_age")
    assert age.max() == pytest.approx(figures["car", "command_age_max_ms"])
    assert age.mean() == pytest.approx(figures["car", "command_age_mean_ms"])
    # The lane is where an independent formula has it, and each plan begins and ends near it.
    lane = signals.values("world", "lane_x"), signals.values("world", "lane_y")
    assert len(lane[0]) > 100 and offset(*lane) == pytest.approx(0, abs=1e-6)
    assert signals.values("world", "lane_width").tolist() == [3.5]
    plans = signals.values("planner", "trajectory_x"), signals.values("planner", "trajectory_y")
    assert len(signals.values("planner", "trajectory_time")) == figures["planner", "plans"]
    assert signals.column("planner", "trajectory_x", "entry").max() == 8 and abs(offset(*plans)).max() < 0.2
    assert signals.values("planner", "stops").sum() == figures["planner", "plans_with_stop"]
    assert signals.values("detection", "objects").sum() == figures["detection", "objects"]
    assert len(signals.values("control", "steering_command")) >= 150
    assert all(execution is not None for execution in signals.execution), "each is of a callback"
    assert signals.units["car", "heading"] == "rad" and signals.tasks["car", "heading"] == "vehicle"


def test_drives_in_virtual_time_are_the_same_to_the_byte(tacho, workloads):
    for run in ("one", "two"):
        tacho("drive", workloads / "drive.yaml", "--virtual", "--duration", "5s", "-o", run)
    of_drives = [
        {file.name: file.read_bytes() for file in (tacho.directory / run / "events").iterdir()}
        for run in ("one", "two")
    ]
    assert of_drives[0] == of_drives[1] and sum(map(len, of_drives[0].values())) > 100_000


def test_nodes_that_spin_slowly_lose_the_lane_that_the_same_nodes_keep_on_arrival(tacho, workloads):
    """Study E, figures 16 and 17, in virtual time and without costs: what matters is how long nodes sleep."""
    text = (workloads / "study-e-drive.yaml").read_text()
    speeds = "speed: [5 m/s, 9 m/s, 11 m/s, 13 m/s, 15 m/s]"
    assert speeds in text
    (tacho.directory / "w.yaml").write_text(text.replace(speeds, "speed: [3 m/s, 15 m/s]"))
    done = tacho("drive", "w.yaml", "--short", "--repeats", "6", "--virtual", "-o", "run", expect=1)
    assert "Success, with its 95 % interval" in done.stdout
    points = json.loads((tacho.directory / "run/summary.json").read_text())["points"]
    good = {(p["parameters"]["speed"], p["parameters"]["variant"]): p["drives"]["good"] for p in points}
    assert good["3 m/s", "as found"] == good["3 m/s", "arrival"] == good["15 m/s", "arrival"] == 6
    assert good["15 m/s", "as found"] <= 3
    # Drives of a sweep keep their figures, and no events.
    assert not list((tacho.directory / "run").glob("points/*/repeats/*/events/*"))


@pytest.mark.parametrize("middleware", ["inproc", "cyclonedds", "zenoh", "{socket: tcp}", "rclpy"])
def test_the_same_file_drives_on_every_middleware(tacho, workloads, middleware):
    name = middleware.strip("{").split(":")[0]
    if not (ROOT / "build" / {"rclpy": "nodes/rclpy/node"}.get(name, f"lib/libtacho_{name}.so")).exists():
        pytest.skip(f"{middleware} is not built here")
    arguments = ["--duration", "6s", "--set", f"middleware={middleware}"]
    tacho("drive", workloads / "drive.yaml", *arguments, "-o", "run")
    figures = quality(tacho.directory / "run")
    # Its tasks report what they report of the same drive in virtual time, for which it shows what each computes.
    drive = ["drive", workloads / "drive.yaml", *arguments, "--virtual", "--costs", "run", "-o", "virtual"]
    assert "no run shows what its task computes" not in tacho(*drive).stdout
    virtual = quality(tacho.directory / "virtual")
    assert figures.keys() == virtual.keys()
    assert figures["car", "driven_m"] == pytest.approx(virtual["car", "driven_m"], rel=0.1)
    assert figures["lidar", "points_mean"] == pytest.approx(virtual["lidar", "points_mean"], rel=0.01)
    assert figures["car", "lane_kept"] == 1 and figures["car", "driven_m"] > 10
    assert figures["detection", "clouds"] > 40 and figures["lidar", "points_mean"] > 50_000


def assert_swung(figures: dict[tuple[str, str], float], least_m: float):
    """It drove so far, and left its lane by commands that were old."""
    assert figures["car", "lane_kept"] == 0 and figures["car", "driven_m"] > least_m
    # It began at the start of the lane, and its way off the lane is none along the lane.
    assert figures["car", "driven_m"] == pytest.approx(figures["car", "left_lane_at_m"], abs=1e-3)
    assert figures["car", "command_age_mean_ms"] > 300


def test_a_stack_that_is_too_slow_leaves_the_lane_that_a_fast_one_keeps(tacho, workloads):
    drive = ["drive", workloads / "drive.yaml", *NEAR, "--duration", "14s"]
    # Whatever the phases: without costs, the nodes differ only in how long they sleep.
    fast = tacho(*drive, "--virtual", "--repeats", "6", "-o", "fast")
    assert "Success: 6 of 6 drives" in fast.stdout
    slow = tacho(*drive, *SPINNING, "--virtual", "--repeats", "6", "-o", "slow", expect=1)
    assert "Success: 0 of 6 drives" in slow.stdout
    figures = quality(tacho.directory / "slow")
    assert_swung(figures, 20)
    assert figures["car", "left_lane_at_speed_m_per_s"] > 5
    assert figures["car", "stops_without_command"] == figures["drive_by_wire", "stops_without_command"] == 0
    # On ROS 2, with the phases of the first of them. On a busy machine it leaves its lane sooner.
    done = tacho(*drive, *SPINNING, "-o", "run", expect=1)
    figures = quality(tacho.directory / "run")
    assert_swung(figures, 1)
    where = figures["car", "left_lane_at_m"]
    assert f"Lane left at {where:.1f} m along the track" in done.stdout and "Success: 0 of 1" in done.stdout


def test_the_car_stops_before_an_obstacle(tacho, workloads):
    world = ["--set", "world.work.obstacles=1", "--set", "world.work.obstacle_at=40 m"]
    done = tacho("drive", workloads / "drive.yaml", *world, "--duration", "16s", "-o", "run")
    figures = quality(tacho.directory / "run")
    assert figures["detection", "objects"] > 50, "it is seen from afar, in the points of the LiDAR"
    assert figures["car", "collided"] == 0 and figures["car", "stop_margin_m"] == pytest.approx(3, abs=1)
    signals = Signals(tacho.directory / "run")
    places = [signals.values("world", f"obstacle_{axis}").tolist() for axis in "xy"]
    assert places == [[40.0], [0.0]], "on the first straight; it is reported once, because it stays"
    seen = [signals.values("detection", f"object_{axis}") for axis in "xy"]
    assert len(seen[0]) == figures["detection", "objects"]
    assert np.median(np.hypot(seen[0] - 40, seen[1])) < 0.3, "detection finds it where it is"
    # Where the car stands at the end: half its length and the obstacle's radius from the obstacle, and the margin.
    rest = 40 - signals.values("car", "x")[-1] - 4.508 / 2 - 0.4
    assert rest == pytest.approx(figures["car", "stop_margin_m"], abs=0.02)
    assert f"It stood {figures['car', 'stop_margin_m']:.2f} m before an obstacle." in done.stdout


def sudden(tacho, workloads, *options: str, expect=0) -> tuple[dict, Signals, dict[tuple[str, str], float]]:
    """The reaction of a virtual drive to an obstacle that comes into its way."""
    workload = workloads / "drive-sudden-obstacle.yaml"
    tacho("drive", workload, "--virtual", *options, "-o", "run", expect=expect)
    run = tacho.directory / "run"
    (reaction,) = json.loads((run / "summary.json").read_text())["reactions"]
    assert "Reactions to obstacles that came into the way" in tacho("explain", "run").stdout
    return reaction, Signals(run), quality(run)


@pytest.mark.parametrize("near,braking", [("11 m", 8), ("30 m", 3)])
def test_the_stop_distance_is_reaction_way_and_braking_way(tacho, workloads, near, braking):
    """v t + v^2 / 2 b: the way of the reaction time, and that of braking as planning may, `emergency` or `braking`."""
    # Drive by wire brakes at once, so that the formula needs no ramp.
    options = [f"--set=world.work.obstacle_near={near}", "--set=drive_by_wire.work.acceleration_rate=10000 m/s^2"]
    reaction, signals, figures = sudden(tacho, workloads, *options)
    v = reaction["speed_m_per_s"]
    assert v == pytest.approx(10, abs=0.05)
    # It appears with the next message of the world, which has 100 Hz.
    front = 4.508 / 2 + 0.4
    assert float(near.split()[0]) - front - reaction["free_way_m"] == pytest.approx(0.1, abs=0.11)
    stages = [(of["stage"], of["node"]) for of in reaction["stages"]]
    assert stages == [
        ("sensed", "/detection"),
        ("found", "/detection"),
        ("planned", "/planner"),
        ("commanded", "/control"),
        ("braking", "/car"),
        ("standing", "/car"),
    ]
    after = [of["after_ms"] for of in reaction["stages"]]
    assert after == sorted(after) and after[4] == reaction["reaction_ms"]
    # The LiDAR and odometry have 10 Hz, and drive by wire and the car's states 100 Hz.
    assert 0 <= after[0] <= 100 and 0 <= after[2] - after[1] <= 100 and after[4] - after[3] <= 20
    assert reaction["margin_m"] == pytest.approx(reaction["free_way_m"] - reaction["stop_way_m"], abs=0.02)
    assert reaction["margin_m"] == pytest.approx(figures["car", "stop_margin_m"], abs=0.02)
    assert figures["car", "collided"] == 0
    # The track is straight there: ways are differences of x.
    at_s, x = signals.at_s("car", "x"), signals.values("car", "x")
    place = lambda ms: np.interp(reaction["at_ns"] / 1e9 + ms / 1e3, at_s, x)  # noqa: E731
    assert reaction["reaction_way_m"] == pytest.approx(place(after[4]) - place(0), abs=0.01)
    assert reaction["stop_way_m"] == pytest.approx(place(after[5]) - place(0), abs=0.01)
    if braking == 8:
        expected = v * reaction["reaction_ms"] / 1e3 + v * v / (2 * braking)
        assert reaction["stop_way_m"] == pytest.approx(expected, rel=0.05)
    else:
        # There is time: it stands 3 m before the obstacle, and brakes no harder than it must.
        assert reaction["margin_m"] == pytest.approx(3, abs=0.3)
        assert signals.values("car", "acceleration").min() == pytest.approx(-3, abs=1)


def test_a_pedestrian_who_crosses_comes_into_the_way_when_the_formula_says(tacho, workloads):
    crossing = ["--set=world.work.obstacle_offset=-5 m", "--set=world.work.obstacle_crossing=2 m/s"]
    reaction, signals, figures = sudden(tacho, workloads, *crossing, "--set=world.work.obstacle_near=45 m")
    (appeared,) = {at for at in signals.at_s("world", "obstacle_x")[:1]}
    y, at_s = signals.values("world", "obstacle_y"), signals.at_s("world", "obstacle_y")
    assert y[:300] == pytest.approx(-5 + 2 * (at_s[:300] - appeared), abs=1e-6), "it walks"
    assert y[-1] == pytest.approx(6 - 0.4), "up to the wall"
    # Half the car and the pedestrian's radius from the centre line, where the car drives.
    enters_s = appeared + (5 - 1.61 / 2 - 0.4) / 2
    assert reaction["at_ns"] / 1e9 == pytest.approx(enters_s, abs=0.03)
    assert figures["car", "collided"] == 0 and figures["car", "lane_kept"] == 1
    # The car goes on when the way is free again.
    assert signals.values("car", "speed").min() < 9 if reaction["reaction_ms"] else True
    assert signals.values("car", "x").max() > 120


def test_a_slower_car_ahead_is_not_hit(tacho, workloads):
    options = ["--set=world.work.obstacle_speed=4 m/s", "--set=world.work.obstacle_near=30 m"]
    reaction, signals, figures = sudden(tacho, workloads, *options)
    x, at_s = signals.values("world", "obstacle_x"), signals.at_s("world", "obstacle_x")
    straight = x < 199
    assert straight.sum() > 100 and x[straight] == pytest.approx(120 + 4 * (at_s[straight] - at_s[0]), abs=1e-6)
    assert reaction["reaction_ms"] is not None and figures["car", "collided"] == 0
    assert figures["car", "obstacle_gap_min_m"] > 1
    seen = [signals.values("detection", f"object_{axis}") for axis in "xy"]
    when = signals.at_s("detection", "object_x")
    on_straight = np.abs(seen[1]) < 1
    expected = 120 + 4 * (when[on_straight] - at_s[0])
    assert np.median(np.abs(seen[0][on_straight] - expected)) < 0.3, "detection finds it where it is when it is seen"


def test_a_roadside_unit_makes_the_car_brake_early(tacho, workloads):
    """The LiDAR sees the obstacle from 20 m on. In virtual time, which knows no links."""
    hardest = {}
    for name, at in (("with", "120 m"), ("without", "0 m")):
        options = ["--virtual", f"--set=roadside_unit.work.at={at}"]
        tacho("drive", workloads / "drive-v2x.yaml", *options, "-o", name)
        figures = quality(tacho.directory / name)
        assert figures["car", "collided"] == 0 and figures["car", "stop_margin_m"] == pytest.approx(3, abs=0.3)
        assert (figures["planner", "plans_with_stop_for_others"] > 100) == (name == "with")
        hardest[name] = Signals(tacho.directory / name).values("car", "acceleration").min()
    # 3 m/s^2 is what planning takes if it suffices. From 20 m on, 12 m/s need v^2 / 2 s.
    way = 20 - 4.508 / 2 - 0.4 - 3
    assert hardest["with"] > -3.5 and hardest["without"] < -0.9 * 12**2 / (2 * way)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ip"), reason="hosts need root and iproute2")
def test_what_the_roadside_unit_says_crosses_a_link_with_delay_and_loss(tacho, workloads):
    done = tacho("drive", workloads / "drive-v2x.yaml", "--duration", "16s", "-o", "run")
    run = tacho.directory / "run"
    topics = {topic["topic"]: topic for topic in json.loads((run / "summary.json").read_text())["topics"]}
    told = topics["/roadside/objects"]
    # A message has two fragments, each lost by 5 %: of 160, none lost in one run of four million.
    assert 0 < told["lost"] < told["sent"] / 2 and told["latency_us"]["min"] >= 20_000
    assert topics["/pose"]["latency_us"]["median"] < 20_000 and topics["/pose"]["lost"] == 0
    assert quality(run)["planner", "plans_with_stop_for_others"] > 20, done.stdout


@pytest.mark.timing
@pytest.mark.skipif(
    not all((ROOT / f"build/lib/libtacho_tasks_{name}.so").exists() for name in ("lidar", "camera")),
    reason="the tasks of perception are not built: make perception",
)
def test_a_stack_with_real_perception_stops_before_a_person_whom_it_recognises(tacho, workloads, undisturbed):
    people = ["--set", "world.work.obstacle_offset=0 m"]
    run = undisturbed("drive", workloads / "drive-study-a.yaml", "--short", "--duration", "14s", *people)
    figures = quality(tacho.directory / run)
    assert figures["car", "lane_kept"] == 1 and figures["car", "collided"] == 0
    # A busy machine makes its perception late and seldom, so it may stop farther away.
    assert 0.5 < figures["car", "stop_margin_m"] < 8, figures
    # On a busy machine clouds and pictures go missing, but what is computed is right.
    assert figures["judge_pose", "poses"] > 40 and figures["judge_pose", "position_error_rms_m"] < 0.1
    assert figures["localisation", "correction_rms_m"] > 0.15, "odometry alone is not so good"
    assert figures["judge_boxes", "recall_percent"] > 80 and figures["judge_lanes", "error_rms_m"] < 0.2
    assert figures["judge_tracks", "recall_percent"] > 80 and figures["judge_tracks", "ids"] == 1
    assert figures["judge_tracks", "id_changes"] == 0 and figures["judge_tracks", "distance_error_rms_m"] < 0.3
    assert figures["fusion", "unrecognised"] > 0, "posts are no people"


@pytest.mark.skipif(
    not (ROOT / "build/lib/libtacho_tasks_camera.so").exists(),
    reason="the camera tasks are not built: make perception",
)
def test_a_detector_without_its_network_ends_the_start_with_its_reason(tacho, workloads, tmp_path):
    home = tmp_path / "home"
    (home / "lib").mkdir(parents=True)
    (home / "perception/camera").mkdir(parents=True)
    for entry in (*(ROOT / "build").iterdir(), *(ROOT / "build/lib").iterdir()):
        at = home / "lib" if entry.parent.name == "lib" else home
        if entry.name not in ("lib", "perception"):
            (at / entry.name).symlink_to(entry)
    for entry in (ROOT / "build/perception/camera").iterdir():
        if entry.name != "detector.onnx":
            (home / "perception/camera" / entry.name).symlink_to(entry)
    tacho.environment["TACHO_HOME"] = str(home)
    done = tacho("drive", workloads / "drive-study-a.yaml", "--short", "--duration", "3s", "-o", "run", expect=3)
    reason = "node detector_0: task detector: "
    assert reason in done.stderr and "camera/detector.onnx: cannot be read: make perception" in done.stderr


def test_a_task_whose_library_is_not_built_says_how_to_get_it(tacho, workloads, tmp_path):
    home = tmp_path / "home"
    (home / "lib").mkdir(parents=True)
    for entry in (*(ROOT / "build").iterdir(), *(ROOT / "build/lib").iterdir()):
        at = home / "lib" if entry.parent.name == "lib" else home
        if entry.name != "lib" and not entry.name.startswith(("libtacho_tasks_lidar", "libtacho_tasks_camera")):
            (at / entry.name).symlink_to(entry)
    reason = "It is not built yet: make perception.\n"
    for library in ("lidar", "camera"):
        names = (ROOT / f"native/tasks/{library}/kinds").read_text()
        (home / f"lib/libtacho_tasks_{library}.missing").write_text(reason + names)
    tacho.environment["TACHO_HOME"] = str(home)
    said = tacho("check", workloads / "drive-study-a.yaml", expect=2).stderr
    assert "the library of this task is not here [missing-task]" in said and reason.strip() in said
    assert "= found: `scan_matching`" in said and "= found: `detector`" in said
    tacho("check", workloads / "drive.yaml")


def nodes_of(tacho, name: str) -> list[int]:
    """Processes of this test that run the node."""
    command = [b"tacho-node", name.encode()]
    found = []
    for pid in tacho.running():
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if [os.path.basename(words[0]), *words[1:2]] == command:
            found.append(pid)
    return found


@pytest.mark.parametrize("node", ["planner", "drive_by_wire", "lidar"])
def test_a_node_that_dies_makes_the_car_stop_and_the_run_says_why(tacho, workloads, node):
    run = tacho.directory / "run"
    process = tacho.start("drive", workloads / "drive.yaml", "--duration", "12s", "-o", "run")
    wait_for_window(run, process, seconds=4)
    (pid,) = nodes_of(tacho, node)
    os.kill(pid, signal.SIGKILL)
    out, err = finished(process)
    assert process.returncode == 3, out + err
    reason = f"process {node} was killed by signal 9 before the end"
    assert reason in err
    assert any(reason in missing for missing in json.loads((run / "run.json").read_text())["missing"])
    figures = quality(run)
    # Each part stops it if the one before is gone, and the car itself if drive by wire is gone.
    stopped_by = {"planner": "drive_by_wire", "drive_by_wire": "car"}.get(node)
    if stopped_by:
        assert figures[stopped_by, "stops_without_command"] == 1
    else:
        assert figures["planner", "plans_blind"] > 20
    assert figures["car", "lane_kept"] == 1
    # It drove for about 4 s and stands for the rest: 8 s more at 5 m/s would be 40 m.
    assert 5 < figures["car", "driven_m"] < 40
    # What the node did before is recorded.
    summary = json.loads((run / "summary.json").read_text())
    assert any(callback["node"] == f"/{node}" and callback["count"] > 20 for callback in summary["callbacks"])


def test_every_point_of_a_sweep_drives_and_a_finished_one_is_kept(tacho, workloads):
    text = (workloads / "drive.yaml").read_text().replace("speed: 5 m/s}", "speed: [4 m/s, 8 m/s]}")
    file = tacho.directory / "sweep.yaml"
    file.write_text(text)
    done = tacho("drive", file, "--instances", "40", "-o", "run")
    assert done.stdout.count("1 of 1 drives, 100.0 % (2.5 % to 100.0 %)") == 2
    points = json.loads((tacho.directory / "run/summary.json").read_text())["points"]
    assert [point["parameters"]["speed"] for point in points] == ["4 m/s", "8 m/s"]
    assert all((point["drives"]["good"], point["drives"]["of"]) == (1, 1) for point in points)

    first, second = sorted((tacho.directory / "run/points").iterdir())
    driven = [quality(point)["car", "speed_max_m_per_s"] for point in (first, second)]
    assert driven[0] < 4.5 < driven[1]
    kept = (first / "run.json").stat().st_mtime_ns
    shutil.rmtree(second)
    tacho("drive", file, "--instances", "40", "--resume", "-o", "run")
    assert (first / "run.json").stat().st_mtime_ns == kept
    assert (second / "summary.json").is_file()


def test_what_cannot_be_driven_is_refused(tacho, workloads):
    def said(*arguments):
        return tacho("drive", *arguments, expect=2).stderr

    assert "found 0 nodes of the task `vehicle`, expected one" in said(workloads / "talker-listener.yaml")
    drive = workloads / "drive.yaml"
    assert "found `5`" in said(drive, "--speed", "5").replace("found: ", "found ")
    assert "a number with its unit (m/s, km/h)" in said(drive, "--speed", "fast")
    assert "did you mean `obstacles`?" in said(drive, "--set", "world.work.obstacle=1")
    text = drive.read_text().replace("{task: trajectory, speed: 5 m/s}", "1 ms")
    (tacho.directory / "w.yaml").write_text(text)
    assert "no task of w.yaml has a parameter `speed`" in said("w.yaml", "--speed", "5m/s")
