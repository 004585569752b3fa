"""Provenance: one fact for each key, and nothing missing without a reason."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.evidence import provenance
from reportgen.evidence.errors import BundleError
from reportgen.evidence.provenance import KEYS, Fact, Key, Provenance, from_facts, from_json, to_json
from tests.evidence.making import facts

ASKED = [
    "gpu.name",
    "gpu.uuid",
    "gpu.count",
    "gpu.compute_capability",
    "gpu.sm_count",
    "gpu.memory_bytes",
    "gpu.bus_width_bits",
    "gpu.l2_bytes",
    "gpu.ecc",
    "gpu.mig",
    "gpu.vbios",
    "gpu.pcie",
    "gpu.power_limit_w",
    "gpu.persistence",
    "clocks.sm_rated_hz",
    "clocks.memory_rated_hz",
    "clocks.sm_observed_hz",
    "clocks.memory_observed_hz",
    "power.before_w",
    "power.during_w",
    "power.after_w",
    "temperature.before_c",
    "temperature.during_c",
    "temperature.after_c",
    "throttle.before",
    "throttle.during",
    "throttle.after",
    "versions.driver",
    "versions.cuda",
    "versions.ncu",
    "versions.ncu_report",
    "versions.cupti",
    "versions.cupti_python",
    "versions.torch",
    "versions.triton",
    "versions.python",
    "versions.reportgen",
    "policy.cache",
    "policy.clocks",
    "policy.replay",
    "policy.flush_bytes",
    "policy.flush_granularity",
    "policy.heat",
    "policy.thermal",
    "policy.counters_permitted",
    "host.cpu",
    "host.cores",
    "host.memory_bytes",
    "host.kernel",
    "host.os",
    "host.container",
    "host.numa",
    "suite.git_commit",
    "suite.git_dirty",
    "command.profiler",
    "command.reportgen",
    "collection.start",
    "collection.end",
    "collection.duration_s",
]


class TestKeys:
    def test_all_that_the_design_asks_for_is_there(self) -> None:
        assert set(ASKED) <= {key.name for key in KEYS}

    def test_names_are_distinct_and_well_formed(self) -> None:
        assert len({key.name for key in KEYS}) == len(KEYS)
        assert all(re.fullmatch(r"[a-z]+\.[a-z0-9_]+", key.name) and key.label for key in KEYS)

    def test_the_seven_groups_stand_in_order(self) -> None:
        groups = list(dict.fromkeys(key.group for key in KEYS))
        assert groups == [
            *("GPU", "Clocks and power", "Software", "Measurement policy", "Host", "Suite and source", "Collection")
        ]
        assert [key.group for key in KEYS] == sorted((key.group for key in KEYS), key=groups.index)

    def test_what_names_a_person_or_a_machine_is_sensitive(self) -> None:
        assert {key.name for key in KEYS if key.sensitive} == {
            *("gpu.uuid", "gpu.serial", "host.name", "host.user", "host.addresses"),
            *("command.profiler", "command.reportgen"),
        }

    def test_another_name_is_of_the_group_other(self) -> None:
        assert provenance.key_of("my.own") == Key("my.own", "my.own", "Other")
        assert provenance.key_of("gpu.name").group == "GPU"


class TestFact:
    @pytest.mark.parametrize(
        ("value", "reason", "what"),
        [
            (None, "", "needs a reason"),
            (float("nan"), "", "finite"),
            (float("inf"), "", "finite"),
            (["a"], "", "not <class 'list'>"),
        ],
    )
    def test_a_fact_without_sense_is_refused(self, value: provenance.Value, reason: str, what: str) -> None:
        with pytest.raises(ValueError, match=what):
            Fact(value, reason)

    @pytest.mark.parametrize(
        ("fact", "recorded", "text"),
        [
            (Fact(None, "no NVML"), False, "not recorded"),
            (Fact("withheld", "public", withheld=True), False, "withheld"),
            (Fact(132), True, "132"),
            (Fact(False), True, "no"),
            (Fact(True), True, "yes"),
            (Fact("H200"), True, "H200"),
            (Fact(0), True, "0"),
        ],
    )
    def test_its_text(self, fact: Fact, recorded: bool, text: str) -> None:
        assert (fact.recorded, fact.text) == (recorded, text)


class TestFromFacts:
    def test_every_key_is_there_with_a_value_or_a_reason(self) -> None:
        made = from_facts(
            {"gpu.name": "H200", "gpu.ecc": Fact(True, "", "NVML"), "my.own": 1, "gpu.mig": None}, "no", "X"
        )
        assert set(made.facts) == {key.name for key in KEYS} | {"my.own"}
        assert made.get("gpu.name") == Fact("H200", "", "X")
        assert made.get("gpu.ecc") == Fact(True, "", "NVML")
        assert made.get("gpu.mig") == made.get("gpu.vbios") == Fact(None, "no")
        assert made.get("my.own") == Fact(1, "", "X")
        assert all(fact.value is not None or fact.reason for fact in made.facts.values())

    def test_groups_in_the_order_of_a_page(self) -> None:
        groups = from_facts({"z.last": 1, "a.first": 2}, "no").groups()
        assert [name for name, _ in groups][-2:] == ["Collection", "Other"]
        assert [key.name for key, _ in groups[-1][1]] == ["a.first", "z.last"]
        assert groups[0][1][0][0].name == "gpu.name"
        assert sum(len(rows) for _, rows in groups) == len(KEYS) + 2

    def test_an_older_bundle_lacks_a_key_for_a_reason(self) -> None:
        assert Provenance({}).get("gpu.name").reason
        assert len(Provenance({}).groups()) == 7


VALUES = st.one_of(st.text(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans())


class TestJson:
    @given(st.dictionaries(st.sampled_from([*ASKED, "my.own", "ä"]), st.builds(Fact, VALUES, st.text(), st.text())))
    def test_comes_back_exactly(self, known: dict[str, Fact]) -> None:
        made = from_facts(known, "no")
        again = from_json(to_json(made))
        assert again == made
        assert list(again.facts) == list(made.facts)
        assert to_json(again) == to_json(made)
        assert [type(fact.value) for fact in again.facts.values()] == [type(fact.value) for fact in made.facts.values()]

    def test_is_pretty_sorted_and_versioned(self) -> None:
        data = to_json(facts())
        whole = json.loads(data)
        assert whole["format"] == 1
        assert list(whole["facts"]) == sorted(whole["facts"])
        assert data.endswith(b"}\n")
        assert data.count(b"\n") > len(KEYS)
        assert whole["facts"]["suite.git_dirty"] == {"value": False, "reason": "", "origin": "matmul.ncu-rep session"}

    @pytest.mark.parametrize(
        ("data", "what"),
        [
            (b"\xff", "is not JSON"),
            (b"{", "is not JSON"),
            (b"[]", "not a JSON object"),
            (b'{"format": 1, "format": 1, "facts": {}}', "a key stands twice"),
            (b'{"facts": {}}', "has no format version"),
            (b'{"format": true, "facts": {}}', "has no format version"),
            (b'{"format": 0, "facts": {}}', "has no format version"),
            (b'{"format": 1}', "does not hold 'format' and 'facts'"),
            (b'{"format": 1, "facts": {}, "more": 1}', "does not hold 'format' and 'facts'"),
            (b'{"format": 1, "facts": []}', "does not hold 'format' and 'facts'"),
            (b'{"format": 1, "facts": {"a.b": 1}}', "'a.b' does not hold"),
            (b'{"format": 1, "facts": {"a.b": {"value": 1, "reason": ""}}}', "'a.b' does not hold"),
            (b'{"format": 1, "facts": {"a.b": {"value": NaN, "reason": "", "origin": ""}}}', "NaN is not JSON"),
            (b'{"format": 1, "facts": {"a.b": {"value": 1e999, "reason": "", "origin": ""}}}', "'a.b': .*finite"),
            (
                b'{"format": 1, "facts": {"a.b": {"value": null, "reason": "", "origin": ""}}}',
                "'a.b': .*needs a reason",
            ),
            (b'{"format": 1, "facts": {"a.b": {"value": [], "reason": "", "origin": ""}}}', "'a.b': a fact's value"),
            (b'{"format": 1, "facts": {"a.b": {"value": 1, "reason": 0, "origin": ""}}}', "'a.b': reason and origin"),
            (
                b'{"format": 1, "facts": {"a.b": {"value": 1, "reason": "", "origin": "", "withheld": 1}}}',
                "'a.b': withheld must be",
            ),
        ],
    )
    def test_a_damaged_file_names_the_key(self, data: bytes, what: str) -> None:
        with pytest.raises(BundleError, match=what) as caught:
            from_json(data, "b/data/provenance.json")
        assert caught.value.path == "b/data/provenance.json"

    def test_a_deep_nest_is_no_crash(self) -> None:
        with pytest.raises(BundleError, match="is not JSON"):
            from_json(b'{"a":' * 100_000)

    def test_a_newer_format_says_so(self) -> None:
        with pytest.raises(BundleError, match=r"needs reportgen with bundle format 2; this is .*, which opens up to 1"):
            from_json(b'{"format": 2, "anything": 1}')


def test_the_keys_that_readers_state_are_known() -> None:
    """A reader's misspelt key would land in `Other`, where the public tier withholds it."""
    known = {key.name for key in KEYS}
    groups = {name.split(".")[0] for name in known}
    for path in sorted((Path(provenance.__file__).parents[1] / "readers").glob("*.py")):
        stated = re.findall(r'"([a-z]+\.[a-z0-9_]+)"', path.read_text(encoding="utf-8"))
        assert {name for name in stated if name.split(".")[0] in groups} <= known, path.name
