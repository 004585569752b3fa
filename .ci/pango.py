"""Say whether the system libraries that WeasyPrint draws PDFs with are there, and how to install them if not.

Needs nothing but Python, since it runs before anything is installed. Exit code 3 when something is missing.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys

LIBRARIES = {
    "Pango": ("pango-1.0", "libpango-1.0.so.0", "libpango-1.0.dylib"),
    "PangoFT2": ("pangoft2-1.0", "libpangoft2-1.0.so.0", "libpangoft2-1.0.dylib"),
    "HarfBuzz": ("harfbuzz", "libharfbuzz.so.0", "libharfbuzz.0.dylib"),
    "HarfBuzz subset": ("harfbuzz-subset", "libharfbuzz-subset.so.0", "libharfbuzz-subset.0.dylib"),
    "Fontconfig": ("fontconfig", "libfontconfig.so.1", "libfontconfig.1.dylib"),
    "GObject": ("gobject-2.0", "libgobject-2.0.so.0", "libgobject-2.0.0.dylib"),
}
MENDS = {
    "Debian, Ubuntu": "apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0",
    "Fedora": "dnf install pango",
    "macOS": "brew install pango",
}


def there(name: str, *files: str) -> bool:
    """Return whether the dynamic loader finds the library."""
    for candidate in (*files, ctypes.util.find_library(name)):
        if candidate is None:
            continue
        try:
            ctypes.CDLL(candidate)
        except OSError:
            continue
        return True
    return False


def main() -> int:
    """Print what is missing and the mend for each system; return the exit code."""
    missing = [label for label, names in LIBRARIES.items() if not there(*names)]
    if not missing:
        return 0
    print(f"error: PDFs need system libraries that are not here: {', '.join(missing)}. Install them:", file=sys.stderr)
    for system, command in MENDS.items():
        print(f"  {system + ':':<16}{command}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
