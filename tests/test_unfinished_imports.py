"""`tacho import` that cannot finish, or that several processes do at once: what it leaves names itself, and nothing
is lost."""

import shutil
import signal

import pytest
from test_damaged_files import unpack
from waiting import finished


@pytest.fixture
def trace(tmp_path):
    return unpack("ctf/autoware_single_5s.tar.gz", tmp_path / "trace") / "ctf"


def test_of_imports_into_one_directory_one_goes_on(tacho, trace, tmp_path):
    started = [tacho.start("import", trace, "-o", "run") for _ in range(3)]
    ended = [(finished(process)[1], process.returncode) for process in started]
    assert sorted(code for _, code in ended) == [0, 2, 2], ended
    for said, code in ended:
        assert code == 0 or "imports into it; expected" in said or "expected a new or an empty directory" in said, said
    tacho("import", trace, "-o", "alone")
    whole = [tacho.json("explain", run) for run in ("run", "alone")]
    assert whole[0] == whole[1] and not (tmp_path / "run/lock").exists()


def test_what_a_killed_import_left_says_so_and_how_to_make_it_anew(tacho, trace, tmp_path):
    tacho("import", trace, "-o", "run", before=["prlimit", "--core=0", "--fsize=100000"], expect=-signal.SIGXFSZ)
    assert any((tmp_path / "run/events").iterdir())
    for verb in (["explain", "run"], ["report", "run"], ["top", "run", "--once"]):
        said = tacho(*verb, expect=2).stderr
        assert "did not come to its end" in said and f"import {trace} -o run" in said, said


def test_an_import_without_its_analysis_says_what_completes_it(tacho, trace, tmp_path):
    tacho("import", trace, "-o", "run")
    whole = tacho.json("explain", "run")
    (tmp_path / "run/summary.json").unlink()
    shutil.rmtree(tmp_path / "run/tables")
    assert "no summary.json; tacho report run completes it" in tacho("explain", "run").stderr
    tacho("report", "run")
    assert tacho.json("explain", "run") == whole


@pytest.mark.parametrize("kib", [300, 1000])
def test_a_full_disk_says_once_what_is_needed(tacho, trace, tmp_path, kib):
    disk = tmp_path / "disk"
    disk.mkdir()
    on_disk = f'mount -t tmpfs -o size={kib}k tmpfs {disk} && exec "$@"'
    tacho.environment["TMPDIR"] = str(disk)
    said = tacho(
        "import",
        trace,
        "-o",
        disk / "run",
        before=["unshare", "--map-root-user", "--mount", "sh", "-c", on_disk, "sh"],
        expect=3,
    ).stderr
    assert said.count("No space left") == 1 and said.count(" take about ") == 1 and said.count(" free;") == 1, said
    assert "tacho report" in said if kib == 1000 else "is no run: remove that" in said
