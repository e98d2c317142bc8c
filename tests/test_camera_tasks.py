"""Camera tasks on OpenCV: the real video, the drawn world, detection, tracking and lanes against independent answers."""

import json
import math
import shutil
import subprocess

import numpy as np
import pytest
from driving import (
    CAMERA,
    FOCAL,
    HEIGHT,
    LANE,
    PICTURE,
    RADIUS,
    STRAIGHT,
    WIDTH,
    actuators,
    boxes,
    boxes_of,
    overlap,
    picture,
    pixels,
    state,
    vehicle_state,
    world,
)
from places import ROOT
from scipy.ndimage import gaussian_filter
from task_library import Task, TaskFailed, content, message, stamp_ns

LIBRARY = ROOT / "build/lib/libtacho_tasks_camera.so"
FILES = ROOT / "build/perception/camera"
PYTHON = ROOT / "build/venv-perception/bin/python"
PERSON, BICYCLE, VEHICLE = 1, 2, 3

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="the camera tasks are not built: make perception")


def place(start: float) -> np.ndarray:
    """x, y, yaw on the centre line."""
    return state(Task("vehicle", start=start)(0, actuators(0, 0), world()))[[0, 1, 4]]


def drawn(map_of: bytes, x: float, y: float, yaw: float, at_s=1.0, **parameters) -> bytes:
    return Task("drawn_camera", sizes=[PICTURE], **parameters)(1, map_of, vehicle_state(x, y, yaw, at_s=at_s))[0]


def test_the_video_is_replayed_frame_by_frame_and_begins_again(tmp_path):
    task = Task("video", sizes=[PICTURE], first=100, frames=3)
    shown = [task(2 + i / 10)[0] for i in range(4)]
    assert [stamp_ns(frame) for frame in shown] == [2_000_000_000, 2_100_000_000, 2_200_000_000, 2_300_000_000]
    assert [np.frombuffer(frame, "<u4", 1, 4)[0] for frame in shown] == [0, 1, 2, 0]
    assert (pixels(shown[0]) == pixels(shown[3])).all() and (pixels(shown[0]) != pixels(shown[1])).any()
    # OpenCV of the Python package decodes with another library.
    script = "import sys, cv2; cv2.imread(sys.argv[1]).tofile(sys.argv[2])"
    for index in range(3):
        jpeg = FILES / f"video/{100 + index:04}.jpg"
        subprocess.run([PYTHON, "-c", script, jpeg, tmp_path / "raw"], check=True)
        told = np.fromfile(tmp_path / "raw", np.uint8).reshape(HEIGHT, WIDTH, 3).astype(int)
        assert np.abs(told - pixels(shown[index])).max() <= 4
    with pytest.raises(TaskFailed, match="found first: 790, frames: 10, expected frames of the 795 in"):
        Task("video", sizes=[PICTURE], first=790, frames=10)
    with pytest.raises(
        TaskFailed, match="/output_0: found a size of 5000 B, expected at least 1327184 B for a picture"
    ):
        Task("video", sizes=[5000])


def test_the_drawn_world_shows_things_where_they_stand():
    """The picture with a thing differs from that without it just where a pinhole camera sees the thing."""
    x, y, yaw = 20.0, 0.3, 0.02
    for distance, offset, height in ((28, 0.5, 1.75), (35, -1.5, 1.6), (50, 1.0, 2.0)):
        with_it, without = (pixels(drawn(world(of), x, y, yaw)) for of in ([(distance, offset, 0.4, height)], []))
        rows, columns = np.where((with_it != without).any(axis=2))
        ahead = (distance - x) * math.cos(yaw) + (offset - y) * math.sin(yaw) - 1.0
        left = (offset - y) * math.cos(yaw) - (distance - x) * math.sin(yaw)
        assert rows.max() == pytest.approx(HEIGHT * 0.45 + FOCAL * 1.5 / ahead, abs=2)
        assert rows.min() == pytest.approx(HEIGHT * 0.45 + FOCAL * (1.5 - height) / ahead, abs=2)
        assert (columns.min() + columns.max()) / 2 == pytest.approx(WIDTH / 2 - FOCAL * left / ahead, abs=3)
    # Nothing behind the camera, nor beside the picture.
    for of in ((10, 0, 0.4, 1.7), (24, 3.4, 0.4, 1.7)):
        assert (pixels(drawn(world([of]), x, y, yaw)) == pixels(drawn(world(), x, y, yaw))).all()


def test_a_camera_that_is_turned_sees_what_is_beside_the_vehicle():
    beside = world([(20, 1.5, 0.4, 1.7)])
    task = Task("drawn_camera", sizes=[PICTURE], yaw=math.pi / 2, ahead=0, left=-6)
    shown, without = (pixels(task(1, of, vehicle_state(20, 0, 0))[0]) for of in (beside, world()))
    changed = shown != without
    _, columns = np.where(changed.any(axis=2))
    assert (columns.min() + columns.max()) / 2 == pytest.approx(WIDTH / 2, abs=6)


def names_of(what: int) -> set[str]:
    return {PERSON: {"Person"}, BICYCLE: {"Bicycle"}, VEHICLE: {"Vehicle", "Car"}}[what]


@pytest.mark.parametrize("frame", [0, 300, 600])
def test_the_detector_finds_what_onnx_runtime_finds(frame, tmp_path):
    (shown,) = Task("video", sizes=[PICTURE], first=frame)(1)
    (published,) = Task("detector", score=0.35, overlap=0.5)(1, shown)
    found = boxes(published)
    assert stamp_ns(published) == stamp_ns(shown) and (found["what"] == PERSON).sum() >= 3
    assert (found["what"] == VEHICLE).sum() >= 1, "the parked cars"
    pixels(shown).tofile(tmp_path / "raw")
    command = [PYTHON, ROOT / "tests/programs/detect.py", FILES / "detector.onnx", FILES / "detector.txt"]
    done = subprocess.run([*command, tmp_path / "raw", str(WIDTH), str(HEIGHT)], check=True, capture_output=True)
    truth = json.loads(done.stdout)
    for one in found:
        same = [row for row in truth if row[5] in names_of(one["what"]) and overlap(row[:4], one["at"]) > 0.9]
        assert same and max(row[4] for row in same) == pytest.approx(one["score"], abs=0.02), one
    # And none of a good score is missed that does not overlap a better one.
    for row in truth:
        if row[4] > 0.45 and row[5] in ("Person", "Bicycle", "Vehicle", "Car"):
            kept = [one for one in found if row[5] in names_of(one["what"])]
            assert max(overlap(row[:4], one["at"]) for one in kept) > 0.45, row


def test_people_of_the_drawn_world_are_detected_where_they_stand():
    judge, detector = Task("judge_boxes", range=17), Task("detector")
    people = [(30, 0.6, 0.3, 1.75), (34, -1, 0.3, 1.75), (47, 0, 0.3, 1.75), (STRAIGHT + 30, 0, 0.3, 1.75)]
    map_of = world(people, posts=(12, 5, 0.15, 3))
    truth = 0
    for number, start in enumerate([17, 19, 21, 23, 31, 33, 35, 37, STRAIGHT + 15, STRAIGHT + 18]):
        x, y, yaw = place(start)
        at = 1.0 + number
        (found,) = detector(at, drawn(map_of, x, y, yaw, at_s=at))
        judge(at, found, map_of, vehicle_state(x, y, yaw, at_s=at))
        truth += sum(1 < distance - start - 1 < 17 for distance, *_ in people)
    figures = judge.figures()
    assert figures["messages"] == 10 and truth - 4 <= figures["obstacles_due"] <= truth
    assert figures["recall"] >= 85 and figures["overlap_mean"] > 0.5 and figures["false_mean"] < 0.7


def test_the_judge_of_boxes_agrees_with_boxes_of_the_truth():
    map_of = world([(35, 0.5, 0.4, 1.7), (42, -0.8, 0.4, 1.7)])
    at = vehicle_state(20, 0.2, 0.01)
    (truth,) = Task("ground_truth_boxes")(1, map_of, at)
    rows = boxes(truth)
    assert len(rows) == 2 and (rows["what"] == PERSON).all()
    ahead, left = 15 * math.cos(0.01) + 0.3 * math.sin(0.01) - 1, 0.3 * math.cos(0.01) - 15 * math.sin(0.01)
    expected = [WIDTH / 2 - FOCAL * (left + 0.4) / ahead, HEIGHT * 0.45 + FOCAL * -0.2 / ahead]
    assert rows["at"][0] == pytest.approx([*expected, FOCAL * 0.8 / ahead, FOCAL * 1.7 / ahead], abs=0.01)

    def judged(given):
        judge = Task("judge_boxes", range=30)
        judge(1, given, map_of, at)
        return judge.figures()

    assert judged(truth)["recall"] == 100 and judged(truth)["overlap_mean"] == pytest.approx(1)
    x, y, width, height = map(float, rows["at"][0])
    figures = judged(boxes_of([(x, y + height / 2, width, height, 0.9, PERSON, 0), (5, 5, 50, 50, 0.9, PERSON, 0)]))
    assert figures["recall"] == 50 and figures["overlap_mean"] == pytest.approx(1 / 3) and figures["false_mean"] == 1


def patterned(position, size=(120, 80), seed=3) -> np.ndarray:
    """A picture of dim clouds with a bright pattern at this place."""
    rng = np.random.default_rng(seed)
    scene = gaussian_filter(rng.normal(40, 60, (HEIGHT, WIDTH, 3)), (5, 5, 0))
    patch = np.clip(gaussian_filter(rng.normal(170, 200, (*size, 3)), (2.5, 2.5, 0)), 0, 255)
    x, y = (round(v) for v in position)
    scene[y : y + size[0], x : x + size[1]] = patch
    return np.clip(scene, 0, 255)


def path(step: int) -> tuple[float, float]:
    return 100 + 3 * step, 200 + 40 * math.sin(step / 8)


def test_mosse_follows_what_moves_and_keeps_its_id():
    task, apart = Task("mosse", window=1), []
    for step in range(60):
        x, y = path(step)
        given = boxes_of([(x, y, 80, 120, 0.8, PERSON, 0)], at_s=1) if step == 0 else None
        (published,) = task(1 + step / 10, picture(patterned((x, y)), at_s=1 + step / 10), given)
        (one,) = boxes(published)
        assert one["id"] == 1 and one["what"] == PERSON
        apart.append(math.hypot(one["at"][0] - x, one["at"][1] - y))
    assert max(apart) < 4 and task.figures()["ids"] == 1 and task.figures()["lost"] == 0


def test_boxes_of_an_older_picture_initialise_again_what_has_moved_since():
    """The first box is 20 pixels off. The second one is right, but five pictures old: the thing has moved on."""
    task = Task("mosse", window=1)
    for step in range(9):
        x, y = path(step)
        given = None
        if step in (0, 6):
            of, off = (0, 20) if step == 0 else (1, 0)
            there = path(of)
            given = boxes_of([(there[0] + off, there[1] + off, 80, 120, 0.8, PERSON, 0)], at_s=1 + of / 10)
        (published,) = task(1 + step / 10, picture(patterned((x, y)), at_s=1 + step / 10), given)
        (one,) = boxes(published)
        assert one["id"] == 1
        assert math.hypot(one["at"][0] - x, one["at"][1] - y) == pytest.approx(0 if step >= 6 else 20 * 2**0.5, abs=4)
    figures = task.figures()
    assert figures["initialised_again"] == 1
    assert figures["overlap_mean"] == pytest.approx(60 * 100 / (2 * 80 * 120 - 60 * 100), abs=0.06)


def test_what_overlaps_well_with_its_boxes_keeps_its_filter():
    task = Task("mosse", window=1)
    for step in range(40):
        x, y = path(step)
        of = max(0, step - 5)
        given = boxes_of([(*path(of), 80, 120, 0.8, PERSON, 0)], at_s=1 + of / 10) if step % 5 == 0 else None
        (published,) = task(1 + step / 10, picture(patterned((x, y)), at_s=1 + step / 10), given)
        (one,) = boxes(published)
        assert one["id"] == 1 and math.hypot(one["at"][0] - x, one["at"][1] - y) < 5
    assert task.figures()["initialised_again"] == 0 and task.figures()["overlap_mean"] > 0.9


def test_mosse_gives_new_things_new_ids_and_drops_what_is_gone():
    task = Task("mosse", patience=2, forget=2)
    task(1, picture(patterned((100, 100)), at_s=1), boxes_of([(100, 100, 40, 60, 0.8, PERSON, 0)], at_s=1))
    both = [(100, 100, 40, 60, 0.8, PERSON, 0), (400, 300, 60, 60, 0.5, VEHICLE, 0)]
    (published,) = task(1.1, picture(patterned((100, 100)), at_s=1.1), boxes_of(both, at_s=1))
    assert boxes(published)["id"].tolist() == [1, 2] and boxes(published)["what"].tolist() == [PERSON, VEHICLE]
    # What the detector sees no more is dropped, even if the filter still follows it.
    for number in range(2):
        at = 1.2 + number / 10
        (published,) = task(at, picture(patterned((100, 100)), at_s=at), boxes_of(both[:1], at_s=at))
    assert boxes(published)["id"].tolist() == [1] and task.figures()["lost"] == 1
    # Boxes that come without a picture wait for the next one.
    task(1.5, None, boxes_of(both, at_s=1.3))
    (published,) = task(1.6, picture(patterned((100, 100)), at_s=1.6))
    assert boxes(published)["id"].tolist() == [1, 3]


def test_people_of_the_real_video_are_followed_between_detections():
    """The detector sees every fourth frame; what MOSSE follows meanwhile overlaps with what it then finds."""
    video, detector, task = Task("video", sizes=[PICTURE], first=500), Task("detector"), Task("mosse")
    for step in range(41):
        (shown,) = video(1 + step / 10)
        task(1 + step / 10, shown, detector(1, shown)[0] if step % 4 == 0 else None)
    figures = task.figures()
    assert figures["overlap_mean"] > 0.6 and 5 <= figures["ids"] <= 30


@pytest.mark.parametrize("start", [20, 60, STRAIGHT + 30, STRAIGHT + 70])
@pytest.mark.parametrize("aside,turned", [(0, 0), (0.3, 0.02), (-0.4, -0.03)])
def test_the_borders_of_the_lane_are_found_where_they_are(start, aside, turned):
    x, y, yaw = place(start)
    x, y, yaw = x - aside * math.sin(yaw), y + aside * math.cos(yaw), yaw + turned
    (found,) = Task("lane_detection")(1, drawn(world(), x, y, yaw))
    assert np.frombuffer(found, "<u4", 1, 4)[0] == 1
    left, left_slope, right, right_slope = content(found, "LNS1", "4d")
    # On a side of the track a border is a line. In a corner it is an arc, whose distance at 8 m ahead is compared.
    for offset, slope, side in ((left, left_slope, LANE / 2), (right, right_slope, -LANE / 2)):
        if start < STRAIGHT:
            told = (side - aside - 8 * math.sin(turned)) / math.cos(turned)
        else:
            to_centre = np.array([math.sin(turned), math.cos(turned)]) * (RADIUS - aside)
            told = to_centre[1] - math.sqrt((RADIUS - side) ** 2 - (8 - to_centre[0]) ** 2)
        assert offset + 8 * slope == pytest.approx(told, abs=0.25)
    judge = Task("judge_lanes")
    judge(1, found, world(), vehicle_state(x, y, yaw))
    assert judge.figures()["found"] == 100 and judge.figures()["error_max"] < 0.25


@pytest.mark.parametrize("aside,turned", [(0, 0), (0.2, 0.03), (-0.2, -0.03)])
def test_a_person_on_the_lane_does_not_move_its_borders(aside, turned):
    """A mean of all edges would be up to 0.16 m away, 5 to 8 m before the person."""
    judge = Task("judge_lanes")
    of = world([(25, 0, 0.4, 1.75)])
    for number, x in enumerate(np.arange(17, 21, 0.05)):
        at_s = 1 + number / 10
        (found,) = Task("lane_detection")(at_s, drawn(of, x, aside, turned, at_s=at_s))
        judge(at_s, found, of, vehicle_state(x, aside, turned, at_s=at_s))
    assert judge.figures()["found"] == 100 and judge.figures()["error_max"] < 0.1


def test_a_picture_without_a_lane_has_none():
    task = Task("lane_detection")
    grey = np.full((HEIGHT, WIDTH, 3), 90)
    for shown in (picture(grey), picture(np.random.default_rng(0).integers(0, 30, grey.shape))):
        (found,) = task(1, shown)
        assert np.frombuffer(found, "<u4", 1, 4)[0] == 0
    assert task.figures()["found"] == 0 and task.figures()["pictures"] == 2


@pytest.mark.parametrize("name", ["detector", "mosse", "lane_detection"])
def test_an_empty_picture_and_a_black_one_show_nothing(name):
    task = Task(name)
    for shown in (np.zeros((0, 0, 3)), np.zeros((0, WIDTH, 3)), np.zeros((HEIGHT, WIDTH, 3)), np.zeros((1, 1, 3))):
        (published,) = task(1, picture(shown), boxes_of([]) if name == "mosse" else None)
        assert np.frombuffer(published, "<u4", 1, 4)[0] == 0
    assert task.figures()["pictures"] == 4 and task.figures()["pictures_empty"] == 2
    short = message("IMG1", "7d2I", *CAMERA, 100, 100) + b"\0" * 50
    with pytest.raises(TaskFailed, match="/picture: found a picture of 100 x 100 in 130 B, expected at least 30080 B"):
        task(2, short)


@pytest.fixture
def copied(tmp_path):
    """An installation of its own, with files that may be damaged; the library in it."""
    (tmp_path / "lib").mkdir()
    shutil.copy(LIBRARY, tmp_path / "lib")
    folder = tmp_path / "perception/camera"
    folder.mkdir(parents=True)
    for name in ("detector.onnx", "detector.txt", "detector.check"):
        shutil.copy(FILES / name, folder)
    return tmp_path / "lib" / LIBRARY.name, folder


def test_a_missing_file_is_named_with_how_to_get_it(copied):
    library, folder = copied
    assert Task("detector", library=library)
    for name, task, sizes in (("video", "video", [PICTURE]), ("people", "drawn_camera", [PICTURE])):
        with pytest.raises(TaskFailed, match=rf"perception/camera/{name}: found no file \*.*make perception"):
            Task(task, library=library, sizes=sizes)
    for name in ("detector.check", "detector.txt", "detector.onnx"):
        (folder / name).unlink()
        with pytest.raises(TaskFailed, match=rf"perception/camera/{name}: cannot be read: make perception"):
            Task("detector", library=library)


def test_a_damaged_detector_is_refused(copied):
    library, folder = copied
    whole = (folder / "detector.onnx").read_bytes()
    middle = len(whole) // 2
    damaged = {
        "empty": b"",
        "text": b"no network" * 1000,
        "cut": whole[:middle],
        "wrong weights": whole[:middle] + b"\x3f" * 4000 + whole[middle + 4000 :],
    }
    for what, content_of in damaged.items():
        (folder / "detector.onnx").write_bytes(content_of)
        with pytest.raises(TaskFailed, match=r"detector.onnx: found .*, expected .*: make perception gets it anew"):
            Task("detector", library=library)
            pytest.fail(what)


def test_a_damaged_frame_of_the_video_is_named(copied):
    library, folder = copied
    (folder / "video").mkdir()
    for index in range(3):
        shutil.copy(FILES / f"video/{index:04}.jpg", folder / "video")
    whole = (folder / "video/0001.jpg").read_bytes()
    (folder / "video/0001.jpg").write_bytes(whole[: len(whole) // 2])
    task = Task("video", library=library, sizes=[PICTURE])
    task(1)
    with pytest.raises(TaskFailed, match="video/0001.jpg: cannot be decoded: "):
        task(2)
    (folder / "video/0000.jpg").write_bytes(b"no picture")
    with pytest.raises(TaskFailed, match="video/0000.jpg: cannot be decoded: "):
        Task("video", library=library, sizes=[PICTURE])
