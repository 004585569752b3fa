# Sourced by run.sh and collect.sh: makes a bare machine ready in a neutral place, so that nothing that is kept names the folder of
# the checkout. Expects $checkout and $wheels; sets $python and $scratch, exports PYTHONPATH and what names nsight-python's folders.
python=${PYTHON:-python3}
scratch=$(mktemp -d) || exit 3
trap 'rm -rf "$scratch"' EXIT
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
export PYTHONPATH=$scratch/site:$checkout${PYTHONPATH:+:$PYTHONPATH}
export PYTHONDONTWRITEBYTECODE=1
if ! "$python" -c 'import ncu_report' 2>/dev/null; then
  for extras in /opt/nvidia/nsight-compute/*/extras/python; do
    [ -d "$extras" ] && PYTHONPATH=$PYTHONPATH:$extras
  done
fi
mkdir -p /tmp/bench && cd /tmp/bench || exit 3
