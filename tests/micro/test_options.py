# SPDX-License-Identifier: Apache-2.0
"""Options that leave parts of tacho-micro out: the rest works, and the table of costs is what the build yields."""

import importlib.machinery
import importlib.util
import subprocess

import pytest
from conftest import HERE, OUT, ROOT, make
from processes import Program

LOADER = importlib.machinery.SourceFileLoader("options", str(ROOT / "micro" / "options"))
options = importlib.util.module_from_spec(importlib.util.spec_from_loader("options", LOADER))
LOADER.exec_module(options)
LEFT_OUT = [option for *_, option in options.OPTIONS if option.endswith("=0") and "ECHO" not in option]


def node(option: str, domain: int, *arguments) -> Program:
    folder = OUT / "without" / option.removesuffix("=0")
    make(HERE, f"OUT={folder}", f"DEFINES=-D{option}", str(folder / "node"))
    return Program(folder / "node", domain, "micro_node", *arguments, "interface", "127.0.0.1")


@pytest.mark.parametrize("option", LEFT_OUT)
def test_two_nodes_talk_without(domain, started, option):
    hearing = started(node(option, domain, "sub", "reliable"))
    hearing.wait_for("up")
    started(node(option, domain, "pub", "reliable", "period", 20, "depth", 64))
    numbers = [int(line.split()[2]) for line in hearing.wait_for("got", 20)]
    assert numbers == sorted(set(numbers))
    if option != "MICRO_WITH_RELIABLE=0":
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_without_fragments_a_large_message_is_refused_and_a_received_one_counted(programs, domain, started):
    hearing = started(node("MICRO_WITH_FRAGMENTS=0", domain, "sub", "reliable"))
    hearing.wait_for("up")
    saying = started(
        Program(
            programs / "node",
            domain,
            "whole_node",
            "pub",
            "reliable",
            "size",
            5000,
            "count",
            5,
            "interface",
            "127.0.0.1",
        )
    )
    saying.wait_for("counters")  # all five were acknowledged, as they were passed over
    hearing.stop()
    assert not hearing.find("got") and "unsupported 5" in hearing.find("counters")[0]
    refusing = started(node("MICRO_WITH_FRAGMENTS=0", domain, "pub", "size", 5000))
    listening = started(Program(programs / "node", domain, "whole_node", "sub", "interface", "127.0.0.1"))
    refusing.wait_for("matched 1")
    listening.wait_for("matched 1")
    refusing.stop()
    assert not listening.find("got") and "oversized 0" not in refusing.find("counters")[0]


def test_the_table_in_the_docs_is_what_the_build_gives():
    if (
        "12.2.1"
        not in subprocess.run(["arm-none-eabi-gcc", "--version"], capture_output=True, text=True, check=True).stdout
    ):
        pytest.skip("the table is that of arm-none-eabi-gcc 12.2.1")
    assert options.in_page() == options.table(OUT / "options"), "run micro/options --write"
