"""Kernel names: CUPTI gives them mangled, people read them demangled."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from functools import lru_cache

# libstdc++ keeps its working memory on the stack, in proportion to the name.
_LONGEST = 16384
_LIBRARIES = ("libstdc++.so.6", "libc++abi.so.1", "libc++.1.dylib")


@lru_cache(maxsize=16384)
def demangle(name: str) -> str:
    """Return `name` demangled, or as it stands if it is not mangled or cannot be demangled here."""
    if not name.startswith("_Z") or len(name) > _LONGEST or not name.isascii() or "\0" in name:
        return name
    for function in _functions():
        found = function(name)
        if found:
            return found
    return name


def is_mangled(name: str) -> bool:
    """Tell whether `name` is a mangled C++ name."""
    return name.startswith("_Z")


@lru_cache(maxsize=1)
def _functions() -> tuple[Callable[[str], str | None], ...]:
    """Load every demangler of this machine: libstdc++ gives up on names that LLVM's can read."""
    names = [*_LIBRARIES, *filter(None, (ctypes.util.find_library(n) for n in ("stdc++", "c++abi")))]
    found = [_load(name) for name in dict.fromkeys(names)]
    return tuple(f for f in found if f is not None)


def _load(library: str) -> Callable[[str], str | None] | None:
    try:
        call = getattr(ctypes.CDLL(library), "__cxa_demangle")
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError):
        return None
    call.restype = ctypes.c_void_p
    call.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    free.restype = None
    free.argtypes = [ctypes.c_void_p]

    def function(name: str) -> str | None:
        status = ctypes.c_int(-1)
        pointer = call(name.encode("ascii"), None, None, ctypes.byref(status))
        if not pointer:
            return None
        try:
            return ctypes.string_at(pointer).decode("utf-8", "replace") if status.value == 0 else None
        finally:
            free(pointer)

    return function
