"""Our own source files stay short enough to read: files of at most 500 lines, Rust of at most 120 columns."""

import subprocess

from places import ROOT

LONGEST_FILE = 500
LONGEST_RUST_LINE = 120
SOURCES = ("rs", "c", "h", "cpp", "hpp", "py", "ts", "css", "sh", "cmake", "yaml", "toml", "md")
# Generated files, and a trace's metadata as it was recorded.
NOT_WRITTEN_BY_HAND = ("web/src/shapes/", "python/tachograph/_tables.py")


def sources(*endings):
    """Paths and lines of the files with one of these endings that git knows."""
    patterns = [f"*.{ending}" for ending in endings]
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=True)
    names = [name for name in listed.stdout.decode().split("\0") if name]
    # A file may have been removed, but not yet from the index.
    present = [name for name in names if (ROOT / name).is_file()]
    assert present, f"no file of {patterns} is found"
    for name in present:
        if not name.startswith(NOT_WRITTEN_BY_HAND):
            yield name, (ROOT / name).read_text().split("\n")


def test_no_file_has_more_than_500_lines():
    long = {name: len(lines) - 1 for name, lines in sources(*SOURCES) if len(lines) - 1 > LONGEST_FILE}
    assert not long, f"more than {LONGEST_FILE} lines: {long}"


def test_no_line_of_rust_is_longer_than_120_columns():
    """rustfmt leaves a line as it is if a string in it does not fit; a backslash at the line's end breaks the string."""
    long = [
        f"{name}:{number}"
        for name, lines in sources("rs")
        for number, line in enumerate(lines, 1)
        if len(line) > LONGEST_RUST_LINE
    ]
    assert not long, f"longer than {LONGEST_RUST_LINE} columns: {', '.join(long)}"
