#!/usr/bin/env bash
# Makes the shipped bundles anew from a folder of evidence: site/import.sh EVIDENCE. Needs reportgen on the PATH.
# The same files give the same bundles, byte for byte; a bundle that stands already is left as it is.
set -euo pipefail
evidence=$(cd "$1" && pwd)
bundles=$(cd "$(dirname "$0")" && pwd)/bundles
cd "$evidence"
import() { reportgen import "$@" --out "$bundles"; }

import matmul.ncu-rep matmul.raw.auto.csv matmul.details.csv --session matmul.session.txt --suite matmul_precision \
  --title "Matrix multiplication: fp32 against fp16" --derive "TFLOP/s=2*n**3/time/1e12"
import compile_cold.ncu-rep compile_cold.raw.base.csv --suite fusion --scenario default \
  --title "Fusion of a + b * c, cold cache"
import compile_warm.ncu-rep compile_warm.raw.base.csv --suite fusion --scenario continuous \
  --title "Fusion of a + b * c, warm cache"
import graph_node.ncu-rep graph_node.raw.base.csv --suite cuda_graph \
  --title "A CUDA graph of two kernels, by node"
import thread.ncu-rep thread.raw.base.csv --suite backward \
  --title "Kernels of a backward pass, launched by another thread"
import nsight_python/cupti-profiled_data-matmul-0.csv nsight_python/cupti-processed_data-matmul-0.csv \
  --suite nsight_python_cupti --date 2026-11-30 --title "Matrix multiplication under nsight-python, CUPTI"
import nsight_python/ncu-all-profiled_data-matmul-0.csv nsight_python/ncu-all-processed_data-matmul-0.csv \
  nsight_python/ncu-all-ncu-output-matmul-0.log --suite nsight_python_ncu --date 2026-11-30 \
  --title "Matrix multiplication under nsight-python, Nsight Compute"
