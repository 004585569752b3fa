import pytest

from reportgen.readers import names

MANGLED = "_ZN7cutlass7Kernel2I43cutlass_80_simt_sgemm_256x128_8x4_nn_align1EEvNT_6ParamsE"


@pytest.mark.skipif(not names._functions(), reason="no C++ library with a demangler here")
def test_a_mangled_name_is_demangled_with_its_arguments() -> None:
    assert names.demangle(MANGLED) == (
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>"
        "(cutlass_80_simt_sgemm_256x128_8x4_nn_align1::Params)"
    )


@pytest.mark.parametrize("name", ["", "Kernel2", "_Z", "_Znonsense!", "_Zµ", "_Z1f\0v", "_Z" + "N" * 100_000])
def test_what_cannot_be_demangled_stays_as_it_is(name: str) -> None:
    assert names.demangle(name) == name


def test_without_a_library_the_name_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_functions", lambda: ())
    names.demangle.cache_clear()
    assert names.demangle(MANGLED) == MANGLED
    names.demangle.cache_clear()


def test_a_library_that_is_not_there_is_no_error() -> None:
    assert names._load("libnothing-of-the-kind.so.9") is None
