"""The public tier names no person, no machine, no path and no command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reportgen.evidence import bundle, provenance, redaction, tables
from reportgen.evidence.bundle import open_bundle
from reportgen.evidence.errors import BundleError
from reportgen.evidence.provenance import KEYS, Fact, from_facts
from reportgen.evidence.redaction import public_provenance, published, redact, scrub
from tests.evidence.making import facts, info, make, table

SECRETS = (
    *("build-node-17", "ada", "192.0.2.2", "fd00::2", "fe80::fc:ff:fe00:1", "01234567-89ab", "/home", "ncu -o"),
    "wl.py",
)


class TestProvenance:
    def test_what_is_sensitive_is_withheld_and_the_rest_stays(self) -> None:
        public = public_provenance(facts())
        for key in KEYS:
            before, after = facts().get(key.name), public.get(key.name)
            if key.sensitive and before.recorded:
                assert (after.value, after.withheld, after.text, after.origin) == ("withheld", True, "withheld", "")
            else:
                assert after == before
        assert public.get("gpu.name").value == "NVIDIA H200"
        assert public.get("versions.ncu").value == "2025.3.1.0"

    def test_withheld_is_not_not_recorded(self) -> None:
        public = public_provenance(facts())
        assert public.get("host.name").text == "withheld"
        assert public.get("gpu.serial").text == "not recorded"
        assert not public.get("gpu.serial").withheld
        assert provenance.from_json(provenance.to_json(public)) == public

    def test_no_secret_is_left_anywhere(self) -> None:
        known = {name: fact for name, fact in facts().facts.items() if fact.recorded}
        leaky = from_facts(
            {
                **known,
                "host.os": Fact("Linux build-node-17 6.8.0", "", "read from /home/ada/session.txt"),
                "gpu.mig": Fact(None, "GPU-01234567-89ab-cdef-0123-456789abcdef did not answer 192.0.2.2"),
                "import.files": "/home/ada/matmul.ncu-rep",
                "versions.torch": "2.11 from /home/ada/torch",
                "versions.cupti": "12.4.127.0",
                "my.own": "ada's own machine",
            },
            "could not read ~/ada/notes",
        )
        text = provenance.to_json(public_provenance(leaky)).decode()
        assert not [secret for secret in SECRETS if secret in text]
        assert "Linux withheld 6.8.0" in text
        assert "12.4.127.0" in text
        assert "2.11 from withheld" in text

    def test_an_unknown_key_is_withheld(self) -> None:
        public = public_provenance(from_facts({"my.own": "x"}, "no"))
        assert public.get("my.own").withheld


class TestScrub:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("cannot open /home/ada/x.py: no", "cannot open withheld: no"),
            ("'/tmp/share/matmul'", "'withheld'"),
            ("in ~/work-x", "in withheld"),
            (r"C:\Users\ada\x.txt is gone", "withheld is gone"),
            ("at 192.0.2.2.", "at withheld."),
            ("192.0.2.2, fd00::2, fe80::fc:ff:fe00:1%eth0", "withheld, withheld, withheld"),
            ("GPU-01234567-89ab-cdef-0123-456789abcdef", "withheld"),
            ("--out=/data/x", "--out=withheld"),
        ],
    )
    def test_what_is_withheld(self, text: str, expected: str) -> None:
        assert scrub(text) == expected

    @pytest.mark.parametrize(
        "text",
        [
            "3.35 TB/s and 12 GB/s",
            "and/or n/a",
            "RmProfilingAdminOnly in /proc/driver/nvidia/params",
            "at 21:10:06 on 2026-11-30",
            "ncu 2025.3.1.0",
            "at::native::vectorized_elementwise_kernel<4, float>",
            "data/import/m.ncu-rep#0/3",
            "https://example.org/docs",
            "a / b",
            "cutlass::Kernel",
            "::operator()",
        ],
    )
    def test_what_stays(self, text: str) -> None:
        assert scrub(text) == text


@pytest.mark.parametrize(
    ("path", "how"),
    [
        ("data/import/matmul.ncu-rep", "withheld"),
        ("data/import/raw.csv", "withheld"),
        ("data/import/bundle.json", "withheld"),
        ("data/ncu/default/0/report.ncu-rep", "withheld"),
        ("data/ncu/default/0/report.ncu-repz", "withheld"),
        ("data/ncu/default/0/command.json", "withheld"),
        ("data/ncu/default/0/log.txt", "withheld"),
        ("data/ncu/default/0/runs.jsonl", "withheld"),
        ("data/cupti/default/0/log.txt", "withheld"),
        ("data/torch/default/0/trace.json", "withheld"),
        ("data/anything/else", "withheld"),
        ("data/suite/report.ncu-rep", "withheld"),
        ("data/cupti/default/0/activity.csv", "as is"),
        ("data/suite/matmul.py", "as is"),
        ("bagit.txt", "as is"),
        ("bag-info.txt", "as is"),
        ("manifest-sha256.txt", "as is"),
        ("tagmanifest-sha256.txt", "as is"),
        ("data/bundle.json", "redacted"),
        ("data/provenance.json", "redacted"),
        ("data/samples/ncu/default/raw.csv", "redacted"),
        ("data/samples/ncu/default/raw.csv.zst", "redacted"),
        ("data/samples/ncu/default/constants.csv", "redacted"),
        ("data/samples/ncu/default/processed.csv", "redacted"),
        ("data/samples/ncu/default/other.csv", "withheld"),
        ("data/samples/raw.csv", "withheld"),
    ],
)
def test_how_each_file_is_published(path: str, how: str) -> None:
    assert published(path) == how


class TestRedact:
    def test_no_secret_is_left_in_what_a_bundle_publishes(self, tmp_path: Path) -> None:
        failed = {"state": "failed", "reason": "no /home/ada/wl.py on 192.0.2.2", "value": None}
        opened = open_bundle(make(tmp_path, samples=table([{}, failed]), info=info(losses=("lost /home/ada/x",))))
        for file in opened.files():
            if published(file.path) == "withheld":
                continue
            shown = redact(file.path, opened.read(file.path)) if file.path != bundle.TAG_MANIFEST else b""
            assert not [secret for secret in SECRETS if secret in shown.decode()], file.path

    def test_the_host_column_is_withheld_and_all_else_stays(self) -> None:
        data = b'Annotation,AvgValue,Host\n"a,b",1.50,vm\nc,,\n'
        name = "data/samples/ncu/default/processed.csv"
        assert redact(name, data) == b'Annotation,AvgValue,Host\n"a,b",1.50,withheld\nc,,\n'
        packed = redact(name + ".zst", tables.compress(data))
        assert tables.inflate(packed, name) == redact(name, data)

    @pytest.mark.parametrize("heads", ["reason,value,reason", "REASON,value,Text"])
    def test_private_words_are_withheld_whatever_their_column_s_case_and_where_it_stands_twice(
        self, heads: str
    ) -> None:
        data = f"{heads}\nfile /home/ada/wl.py is gone,1,/home/ada\nfine,2,/home/bob\n".encode()
        shown = redact("data/samples/ncu/default/raw.csv", data)
        assert b"/home" not in shown
        assert shown.startswith(heads.encode() + b"\n")
        assert shown.count(b"withheld") == 3

    def test_only_a_processed_table_has_a_host(self) -> None:
        data = b"Host\nx\n"
        assert redact("data/samples/ncu/default/raw.csv", data) == data

    def test_what_holds_nothing_private_is_the_same_bytes(self, tmp_path: Path) -> None:
        opened = open_bundle(make(tmp_path))
        for name in (
            "data/samples/ncu/default/raw.csv",
            "data/samples/ncu/default/constants.csv",
            "data/suite/matmul.py",
        ):
            assert redact(name, opened.read(name)) == opened.read(name)

    def test_a_plan_keeps_what_says_how_it_was_measured(self, tmp_path: Path) -> None:
        opened = open_bundle(make(tmp_path))
        shown = redact(bundle.INFO, opened.read(bundle.INFO))
        assert json.loads(shown)["plan"] == {"runs": 5, "metrics": ["gpu__time_duration.sum"], "cwd": "withheld"}
        assert bundle.info_from_json(shown).title == opened.info.title

    def test_a_path_in_a_plan_is_withheld(self) -> None:
        data = bundle.info_to_json(info(plan={"select": {"/home/ada/a": ["x", "/home/ada/b", 1]}}))
        assert json.loads(redact(bundle.INFO, data))["plan"] == {"select": {"withheld": ["x", "withheld", 1]}}

    def test_a_withheld_file_is_never_given_out(self) -> None:
        with pytest.raises(ValueError, match="withheld as a whole"):
            redact("data/import/matmul.ncu-rep", b"")

    @pytest.mark.parametrize(
        "path",
        [bundle.INFO, bundle.PROVENANCE, "data/samples/a/b/raw.csv", "data/samples/a/b/raw.csv.zst"],
    )
    def test_a_damaged_file_is_an_error_and_never_published_as_it_is(self, path: str) -> None:
        with pytest.raises(BundleError):
            redact(path, b'\xff"')


def test_the_public_tier_is_named() -> None:
    assert redaction.TIERS == ("full", "public")
