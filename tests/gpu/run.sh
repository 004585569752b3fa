#!/usr/bin/env bash
# Runs the tests that need a GPU on a bare machine: run.sh WHEELS OUT [pytest's own arguments].
#
# WHEELS holds wheels of what the machine lacks, WHEELS/np096 and WHEELS/np110 those of two versions of nsight-python.
# OUT gets gpu-tests.log and gpu-results.jsonl. Clocks are left alone; nothing is fetched.
set -u
[ $# -ge 2 ] || { echo "usage: run.sh WHEELS OUT [ARGUMENT...]" >&2; exit 2; }
checkout=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
wheels=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
shift 2
. "$checkout/tests/gpu/ready.sh"

install "$scratch/np096" "$wheels"/np096/*.whl && export REPORTGEN_NSIGHT_PYTHON_096=$scratch/np096
install "$scratch/np110" "$wheels"/np110/*.whl && export REPORTGEN_NSIGHT_PYTHON_110=$scratch/np110

PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 REPORTGEN_GPU_OUT=$out REPORTGEN_GPU_EXPECTED=1 "$python" -m pytest -m gpu "$checkout/tests/gpu" \
  -p no:cacheprovider -W default -v --tb=short --durations=12 "$@" 2>&1 | tee "$out/gpu-tests.log"
exit "${PIPESTATUS[0]}"
