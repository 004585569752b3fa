"""Why a GPU holds its clocks back: NVML's bits of `nvmlDeviceGetCurrentClocksEventReasons`, in its own words."""

from __future__ import annotations

from collections.abc import Iterable

IDLE = 0x1
REASONS = {
    IDLE: "idle",
    0x2: "clocks set by an application",
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
    0x100: "display clock setting",
}
# What slows a GPU that has work: power and heat, not what someone set and not that there was nothing to do.
SLOWS = 0x4 | 0x8 | 0x20 | 0x40 | 0x80


def in_words(masks: Iterable[int]) -> str:
    """Return in words every reason that stands in one of `masks`, `none` where there is none."""
    seen = 0
    for mask in masks:
        seen |= mask
    words = [word for bit, word in REASONS.items() if seen & bit]
    unknown = seen & ~sum(REASONS)
    return ", ".join([*words, *([f"unknown ({unknown:#x})"] if unknown else [])]) or "none"


def slowing(text: str) -> tuple[str, ...]:
    """Return those of the reasons in `text`, as `in_words` writes them, that slow a GPU which has work."""
    return tuple(word for bit, word in REASONS.items() if bit & SLOWS and word in text)
