"""Odd programs behave under `tacho record` as without it: the same exit code, the same stdout and stderr. The table
has one row for each program (odd_programs.c)."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from places import ROOT
from waiting import finished

SOURCE = Path(__file__).with_name("odd_programs.c")
TO_FILES = 'exec "$@" >"$OUT" 2>"$ERR"'
"""What the program prints goes to files of its own, so that nothing of tacho's is in them."""
NOT_RECORDED = "tacho: this process ("
"""The only additional line of a recorded program, if its file could not be made."""


@dataclass
class Odd:
    """A program by its words. `program`: which build of it. `code`: its exit code, if known; a signal is 128 + its
    number. `files`: the least number of event files; None: it cannot be recorded. `said`: a word that the run
    contains about it."""

    words: str
    program: str = "odd"
    code: int | None = 0
    files: int | None = 1
    said: str = ""


TABLE = [
    Odd("exit 0"),
    Odd("exit 1", code=1),
    Odd("exit 6", code=6),
    Odd("exit 255", code=255),
    Odd("segv", code=139),
    Odd("abort", code=134),
    Odd("signal 9", code=137),
    Odd("signal 15", code=143),
    Odd("pipe", code=141),
    Odd("close-all"),
    Odd("close-standard"),
    Odd("high-descriptors"),
    Odd("every-descriptor", said="RLIMIT_NOFILE"),
    Odd("bad-addresses"),
    Odd("raw-children", files=3),
    Odd("jump"),
    Odd("not-dumpable"),
    Odd("exec-chain 3", files=4),
    Odd("empty-environment", code=6),
    Odd("daemon"),
    Odd("exit 6", program="odd-static", code=6, files=None),
    Odd("exit 6", program="odd-script", code=6),
    Odd("exit 6", program="no-such-interpreter", code=None, files=None),
    Odd("without-directory"),
    Odd("namespaces"),
    Odd("chroot", files=None),
    Odd("small-files"),
    Odd("no-files", files=None),
    Odd("little-memory", files=None),
    Odd("strict", code=6, said="seccomp"),
    Odd("strict-and-more", code=137, said="seccomp"),
    Odd("no-tsc", said="PR_SET_TSC"),
    Odd("no-tsc-later", said="PR_SET_TSC"),
    Odd("small-stack"),
    Odd("many-threads"),
    Odd("leave-main"),
    Odd("own-preload"),
    Odd("stopped"),
    Odd("session"),
    Odd("much-on-stderr"),
]


@pytest.fixture(scope="session")
def programs(tmp_path_factory) -> Path:
    """A folder with the builds, and a library that is preloaded with or without the recorder."""
    folder = tmp_path_factory.mktemp("odd")
    cc = ["cc", "-O1", "-pthread"]
    subprocess.run([*cc, SOURCE, "-o", folder / "odd"], check=True)
    subprocess.run([*cc, "-static", SOURCE, "-o", folder / "odd-static"], check=True)
    (folder / "own.c").write_text("int own_preloaded(void) { return 7; }\n")
    subprocess.run([*cc, "-shared", "-fPIC", folder / "own.c", "-o", folder / "own.so"], check=True)
    for name, interpreter in (("odd-script", "/bin/sh"), ("no-such-interpreter", "/no/such/interpreter")):
        (folder / name).write_text(f'#!{interpreter}\nexec "{folder}/odd" "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def said_by(tacho, odd: Odd, folder: Path, name: str, *before: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the program; started through `before`."""
    files = {key: str(tacho.directory / f"{name}.{key.lower()}") for key in ("OUT", "ERR")}
    environment = (
        tacho.environment | files | ({"LD_PRELOAD": str(folder / "own.so")} if odd.words == "own-preload" else {})
    )
    process = subprocess.Popen(
        [str(word) for word in (*before, "sh", "-c", TO_FILES, "odd", folder / odd.program, *odd.words.split())],
        cwd=tacho.directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    tacho.started.append(process)
    finished(process)
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    out, err = (Path(files[key]).read_text() for key in ("OUT", "ERR"))
    return code, out, "".join(line for line in err.splitlines(keepends=True) if not line.startswith(NOT_RECORDED))


@pytest.mark.parametrize("odd", TABLE, ids=lambda odd: f"{odd.program} {odd.words}")
def test_an_odd_program_does_the_same_recorded_and_not(tacho, programs, odd):
    without = said_by(tacho, odd, programs, "without")
    recorded = said_by(tacho, odd, programs, "with", tacho.program, "record", "-o", "run", "--")
    assert recorded == without
    if odd.code is not None:
        assert without[0] == odd.code
    files = list((tacho.directory / "run/events").glob("*.events"))
    assert odd.files is None or len(files) >= odd.files
    assert odd.said in "\n".join(json.loads((tacho.directory / "run/run.json").read_text())["missing"])


def test_what_a_program_prints_passes_through(tacho, programs):
    done = tacho("record", "-o", "run", "--", programs / "odd", "exit", 6, expect=6)
    assert "on stdout\n" in done.stdout and "on stderr\n" in done.stderr


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "zeros"])
def test_a_damaged_recorder_is_named_before_the_program_starts(tacho, programs, damage):
    home = tacho.directory / "home"
    (home / "lib").mkdir(parents=True)
    whole = (ROOT / "build/lib/libtacho_recorder.so").read_bytes()
    zeros = whole[:64] + bytes(len(whole) - 4096) + whole[len(whole) - 4032 :]
    damaged = {"cut": whole[: len(whole) // 2], "garbage": b"garbage\n" * 10_000, "empty": b"", "zeros": zeros}[damage]
    (home / "lib/libtacho_recorder.so").write_bytes(damaged)
    tacho.environment["TACHO_HOME"] = str(home)
    done = tacho("record", "-o", "run", "--", "touch", "started", expect=3)
    assert str(home / "lib/libtacho_recorder.so") in done.stderr and "make build" in done.stderr
    assert not (tacho.directory / "started").exists()
