"""The words that a dossier explains: backends, scenarios, workloads, metrics and the statistics it prints."""

from __future__ import annotations

from collections.abc import Iterable

BACKENDS = {
    "ncu": "Nsight Compute: replays each kernel to read hardware counters; says why a kernel is slow. Its times are those of a profiled kernel.",
    "cupti": "CUPTI activity records: the device's own time stamps of each kernel as it ran; says how long it ran.",
    "torch": "torch.profiler: operators and their self times as PyTorch sees them.",
}
WORKLOADS = {
    "kernel": "Each measurement covers one kernel.",
    "range": "Each measurement covers a whole range of launches, gaps and all.",
    "graph": "Each measurement covers one launch of a whole CUDA graph.",
    "operator": "Each measurement covers one operator of the framework.",
}
SCENARIOS = {
    "default": "Caches flushed before each measurement, clocks free: a cold-cache benchmark.",
    "strict": "Caches flushed before each measurement, clocks locked to base: a comparison that can be repeated.",
    "continuous": "Caches left as they are, clocks free: the steady state of a pipeline.",
    "continuous-strict": "Caches left as they are, clocks locked to base.",
    "not-recorded": "The evidence does not say whether caches were flushed or clocks locked.",
}
CONDITIONS = {
    "default": "cold cache",
    "strict": "cold cache, base clocks",
    "continuous": "warm cache",
    "continuous-strict": "warm cache, base clocks",
}
SIDE_BY_SIDE = "Backends, workloads and scenarios define their values differently: what they show stands side by side and is not computed into each other."
POLICIES = {
    "default": ("flushed", "not locked"),
    "strict": ("flushed", "locked to base"),
    "continuous": ("kept", "not locked"),
    "continuous-strict": ("kept", "locked to base"),
}
NAMES = {"cupti": "CUPTI", "torch": "torch.profiler"}
STATUSES = {
    "complete": "Every part of the plan was measured.",
    "partial": "A part of the plan failed, was dropped or was not permitted; what is whole is here.",
    "imported": "Made from files of other tools; what they do not say is not known.",
}
METRICS = {
    "gpu__time_duration.sum": "The time of a kernel on the GPU. Over several kernels of a region the times are added; gaps between them are not in it.",
    "region__span": "The time from the start of a region's first kernel to the end of its last, gaps and all.",
    "dram__bytes_read.sum": "Bytes read from DRAM.",
    "dram__bytes_write.sum": "Bytes written to DRAM. What still lies dirty in L2 at the end of a kernel is not in it, so it may be less than what the kernel wrote.",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "How busy the SMs were, in percent of the peak that they can sustain, over the kernel's whole time.",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "How busy DRAM was, in percent of the peak that it can sustain, over the kernel's whole time.",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "How busy DRAM was, in percent of the peak that it can sustain, over the kernel's whole time.",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "How busy the L2 cache was, in percent of the peak that it can sustain, over the kernel's whole time.",
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed": "How busy the L1 caches and shared memory were, in percent of the peak that they can sustain, over the kernel's whole time.",
    "self_cpu_time_total": "The CPU time that operators spent in themselves, not in operators that they called; these times alone add up. Nothing of a GPU is in it.",
    "self_device_time_total": "The time of the kernels, copies and fills that operators launched themselves, on the device.",
    "self_memory_usage": "Bytes that operators themselves allocated, less those they freed.",
    "calls": "How many operators ran.",
    "memcpy_memset__time_duration.sum": "The time of copies and fills beside a region's kernels. cuBLAS clears a workspace before some products; ncu sees nothing of it.",
    "nvml__sm_clock": "The SM clock that NVML read after the region.",
    "nvml__power": "The power that NVML read after the region; NVML averages it over some time.",
    "nvml__temperature": "The temperature of the GPU that NVML read after the region.",
    "gpc__cycles_elapsed.avg.per_second": "The SM clock that was seen during the kernel (not the rated one).",
}
LABELS = {
    "gpu__time_duration.sum": "time",
    "region__span": "span",
    "self_cpu_time_total": "self CPU time",
    "self_device_time_total": "self device time",
    "self_memory_usage": "memory",
    "memcpy_memset__time_duration.sum": "copies and fills",
    "nvml__sm_clock": "SM clock",
    "nvml__power": "power",
    "nvml__temperature": "temperature",
    "dram__bytes_read.sum": "DRAM read",
    "dram__bytes_write.sum": "DRAM written",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "SM",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "DRAM",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "DRAM",
    "gpc__cycles_elapsed.avg.per_second": "SM clock",
}
TERMS = {
    "annotation": "A named region of the program that was measured.",
    "95 % CI": "Student's 95 % confidence interval of the mean, over process means where there are three or more processes, else over runs. There is none under three.",
    "95 % CI of the fastest": "The same of a ratio of times, wide enough for the fastest having been chosen among several.",
    "deviation": "The standard deviation over runs in percent of the mean. From 2 % on a row is marked unstable.",
    "first run": "By how many percent the first run of a process lies over the median of its later runs, the mean of all processes. It stands apart where it does so by 2 % or more, in each process alike, and twice as far from that median as any later run.",
    "drift": "By how many percent the runs moved from the first of a process to its last (Sen's slope). A row drifts where that is 1 % or more and would be as clear by chance under once in a hundred rows (Kendall's test, over all processes).",
    "kernels": "How many kernels the region launched in each run.",
    "tick": "The smallest step of the backend's timer, estimated from the times themselves. A difference under two ticks is no difference.",
    "limit": "Compute or memory, whichever is busier, when it reaches 60 % of its sustained peak; latency when neither does; not known when a throughput was not measured. Memory is DRAM where that is busy, else a cache that is, by its name. Close: under 5 points from another limit.",
    "launches": "How many launches were profiled, over all runs.",
    "share of time": "The part of the time of all launches in the same region; where kernels of all regions stand together, of all launches.",
    "waves": "How many times the grid fills all SMs: under one, SMs stay empty; a last wave that is not full leaves some idle.",
    "occupancy": "Warps resident on an SM, in percent of the most that it can hold: as it was on average, and at most by what a block takes.",
    "held by": "What an SM runs out of first when blocks are placed on it.",
    "longest waits": "What warps waited for before they could issue: the reasons with the largest part of all warp cycles.",
    "rule": "A rule that Nsight Compute applies to a kernel's counters. Its words are its own.",
    "may gain": "The most by which the rule estimates that the kernel's time could shrink.",
    "roofline": "Arithmetic rate over arithmetic intensity: a kernel can be under no higher roof than memory's rate times its intensity, or the rate of the arithmetic units.",
    "FLOP/byte": "Floating-point operations for each byte moved at a level of memory.",
    "of the roof": "The rate in percent of the lower of two ceilings at that intensity.",
    "withheld": "Not published in the public tier: it may hold a host name, a path or an address. Its digest stands here all the same.",
    "not recorded": "The evidence does not say it, and nothing was guessed.",
}


def label(metric: str) -> str:
    """Return a metric's short name for a column's head; a metric without one keeps its own."""
    return LABELS.get(metric, metric)


def scenario_meaning(scenario: str) -> str:
    """Return what a scenario means; one with a name of its own is explained by its name."""
    return SCENARIOS.get(scenario, f"Cache and clock policy by the name '{scenario}'.")


def backend(name: str) -> str:
    """Return how a backend is called in a sentence."""
    return NAMES.get(name, name)


def conditions(scenario: str) -> str:
    """Return in a few words what a scenario means, with its name: `cold cache (default)`."""
    if scenario == "not-recorded":
        return "scenario not recorded"
    meaning = CONDITIONS.get(scenario)
    return f"{meaning} ({scenario})" if meaning else f"scenario {scenario}"


def glossary(words: Iterable[str]) -> list[tuple[str, str]]:
    """Return the words of `words` that have a meaning here, each once, in alphabetical order."""
    meanings = {**TERMS, **METRICS, **BACKENDS, **SCENARIOS}
    found = {(word, meanings[word]) for word in words if word in meanings and word != "not-recorded"}
    return sorted(found, key=lambda item: item[0].lower())
