#!/usr/bin/env bash
# Makes the reports of make_reports.py with the installed ncu into the folder $1. The GPU's clocks are left alone.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mkdir -p "$out" /tmp/bench && cp "$here/make_reports.py" /tmp/bench/ && cd /tmp/bench || exit 1
six=gpu__time_duration.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed,dram__throughput.avg.pct_of_peak_sustained_elapsed,dram__bytes_read.sum,dram__bytes_write.sum,gpc__cycles_elapsed.avg.per_second
common=(--clock-control none --import-sass no -f --nvtx)
ranged=(--nvtx-include "regex:bench@.+")
ncu "${common[@]}" "${ranged[@]}" --metrics $six -o "$out/many" python3 make_reports.py many | tail -3
ncu "${common[@]}" "${ranged[@]}" --set full -o "$out/full" python3 make_reports.py full | tail -3
ncu "${common[@]}" "${ranged[@]}" --graph-profiling graph --metrics $six -o "$out/graph_whole" python3 make_reports.py graph | tail -3
ncu "${common[@]}" "${ranged[@]}" --replay-mode range --metrics $six -o "$out/range" python3 make_reports.py ranges | tail -3
ncu "${common[@]}" --metrics $six -o "$out/bare" python3 make_reports.py bare | tail -3
for name in full graph_whole range bare; do
  ncu --import "$out/$name.ncu-rep" --page session > "$out/$name.session.txt"
  ncu --import "$out/$name.ncu-rep" --csv --page raw --print-units base > "$out/$name.raw.base.csv"
done
ncu --import "$out/full.ncu-rep" --csv --page details > "$out/full.details.csv"
ncu --import "$out/full.ncu-rep" --csv --page raw > "$out/full.raw.auto.csv"
ls -la "$out"
