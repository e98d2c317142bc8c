"""One seed draws the same in Rust, C++ and Python: a test of each reads tests/fixtures/draws.txt."""

import sys

import pytest
from places import ROOT

sys.path.insert(0, str(ROOT / "native/nodes/rclpy"))
from tacho_rclpy.draws import Draws  # noqa: E402
from tacho_rclpy.work import Work  # noqa: E402

LINES = [line for line in (ROOT / "tests/fixtures/draws.txt").read_text().splitlines() if not line.startswith("#")]


def duration(ns):
    return {"secs": ns // 1_000_000_000, "nanos": ns % 1_000_000_000}


@pytest.mark.parametrize("line", LINES)
def test_a_seed_draws_what_it_draws_in_every_language(line):
    asked, expected = line.split(" = ")
    seed, kind, *parameters = asked.split()
    if kind == "bits":
        draw = Draws(int(seed)).bits
    else:
        first, second = (duration(int(parameter)) for parameter in parameters)
        of = {"min": first, "max": second} if kind == "uniform" else {"mean": first, "std": second}
        draw = Work({kind: of}, int(seed)).draw_ns
    assert [draw() for _ in expected.split()] == [int(value) for value in expected.split()]
