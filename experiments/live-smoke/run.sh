#!/usr/bin/env bash
# The whole live check on a GPU machine where simsched[live], SGLang Omni 0.1.9, torch and transformers are installed:
# five scenarios, four servers, about five minutes on an H200. Arguments go on to simsched live check.
#   experiments/live-smoke/run.sh OUT [--stubs av,IPython,librosa]
set -euo pipefail
out=${1:?name a new folder for what is recorded}; shift
here=$(dirname "$0")
exec simsched live check "$here"/{stock,stock-c16,adapter,bucketed,priority}.yaml --gpu --out "$out" "$@"
