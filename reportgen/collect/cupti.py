"""The CUPTI backend in the worker: every kernel, copy and fill with the device's own time stamps.

Attribution needs no correlation ids, which miss what other threads and graphs launch: the device is synchronised, the time is
read, the region runs, the device is synchronised, the time is read again. What lies inside belongs to the region; the reader
(`readers.cupti_activity`) decides that from the files. Valid for one visible device and no other work in the process.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from reportgen.collect.plain import PlainMeter
from reportgen.evidence import tables, write
from reportgen.readers.cupti_activity import ACTIVITY, COLUMNS
from reportgen.suite import SuiteError

_BUFFER = 8 << 20


def library_version() -> str:
    """Return the version of the CUPTI library in this process, `13.0.0`; cupti-python offers no call for it.

    Raises `OSError` where none is loaded.
    """
    lines = Path("/proc/self/maps").read_text().splitlines()
    path = next((line.split(maxsplit=5)[-1] for line in lines if "/libcupti.so" in line), "libcupti.so")
    number = ctypes.c_uint32(0)
    ctypes.CDLL(path).cuptiGetVersion(ctypes.byref(number))
    major, rest = divmod(number.value, 10_000)
    return f"{major}.{rest // 100}.{rest % 100}" if major else str(number.value)


class CuptiMeter(PlainMeter):
    """Records activity around regions that are bounded by synchronisation."""

    def __init__(self, folder: Path, scenario: str) -> None:
        import torch
        from cupti import cupti

        if torch.cuda.device_count() != 1:
            raise SuiteError(
                f"{torch.cuda.device_count()} GPUs are visible, and CUPTI's records are attributed on one; set CUDA_VISIBLE_DEVICES=0"
            )
        self._cupti, self._folder = cupti, folder
        self._rows: list[list[str]] = []
        kinds = cupti.ActivityKind
        self._names = {kinds.CONCURRENT_KERNEL: "kernel", kinds.MEMCPY: "memcpy", kinds.MEMSET: "memset"}
        super().__init__(scenario)
        cupti.activity_register_callbacks(lambda: (_BUFFER, 0), self._take)
        for kind in self._names:
            cupti.activity_enable(kind)
        self._first_flush = self._mark_flush()

    def now(self) -> int:
        """Return the device's time in ns, as activity records have it."""
        return int(self._cupti.get_timestamp())

    def close(self) -> dict[str, Any]:
        """Fetch what is still in CUPTI's buffers, and keep every record in the order of its start."""
        self._torch.cuda.synchronize()
        self._cupti.activity_flush_all(1)
        self._rows.sort(key=lambda row: int(row[2]))
        name, data = tables.store(ACTIVITY, tables.rows_to_csv([list(COLUMNS), *self._rows]))
        write.write_file(self._folder / name, data)
        told = {"versions.cupti": library_version(), "dropped": self._dropped(), "records": len(self._rows)}
        return {**self.facts(), **told, "flush": self._first_flush}

    def _mark_flush(self) -> list[int]:
        """Flush once between two time stamps, so that the reader knows of which records a flush consists."""
        if self._flush is None:
            return []
        self._flush()  # what is launched for the first time may bring more than itself
        self._torch.cuda.synchronize()
        begin = self.now()
        self._flush()
        self._torch.cuda.synchronize()
        return [begin, self.now()]

    def _dropped(self) -> int:
        """Return how many records CUPTI had no room for."""
        count = ctypes.c_size_t(0)
        self._cupti.activity_get_num_dropped_records(0, 0, ctypes.addressof(count))
        return count.value

    def _take(self, records: list[Any]) -> None:
        for record in records:
            kind = self._names.get(record.kind, "other")
            grid = block = ""
            name = f"[{kind}]"
            if kind == "kernel":
                name = record.name
                grid = f"({record.grid_x}, {record.grid_y}, {record.grid_z})"
                block = f"({record.block_x}, {record.block_y}, {record.block_z})"
            elif kind == "memcpy":
                name = f"[memcpy {self._cupti.ActivityMemcpyKind(record.copy_kind).name}]"
            elif kind == "other":
                continue
            size = "" if kind == "kernel" else str(record.bytes)
            numbers = (record.start, record.end, record.device_id, record.stream_id)
            self._rows.append([kind, name, *map(str, numbers), grid, block, size])
