"""A plugin of pytest. It runs a test again that has met a known fault of another library, and fails the session if
anything else was run again."""

import pytest
from _pytest.runner import runtestprotocol
from known_faults import Fault, known_faults

RUNS_MAX = 3
"""Most runs of one test; the last of them counts, whatever its result."""


def pytest_configure(config):
    config.pluginmanager.register(Reruns(known_faults()))


class Reruns:
    """Reports of runs that met a known fault have the outcome "rerun" and name the library as `known_fault`."""

    def __init__(self, faults: list[Fault]):
        self.faults = faults
        self.excused: list[pytest.TestReport] = []
        self.unlisted: list[pytest.TestReport] = []

    def library_at_fault(self, report: pytest.TestReport) -> str | None:
        # Only the error: the whole text contains the lines of the test, too, which may name the fault.
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash else ""
        return next((fault.library for fault in self.faults if fault.is_in(report.nodeid, text)), None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if not any(item.nodeid.partition("[")[0] in fault.pytest for fault in self.faults):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for left in reversed(range(RUNS_MAX)):
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
            failed = [report for report in reports if report.failed]
            libraries = [self.library_at_fault(report) for report in failed]
            again = bool(left and failed and all(libraries))
            if again:
                for report, library in zip(failed, libraries):
                    report.outcome, report.known_fault = "rerun", library
            for report in failed if again else reports:
                item.ihook.pytest_runtest_logreport(report=report)
            if not again:
                break
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_runtest_logreport(self, report):
        if report.outcome == "rerun":
            (self.excused if hasattr(report, "known_fault") else self.unlisted).append(report)

    def pytest_report_teststatus(self, report):
        if report.outcome == "rerun" and hasattr(report, "known_fault"):
            return "known fault", "R", ("KNOWN FAULT", {"yellow": True})

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        if self.unlisted:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for report in self.excused:
            terminalreporter.section(f"met a known fault of {report.known_fault}: {report.nodeid}")
            terminalreporter.line(report.longreprtext)
        for report in self.unlisted:
            terminalreporter.line(
                f"{report.nodeid} was run again, and no known fault (tests/known_faults.toml) excuses that", red=True
            )
