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
python=${PYTHON:-python3}
scratch=$(mktemp -d) || exit 3
# A copy in a neutral place, so that nothing that is kept names the folder of the checkout.
mkdir -p "$scratch/reportgen-source" && cp -r "$checkout"/{pyproject.toml,reportgen,suites,tests} "$scratch/reportgen-source" || exit 3
checkout=$scratch/reportgen-source

install() { # FOLDER WHEEL...
  local target=$1
  shift
  [ -e "$1" ] || return 1
  "$python" -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --disable-pip-version-check \
    --root-user-action ignore --upgrade --target "$target" "$@" || exit 3
}

install "$scratch/site" "$wheels"/*.whl
install "$scratch/np096" "$wheels"/np096/*.whl && export REPORTGEN_NSIGHT_PYTHON_096=$scratch/np096
install "$scratch/np110" "$wheels"/np110/*.whl && export REPORTGEN_NSIGHT_PYTHON_110=$scratch/np110

export PYTHONPATH=$scratch/site:$checkout${PYTHONPATH:+:$PYTHONPATH}
export PYTHONDONTWRITEBYTECODE=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
if ! "$python" -c 'import ncu_report' 2>/dev/null; then
  for extras in /opt/nvidia/nsight-compute/*/extras/python; do
    [ -d "$extras" ] && PYTHONPATH=$PYTHONPATH:$extras
  done
fi

mkdir -p /tmp/bench && cd /tmp/bench || exit 3
REPORTGEN_GPU_OUT=$out REPORTGEN_GPU_EXPECTED=1 "$python" -m pytest -m gpu "$checkout/tests/gpu" \
  -p no:cacheprovider -W default -v --tb=short --durations=12 "$@" 2>&1 | tee "$out/gpu-tests.log"
code=${PIPESTATUS[0]}
rm -rf "$scratch"
exit "$code"
