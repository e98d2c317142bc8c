# SPDX-License-Identifier: Apache-2.0
"""The library by itself: units, the network's torments in virtual time, fuzzing, generated code."""

import os
import subprocess

import pytest
from conftest import ROOT, ros_python_of

MICRO = ROOT / "micro"
SCENARIOS = [
    "clean",
    "loss",
    "disorder",
    "pieces",
    "fragments",
    "best-effort",
    "durable",
    "overrun",
    "damage",
    "flood",
    "crowd",
    "initialisation",
    "farewell",
    "hour",
    "crowded-minutes",
]


def run(*command, **environment) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=900, env={**os.environ, **environment}
    )
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done.stdout + done.stderr


def test_units(programs):
    run(programs / "units")


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_against_a_hostile_network(programs, scenario, seed):
    run(programs / "torture", programs / "libsimulated.so", scenario, seed)


@pytest.mark.parametrize("target", ["fuzz-message", "fuzz-frame"])
def test_nothing_from_the_wire_breaks_it(programs, fuzzers, tmp_path, target):
    """A short run from the datagrams of real exchanges; MICRO_FUZZ_RUNS makes it longer."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for scenario in ("clean", "fragments", "durable"):
        run(programs / "torture", programs / "libsimulated.so", scenario, TORTURE_KEEP=str(corpus))
    runs = os.environ.get("MICRO_FUZZ_RUNS", "20000")
    said = run(
        fuzzers / target, f"-runs={runs}", "-max_len=4000", "-timeout=600", f"-artifact_prefix={tmp_path}/", corpus
    )
    assert f"Done {runs} runs" in said, said[-2000:]


def test_generated_messages_are_up_to_date_and_have_the_hashes_of_ros(tmp_path):
    python = ros_python_of("venv")
    wanted = [p.stem.replace("_msg_", "/msg/", 1) for p in sorted((MICRO / "messages").glob("*.h"))]
    run(python, MICRO / "generator" / "tacho_micro_msg.py", "-o", tmp_path, *wanted)
    for made in tmp_path.iterdir():
        assert made.read_text() == (MICRO / "messages" / made.name).read_text(), made.name
    check = (
        "import json,sys,pathlib\n"
        "for name in sys.argv[2:]:\n"
        "  package, _, base = name.split('/')\n"
        "  known = json.loads((pathlib.Path(sys.prefix)/'share'/package/'msg'/(base+'.json')).read_text())['type_hashes']\n"
        "  right = next(h['hash_string'] for h in known if h['type_name'] == name)\n"
        "  text = (pathlib.Path(sys.argv[1])/(name.replace('/', '_')+'.h')).read_text()\n"
        "  assert right in text, name\n"
    )
    run(python, "-c", check, MICRO / "messages", *wanted)


def test_the_generator_refuses_what_it_has_no_code_for(tmp_path):
    package = tmp_path / "odd"
    package.mkdir()
    (package / "Wide.msg").write_text("wstring text\n")
    done = subprocess.run(
        [
            ros_python_of("venv"),
            str(MICRO / "generator" / "tacho_micro_msg.py"),
            "-o",
            str(tmp_path / "out"),
            "--package",
            f"odd={package}",
            "odd/msg/Wide",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "odd/msg/Wide.text: type wstring" in done.stderr and not (tmp_path / "out").exists()


def test_only_memory_functions_are_wanted_from_libc(programs, tmp_path):
    """Freestanding: the library's objects need nothing but each other, the seam and memcpy, memset, strlen."""
    seam = {
        "micro_udp_open",
        "micro_udp_close",
        "micro_udp_address",
        "micro_udp_buffer",
        "micro_udp_send",
        "micro_udp_poll",
        "micro_clock_ms",
        "micro_clock_ns",
        "micro_unix_time",
        "micro_entropy",
    }
    defined, wanted = set(), set()
    for source in sorted((MICRO / "src").glob("*.c")):
        run(
            "cc",
            "-std=c11",
            "-Os",
            "-ffreestanding",
            "-c",
            f"-I{MICRO}/include",
            source,
            "-o",
            tmp_path / f"{source.stem}.o",
        )
        for line in run("nm", tmp_path / f"{source.stem}.o").splitlines():
            (wanted if line.split()[-2] == "U" else defined).add(line.split()[-1])
    assert wanted - defined <= seam | {
        "memcpy",
        "memset",
        "strlen",
        "memcmp",
        "memmove",
        "_GLOBAL_OFFSET_TABLE_",
        "__stack_chk_fail",
    }


def test_the_example_builds(programs, tmp_path):
    sources = [
        *sorted((MICRO / "src").glob("*.c")),
        MICRO / "ports" / "linux" / "udp.c",
        MICRO / "ports" / "linux" / "clock.c",
        MICRO / "examples" / "talker.c",
    ]
    run(
        "cc",
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{MICRO}/include",
        f"-I{MICRO}/messages",
        f"-I{MICRO}/ports/linux",
        *sources,
        "-o",
        tmp_path / "talker",
    )
    assert len((MICRO / "examples" / "talker.c").read_text().splitlines()) <= 40
