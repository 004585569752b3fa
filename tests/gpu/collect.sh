#!/usr/bin/env bash
# Collects the evidence that ships, on a machine with a GPU: collect.sh WHEELS OUT first|second|changed.
#
# first    all four suites under both backends
# second   the same again, as a collection of identical code; bandwidth under CUPTI alone, for its size
# changed  fusion with another block size of its Triton kernel, under CUPTI: what a genuine change looks like
#
# OUT gets an archive of each bundle, <part>-<suite>.tar.xz, to be unpacked in site/bundles, and <part>.log. Clocks are left alone.
set -u
[ $# -eq 3 ] && [[ $3 =~ ^(first|second|changed)$ ]] || { echo "usage: collect.sh WHEELS OUT first|second|changed" >&2; exit 2; }
checkout=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
wheels=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
part=$3
. "$checkout/tests/gpu/ready.sh"

export REPORTGEN_CLOCKS=leave
cp "$checkout"/suites/*.py . || exit 3
worst=0

collect() { # SUITE [ARGUMENT...]
  local suite=$1 code
  shift
  echo "== $part: $suite $* ($SECONDS s)"
  "$python" -m reportgen collect "$suite.py" --out "/tmp/bench/$part" "$@"
  code=$?
  [ $code -gt $worst ] && worst=$code
  [ -d "/tmp/bench/$part/$suite" ] && tar -C "/tmp/bench/$part" -cJf "$out/$part-$suite.tar.xz" "$suite"
  echo "== $part: $suite ended with $code ($SECONDS s)"
}

{
case $part in
  first)
    for suite in fusion matmul_precision bottleneck bandwidth; do collect "$suite"; done
    ;;
  second)
    for suite in fusion matmul_precision bottleneck; do collect "$suite"; done
    collect bandwidth --backend cupti
    ;;
  changed)
    sed -i 's/^BLOCK = 1024 /BLOCK = 128 /' fusion.py && grep -q '^BLOCK = 128 ' fusion.py || exit 2
    collect fusion --backend cupti
    ;;
esac
exit "$worst"
} 2>&1 | tee "$out/$part.log"
exit "${PIPESTATUS[0]}"
