"""The list of known faults of other people's libraries (known_faults.toml). Run as a program, it prints which ctest tests they may touch."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("known_faults.toml")


@dataclass(frozen=True)
class Fault:
    library: str
    cause: str
    ctest: tuple[str, ...] = ()
    """Names of ctest tests. The fault shows as their timeout."""
    pytest: tuple[str, ...] = ()
    """Node ids of tests, without parameters."""
    shows: str = ""
    """Regular expression that matches the error of a failure with this fault."""

    def __post_init__(self):
        if not (self.library and self.cause and (self.ctest or self.pytest)):
            raise ValueError(f"a fault needs a library, a cause and the tests that it touches: {self}")
        if bool(self.pytest) != bool(self.shows):
            raise ValueError(f"tests of pytest need `shows`, and nothing else does: {self}")
        re.compile(self.shows)

    def is_in(self, test: str, error: str) -> bool:
        """Whether the test of this node id may meet the fault, and this error shows it."""
        return test.partition("[")[0] in self.pytest and re.search(self.shows, error) is not None


def known_faults(file: Path = LIST) -> list[Fault]:
    """Reads the faults of a list. An entry with a missing or unknown key is an error."""
    faults = tomllib.loads(file.read_text())["fault"]
    return [Fault(**{key: tuple(of) if isinstance(of, list) else of for key, of in fault.items()}) for fault in faults]


def ctest_names(faults: list[Fault]) -> str:
    """A regular expression of ctest's that matches the names of these tests and nothing else."""
    return f"^({'|'.join(name for fault in faults for name in fault.ctest)})$"


if __name__ == "__main__":
    print(ctest_names(known_faults()))
