"""What the installed ncu offers: read from its own help, since options and their choices come and go with its version."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from reportgen.evidence.errors import EnvironmentLacks

_TIMEOUT_S = 10.0
_QUERY_TIMEOUT_S = 60.0
_MEND = "install Nsight Compute again"
# `  -o [ --export ] arg (=x)  Set …`: a letter, the name, whether it takes a value and which it has unset.
_OPTION = re.compile(r"^ {1,6}(?:-\w \[ )?(--[\w-]+)(?: \])?(?: \[=[^\]]*\]| arg)?(?: \(=[^)]*\))?(?=\s|$)")
_CHOICE = re.compile(r"^(\s{8,})([a-z][\w-]*)(?:\s+\(default\))?(?:\s*:\s.*)?\s*$")
_METRIC = re.compile(r"^\s*([a-z][a-z0-9]*__\w+)")


@dataclass(frozen=True, slots=True)
class Offered:
    """What one version of ncu offers; an option without listed choices has none in `choices`."""

    version: str
    options: frozenset[str]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def takes(self, option: str, value: str) -> bool:
        """Tell whether ncu has an option, and the value among its choices where it lists them."""
        choices = self.choices.get(option, ())
        return option in self.options and (not choices or value in choices)

    @property
    def release(self) -> tuple[int, int]:
        """Return the year and the number of the version, (0, 0) where it is not known."""
        found = re.match(r"(\d+)\.(\d+)", self.version)
        return (int(found[1]), int(found[2])) if found else (0, 0)


def parse_help(text: str) -> Offered:
    """Read the text of `ncu --help`, whatever its columns; `version` is the one named in it, if any."""
    choices: dict[str, list[str]] = {}
    option, column = "", 0
    for line in text.splitlines():
        if found := _OPTION.match(line):
            option = found[1]
            choices.setdefault(option, [])
            said = line[found.end() :]
            column = len(line) - len(said.lstrip()) if said.strip() else 0
        elif option and (found := _CHOICE.match(line)):
            if len(found[1]) != column:  # at that column the explanation goes on, here with its last word
                choices[option].append(found[2])
        elif not line.strip() or not line.startswith(" "):
            option = ""
    listed = {name: tuple(found) for name, found in choices.items() if found}
    return Offered(parse_version(text), frozenset(choices), listed)


def parse_version(text: str) -> str:
    """Read the text of `ncu --version`; an empty text where it names none."""
    found = re.search(r"\bVersion (\d{4}\.\d+(?:\.\d+)*)", text)
    return found[1] if found else ""


def parse_metrics(text: str) -> tuple[str, ...]:
    """Read the base names of metrics from the text of `ncu --query-metrics`."""
    return tuple(dict.fromkeys(found[1] for line in text.splitlines() if (found := _METRIC.match(line))))


@cache
def offered(ncu: str) -> Offered:
    """Return what the ncu at a path offers, asked once; raises `EnvironmentLacks` where it does not answer."""
    found = parse_help(_ask(ncu, "--help", _TIMEOUT_S))
    if not found.options:
        raise EnvironmentLacks(ncu, "its --help names no option, so it is not Nsight Compute", _MEND)
    return Offered(version(ncu), found.options, found.choices)


def version(ncu: str) -> str:
    """Return the version that the ncu at a path tells, empty where it tells none; raises `EnvironmentLacks`."""
    return parse_version(_ask(ncu, "--version", _TIMEOUT_S))


def metrics(ncu: str) -> Sequence[str]:
    """Return the base names of the metrics that the ncu at a path knows for this GPU; none where it does not say."""
    try:
        return parse_metrics(_ask(ncu, "--query-metrics", _QUERY_TIMEOUT_S))
    except EnvironmentLacks:
        return ()


def _ask(ncu: str, option: str, timeout: float) -> str:
    try:
        ran = subprocess.run([ncu, option], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise EnvironmentLacks(ncu, f"it did not answer {option} within {timeout:g} s", _MEND) from None
    except OSError as error:
        raise EnvironmentLacks(ncu, f"it cannot be run ({error.strerror})", _MEND) from None
    return ran.stdout.decode("utf-8", "replace")
