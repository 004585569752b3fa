"""The command that wraps the worker, what the installed ncu offers, and what its log says; tried with a stand-in for ncu."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from pathlib import Path

import pytest

from reportgen.collect import drive, ncu, ncu_log, ncu_options, scenarios
from reportgen.collect.ncu import Profiling
from reportgen.collect.ncu_log import Known, Problem
from reportgen.collect.ncu_options import Offered, parse_help
from reportgen.collect.plan import Step
from reportgen.evidence.errors import EnvironmentLacks, UserError
from tests.collect import fake_ncu

VERSIONS = ("2022.4", "2025.3", "2026.2")


def offered(version: str = "2025.3") -> Offered:
    return parse_help(fake_ncu.help_text(version))


def command(version: str = "2025.3", **asked: object) -> list[str]:
    profiling = Profiling("ncu", **{"scenario": "default", **asked})  # type: ignore[arg-type]
    return ncu.command(profiling, offered(version), Path("out"), ["python", "x"])


def value(of: list[str], option: str) -> str:
    return of[of.index(option) + 1]


# what is offered


@pytest.mark.parametrize("version", VERSIONS)
def test_a_help_text_tells_version_options_and_choices(version: str) -> None:
    found = offered(version)

    assert found.version.startswith(version)
    assert ".".join(map(str, found.release)) == version
    assert {"--metrics", "--set", "--section", "--nvtx", "--export", "--force-overwrite"} <= found.options
    assert {"kernel", "range", "application"} <= set(found.choices["--replay-mode"])
    assert set(found.choices["--cache-control"]) == {"all", "none"}
    assert ("--graph-profiling" in found.options) == (version != "2022.4")


@pytest.mark.parametrize("column", [36, 40, 60])
def test_the_columns_of_a_help_text_do_not_matter(column: int) -> None:
    wide = " " * column
    text = "\n".join(
        [
            "Version 2099.1.2.0 (build 1)",
            "usage: ncu [options]",
            f"{'  -o [ --export ] arg':{column}}Where the report goes, said in words that",
            f"{wide}go",
            f"{wide}on",
            f"{'  --clock-control arg (=base)':{column}}Two of these:",
            f"{wide}  base",
            f"{wide}  (Lock them)",
            f"{wide}  none (default)",
            f"{'  --app-replay-mode [=arg(=x)] (=x)':{column}}Also inline:",
            f"{wide}  strict   : in order.",
            f"{wide}  relaxed  : --not-an-option",
            "",
            "Other words:",
            f"{wide}  stray",
        ]
    )

    found = parse_help(text)

    assert found.version == "2099.1.2.0"
    assert found.options == {"--export", "--clock-control", "--app-replay-mode"}
    assert found.choices == {"--clock-control": ("base", "none"), "--app-replay-mode": ("strict", "relaxed")}


def test_an_option_without_listed_choices_takes_any_value() -> None:
    assert offered().takes("--import-sass", "no")
    assert offered().takes("--clock-control", "none")
    assert not offered().takes("--clock-control", "full-speed")
    assert not offered("2022.4").takes("--graph-profiling", "node")


def test_the_installed_ncu_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(fake_ncu.install(tmp_path))
    first = ncu_options.offered(path)
    monkeypatch.setenv("FAKE_NCU_HELP", "2022.4")

    assert first.version == "2025.3.1.0"
    assert ncu_options.offered(path) is first
    assert ncu_options.metrics(path) == fake_ncu.METRICS


@pytest.mark.parametrize(
    ("script", "says"), [("exec sleep 60", "did not answer --help"), ("echo hello", "not Nsight"), (None, "be run")]
)
def test_an_ncu_that_does_not_answer_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, says: str
) -> None:
    monkeypatch.setattr(ncu_options, "_TIMEOUT_S", 0.3)
    path = tmp_path / "ncu"
    if script is not None:
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    with pytest.raises(EnvironmentLacks, match=says):
        ncu_options.offered(str(path))
    assert ncu_options.metrics(str(tmp_path / "none")) == ()


# where it is


def test_a_missing_ncu_is_named_with_the_mend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(EnvironmentLacks, match="install Nsight Compute"):
        ncu.find(tmp_path)


def test_ncu_is_found_where_it_is_usually_installed_and_the_newest_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for place in ("2024.3.2", "2025.10.0", "2025.9.1"):
        folder = tmp_path / "opt/nvidia/nsight-compute" / place
        folder.mkdir(parents=True)
        fake_ncu.install(folder)

    assert ncu.find(tmp_path).endswith("2025.10.0/ncu")
    toolkit = tmp_path / "usr/local/cuda/bin"
    toolkit.mkdir(parents=True)
    (toolkit / "ncu").write_text("not executable")
    assert ncu.find(tmp_path).endswith("2025.10.0/ncu")
    fake_ncu.install(toolkit)
    assert ncu.find(tmp_path).endswith("cuda/bin/ncu")
    fake_ncu.install(tmp_path)
    assert ncu.find(tmp_path) == str(tmp_path / "ncu")


# the command


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("scenario", "cache", "clocks"),
    [
        ("default", "all", "none"),
        ("strict", "all", "base"),
        ("continuous", "none", "none"),
        ("continuous-strict", "none", "base"),
    ],
)
def test_a_scenario_is_a_cache_and_a_clock_policy(version: str, scenario: str, cache: str, clocks: str) -> None:
    found = command(version, scenario=scenario)

    assert value(found, "--cache-control") == cache
    assert value(found, "--clock-control") == clocks
    assert found[-2:] == ["python", "x"]


def test_only_ranges_of_reportgen_are_profiled_and_only_in_the_worker() -> None:
    found = command()

    assert value(found, "--nvtx-include") == "regex:reportgen@.+"
    assert value(found, "--target-processes") == "application-only"
    assert value(found, "--export") == "out/report.ncu-rep"


def test_time_and_cycles_are_always_asked_for_and_nothing_twice() -> None:
    found = command(metrics=("gpu__time_duration.sum", "m", "m"))

    assert value(found, "--metrics").split(",") == [*ncu.ALWAYS, "m"]
    assert "--set" not in found


def test_sets_and_sections_are_asked_for_by_name() -> None:
    found = command(metrics=("section:LaunchStats", "m", "set:roofline", "section:Occupancy"))

    assert [found[i + 1] for i, option in enumerate(found) if option == "--section"] == ["LaunchStats", "Occupancy"]
    assert value(found, "--set") == "roofline"
    assert value(found, "--metrics").split(",") == [*ncu.ALWAYS, "m"]
    with pytest.raises(UserError, match="set:NAME"):
        command(metrics=("set:",))


@pytest.mark.parametrize("replay", ["kernel", "range", "application"])
@pytest.mark.parametrize("graphs", ["node", "graph"])
def test_replay_and_graphs_are_as_asked(replay: str, graphs: str) -> None:
    found = command(replay=replay, graphs=graphs)

    assert value(found, "--replay-mode") == replay
    assert value(found, "--graph-profiling") == graphs


def test_code_is_kept_only_when_it_is_asked_for() -> None:
    assert value(command(), "--import-sass") == "no"
    assert value(command(sass="all"), "--import-sass") == "yes"


def test_what_an_older_version_does_without_being_asked_is_left_out() -> None:
    found = command("2022.4")

    assert "--graph-profiling" not in found
    assert "--import-sass" not in found


def test_what_the_version_cannot_do_is_named_with_the_version_and_the_mend() -> None:
    with pytest.raises(EnvironmentLacks, match=r"ncu 2022\.4\.1\.0 has no '--graph-profiling graph'; install a newer"):
        command("2022.4", graphs="graph")
    bare = Offered("2019.1", frozenset({"--metrics"}))
    with pytest.raises(EnvironmentLacks, match=r"--clock-control none"):
        ncu.command(Profiling("ncu", "default"), bare, Path("out"), [])
    no_ranges = Offered("2020.1", offered().options, {"--replay-mode": ("kernel", "application")})
    with pytest.raises(EnvironmentLacks, match=r"--replay-mode range"):
        ncu.command(Profiling("ncu", "default", replay="range"), no_ranges, Path("out"), [])


def test_an_unknown_scenario_names_the_known_ones() -> None:
    with pytest.raises(UserError, match="default, strict, continuous, continuous-strict"):
        command(scenario="warm")


# scenarios


def test_each_backend_has_the_scenarios_that_it_can_keep_to() -> None:
    assert scenarios.of_backend("ncu") == scenarios.names()
    assert scenarios.of_backend("cupti") == scenarios.names()
    assert scenarios.of_backend("torch") == ("continuous",)


@pytest.mark.parametrize(
    ("asked", "admin", "held", "says"),
    [
        ("", True, False, ""),
        ("", False, True, ""),
        ("", False, False, "may not set the GPU's clocks"),
        ("leave", True, True, "the owner asks that clocks are left alone (REPORTGEN_CLOCKS=leave)"),
        ("lock", True, True, "REPORTGEN_CLOCKS is 'lock'"),
    ],
)
def test_clocks_are_set_only_where_that_is_allowed(asked: str, admin: bool, held: bool, says: str) -> None:
    reason = scenarios.why_not_lockable(asked, lambda: admin, lambda: held)

    assert says in reason
    assert bool(says) == bool(reason)


def test_the_owner_says_by_the_environment_that_clocks_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(scenarios.CLOCKS, "leave")
    assert "left alone" in scenarios.clocks_lockable()


@pytest.mark.parametrize(("capabilities", "admin"), [("000001ffffffffff", True), ("00000000a80425fb", False)])
def test_root_without_the_capability_is_no_administrator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capabilities: str, admin: bool
) -> None:
    status = tmp_path / "status"
    status.write_text(f"Name:\tpython\nCapEff:\t{capabilities}\n")
    monkeypatch.setattr(scenarios, "_STATUS", status)

    assert scenarios.is_admin() is admin


# what the log says

CHILD = "training step 1\n"
CONNECTED = fake_ncu.CONNECTED


@pytest.mark.parametrize(
    ("log", "state", "says"),
    [
        (
            "==ERROR== ERR_NVGPUCTRPERM - may not\n==WARNING== No kernels were profiled.\n",
            "not permitted",
            "NVreg_Rest",
        ),
        (
            "==ERROR== Cuda driver is not compatible with Nsight Compute.\n",
            "dropped",
            "driver (570.1) is too old for ncu",
        ),
        ("==ERROR== x does not support the current driver version\n", "dropped", "install an older Nsight Compute"),
        ("==ERROR== Profiling failed because a driver resource was unavailable.\n", "dropped", "nv-hostengine runs"),
        ("==ERROR== ERR_NVGPUCTR_BUSY\n", "dropped", "dcgmi profile --pause"),
        ("==ERROR== Failed to find metric dram__bytes_raed.sum\n", "dropped", "did you mean dram__bytes_read.sum"),
        ("==ERROR== Failed to find metric regex:^dram__bytes_raed\\.(sum|avg)$\n", "dropped", "mean dram__bytes_read"),
        ("==ERROR== Failed to find metric dram__bytes_read.summ\n", "dropped", "did you mean dram__bytes_read.sum or"),
        ("==ERROR== Failed to find metric zzz__nothing.sum\n", "dropped", "`ncu --query-metrics` lists"),
        (
            "==ERROR== Failed to access the following 2 metrics: a__b.sum, c__d.sum\n",
            "dropped",
            "'a__b.sum', 'c__d.sum'",
        ),
        ("==WARNING== Metric dram__x.sum not available\n", "dropped", "does not have the metric 'dram__x.sum'"),
        ("==ERROR== Option '--section Nope' did not match any section.\n", "dropped", "`ncu --list-sections`"),
        ("==ERROR== Option '--set nope' did not match any set.\n", "dropped", "no set 'nope'; `ncu --list-sets`"),
        ("==ERROR== Profiling is not supported on device 0.\n", "dropped", "ncu (2025.3) does not support this GPU"),
        ("==ERROR== Profiling is not supported on device 0 as it uses (WSL)\n", "dropped", "under WSL"),
        ("==ERROR== cannot write: No space left on device\n", "dropped", "make room, and go on with --resume"),
        ("==ERROR== InterprocessLockFailed\n", "dropped", "TMPDIR"),
        (f"{CHILD}==ERROR== The application returned an error code (9).\n", "dropped", "it last said: training step 1"),
        (f"{CONNECTED}==WARNING== No kernels were profiled.\n", "dropped", "saw no kernel within a measured region"),
        (
            f"{CONNECTED}==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. k\n",
            "dropped",
            "kernels, but none",
        ),
        ("==WARNING== No kernels were profiled.\n", "dropped", "did not use the GPU"),
        (
            "==WARNING== No kernels were profiled.\n==WARNING== Profiling kernels launched by child processes requires x\n",
            "dropped",
            "processes of its own",
        ),
        ("==PROF== x\n==ERROR== something   new\n", "dropped", "ncu: something new"),
        ("", "dropped", "left no report"),
    ],
)
def test_a_missing_report_has_a_reason(log: str, state: str, says: str) -> None:
    known = Known("2025.3", "570.1", "nv-hostengine", lambda: fake_ncu.METRICS)

    found, reason = ncu_log.why_no_report(log, known)

    assert found == state
    assert says in reason
    assert "\n" not in reason


def test_metrics_are_asked_for_only_when_one_is_unknown() -> None:
    def never() -> tuple[str, ...]:
        raise AssertionError

    assert ncu_log.why_no_report("==ERROR== x", Known(metrics=never)) == ("dropped", "ncu: x")


def test_what_went_wrong_beside_a_report_is_told_once_each() -> None:
    log = (
        "==WARNING== Note: Running with unmodified GPU clocks.\n"
        "==ERROR== LaunchFailed\n"
        '==ERROR== Failed to profile "k" in process 7\n==ERROR== Failed to profile "k" in process 8\n'
        "suite: ==ERROR== not ncu's\n"
    )
    many = "".join(f"==WARNING== {chr(97 + n)} is slow\n" for n in range(25))

    assert ncu_log.problems(log) == (
        Problem("ncu: LaunchFailed", loss=True),
        Problem('ncu: Failed to profile "k" (2 times)', loss=True),
    )
    assert len(ncu_log.problems(many)) == 21
    assert ncu_log.problems(many)[-1] == Problem("ncu: 5 more; see the log", loss=False)
    assert ncu_log.problems(many + "==ERROR== x\n")[-1] == Problem("ncu: 6 more; see the log", loss=True)
    assert ncu_log.problems("") == ()


def test_complaints_that_differ_in_names_and_numbers_are_one_kind() -> None:
    log = '==ERROR== Failed to profile "a" at 3\n==ERROR== Failed to profile "b" at 4\n==ERROR== Failed to profile "a" at 3\n'

    assert ncu_log.problems(log) == (Problem('ncu: Failed to profile "a" at 3 (and 2 like it)', loss=True),)


@pytest.mark.parametrize(
    ("said", "loss"),
    [
        ("WARNING== Unable to access the following 6 metrics: ctc__rx_bytes_data_user.sum.", True),
        ("WARNING== Metric dram__x.sum not available", True),
        ("WARNING== Some metrics were not collected.", True),
        ("WARNING== Profiling kernels launched by child processes requires the --target-processes all option.", True),
        ("WARNING== Skipped a kernel.", True),
        ("ERROR== LaunchFailed", True),
        ("WARNING== Backing up device memory in system memory. Kernel replay might be slow.", False),
        ("WARNING== Launching the workload is taking more time than expected.", False),
        ("WARNING== Found outstanding GPU clock reset, trying to revert...Success.", False),
    ],
)
def test_a_complaint_is_a_loss_where_evidence_is_not_there(said: str, *, loss: bool) -> None:
    (found,) = ncu_log.problems(f"=={said}\n")

    assert found == Problem(f"ncu: {said.partition('== ')[2]}", loss)


@pytest.mark.parametrize("note", ["Running with unmodified GPU clocks.", "Running with uncontrolled GPU caches."])
def test_what_the_scenario_has_told_is_no_complaint(note: str) -> None:
    assert ncu_log.problems(f"==WARNING== Note: {note} Profiling results may be inconsistent.\n") == ()


# the whole road, with the stand-in

SUITE = '''"""A suite that needs no GPU."""
from reportgen.suite import annotate, benchmark

@benchmark(configs=[{"n": 1}], runs=2, warmup=0, scenarios=["strict"])
def nothing(n):
    with annotate("a"):
        pass
'''


@pytest.fixture
def profiling(tmp_path: Path) -> Profiling:
    folder = tmp_path / "bin"
    folder.mkdir()
    return Profiling(str(fake_ncu.install(folder)), "strict", ("dram__bytes_raed.sum",))


def test_a_strict_step_locks_the_clocks_and_leaves_a_report(
    tmp_path: Path, profiling: Profiling, monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = tmp_path / "fakes"
    fakes.mkdir()
    (fakes / "torch.py").write_text(
        "class version: cuda = '13.0'\n"
        "class device: multi_processor_count, L2_cache_size = 132, 1\n"
        "class cuda:\n    synchronize = staticmethod(lambda: None)\n"
        "    get_device_properties = staticmethod(lambda index: device)\n"
    )
    (fakes / "nvtx.py").write_text(
        "def start_range(message, domain):\n    print('range', domain, message)\ndef end_range(r):\n    pass\n"
    )
    monkeypatch.syspath_prepend(fakes)
    suite, folder = tmp_path / "mine.py", tmp_path / "step"
    suite.write_text(SUITE)
    folder.mkdir()
    plan = drive.plan(suite, quick=False)
    wrap = partial(ncu.command, profiling, ncu_options.offered(profiling.ncu), folder)

    drive.measure(Step("ncu", "strict", 0), suite, plan, "", "rounds", folder, 60, wrap)

    asked = json.loads((folder / "asked.json").read_text())
    log = (folder / drive.LOG).read_text()
    assert value(asked, "--clock-control") == "base"
    assert value(asked, "--cache-control") == "all"
    assert (folder / ncu.REPORT).is_file()
    assert log.count("range reportgen a|") == 2
    assert ncu_log.problems(log) == ()


@pytest.mark.parametrize(
    ("behaviour", "state", "says"),
    [
        ("permission", "not permitted", "ERR_NVGPUCTRPERM"),
        ("driver", "dropped", "too old for ncu"),
        ("dcgm", "dropped", "counters are taken"),
        ("metric", "dropped", "did you mean dram__bytes_read"),
        ("no kernels", "dropped", "no kernel within a measured region"),
    ],
)
def test_each_way_in_which_ncu_refuses_is_explained(
    tmp_path: Path, profiling: Profiling, monkeypatch: pytest.MonkeyPatch, behaviour: str, state: str, says: str
) -> None:
    monkeypatch.setenv("FAKE_NCU", behaviour)
    whole = ncu.command(profiling, ncu_options.offered(profiling.ncu), tmp_path, ["true"])

    ran = subprocess.run(whole, capture_output=True, text=True, check=False)

    found, reason = ncu_log.why_no_report(ran.stdout, Known(metrics=partial(ncu_options.metrics, profiling.ncu)))
    assert not (tmp_path / ncu.REPORT).exists()
    assert (found, says in reason) == (state, True)
