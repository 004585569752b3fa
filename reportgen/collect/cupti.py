"""The CUPTI backend in the worker: every kernel, copy and fill with the device's own time stamps.

Attribution needs no correlation ids, which miss what other threads and graphs launch: the device is synchronised, the time is
read, the region runs, the device is synchronised, the time is read again. What lies inside belongs to the region; the reader
(`readers.cupti_activity`) decides that from the files. Valid for one visible device and no other work in the process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reportgen.collect.nvml import Sensors
from reportgen.evidence import tables, write
from reportgen.readers.cupti_activity import ACTIVITY, COLUMNS

_BUFFER = 8 << 20
_TIMES_L2 = 4


class CuptiMeter:
    """Records activity, and flushes the caches before each region where the scenario asks for it."""

    def __init__(self, folder: Path, scenario: str) -> None:
        import torch
        from cupti import cupti

        self._torch, self._cupti, self._folder = torch, cupti, folder
        self._rows: list[list[str]] = []
        torch.cuda.init()
        cupti.activity_register_callbacks(lambda: (_BUFFER, 0), self._take)
        kinds = cupti.ActivityKind
        self._names = {kinds.CONCURRENT_KERNEL: "kernel", kinds.MEMCPY: "memcpy", kinds.MEMSET: "memset"}
        for kind in self._names:
            cupti.activity_enable(kind)
        self._flush = _Flush(torch) if scenario != "continuous" else None
        self._sensors = Sensors()
        self._start = 0
        self._before: dict[str, float] = {}

    def before(self) -> None:
        """Read the sensors, and bring the caches to the scenario's state."""
        self._before = self._sensors.read()
        if self._flush is not None:
            self._flush()

    def start(self, message: str) -> None:
        """Wait for the device, and read its time."""
        self._torch.cuda.synchronize()
        self._start = self._cupti.get_timestamp()

    def stop(self) -> dict[str, Any]:
        """Wait for the device, and read its time again."""
        self._torch.cuda.synchronize()
        end = self._cupti.get_timestamp()
        return {"start": self._start, "end": end, "before": self._before, "after": self._sensors.read()}

    def close(self) -> None:
        """Fetch what is still in CUPTI's buffers, and keep every record in the order of its start."""
        self._torch.cuda.synchronize()
        self._cupti.activity_flush_all(1)
        self._rows.sort(key=lambda row: int(row[2]))
        write.write_file(self._folder / ACTIVITY, tables.rows_to_csv([list(COLUMNS), *self._rows]))

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


class _Flush:
    """Empties the caches: writes a buffer of four times L2, then reads another, so that no dirty line is left."""

    def __init__(self, torch: Any) -> None:
        size = _TIMES_L2 * torch.cuda.get_device_properties(0).L2_cache_size
        self._written = torch.empty(size // 4, dtype=torch.int32, device="cuda")
        self._read = torch.zeros(size // 4, dtype=torch.int32, device="cuda")

    def __call__(self) -> None:
        """Flush."""
        self._written.fill_(1)
        self._read.max()
