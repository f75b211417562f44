#!/bin/bash
# tests/conformance/sparql_update.sh SUITES OUTPUT: the cases of updates beside this file.
set -eu
build/tests/run_sparql "$(dirname "$0")/suites" "$2"
