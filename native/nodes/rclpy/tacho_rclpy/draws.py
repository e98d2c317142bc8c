"""Draws numbers by seed with SplitMix64 (Steele, Lea, Flood 2014), as crates/workload/src/random.rs does for nodes
in Rust. tests/fixtures/draws.txt lists what every language must draw."""

import math

_ALL = (1 << 64) - 1


class Draws:
    """A sequence of draws. Only one thread may use it at a time."""

    def __init__(self, seed: int):
        self._state = seed

    def bits(self) -> int:
        """Returns 64 random bits."""
        self._state = self._state + 0x9E3779B97F4A7C15 & _ALL
        z = self._state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _ALL
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _ALL
        return z ^ z >> 31

    def uniform_ns(self, least: int, most: int) -> int:
        """Returns ns between the bounds."""
        return int(float(least) + (float(most) - float(least)) * self._uniform())

    def normal_ns(self, mean: int, std: int) -> int:
        """Returns ns, limited to zero and to mean + 4 std."""
        drawn = float(mean) + float(std) * self._normal()
        return int(min(max(drawn, 0.0), float(mean) + 4.0 * float(std)))

    def _uniform(self) -> float:
        """Returns a number in (0, 1]."""
        return ((self.bits() >> 11) + 1) / (1 << 53)

    def _normal(self) -> float:
        """Returns a standard normal number (Box and Muller 1958)."""
        radius = math.sqrt(-2.0 * math.log(self._uniform()))
        return radius * math.cos(math.tau * self._uniform())
