#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: the tests, then what torch.topk answers there and how fast the four ways are.
# Needs python 3.11 or later with torch, numpy, pytest and hypothesis; numba may be missing. Results go to $OUT.
# From the repository's root:  OUT=folder timeout 400 bash tests/gpu/run.sh
set -u
OUT=${OUT:-build/gpu}
mkdir -p "$OUT"
cd "$(dirname "$0")/../.."
export PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-python3}
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || { echo "no CUDA device"; exit 1; }
"$python" -m pytest tests/gpu -q -p no:cacheprovider --noconftest --junitxml="$OUT/tests.xml" > "$OUT/tests.txt" 2>&1
tests=$?
tail -n 5 "$OUT/tests.txt"
"$python" -m tests.gpu.measure "$OUT" 2>&1 | tee "$OUT/measure.txt"
measured=${PIPESTATUS[0]}
exit $(( tests || measured ))
