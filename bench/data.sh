#!/usr/bin/env bash
# Makes the quads that benches load and prints the file's path; what is there is not made again.
#
#   bench/data.sh COUNT     so many generated quads: about 20 and 3 subjects a document, words,
#                           hosts and predicates by Zipf's law, 196 bytes of N-Quads each
#   bench/data.sh real      1,000,000 quads of nomisma.org and schema.org
#
# The generator and the real quads are in $QUADRILLE_SHARED/bench; the former needs the package
# wamerican. Files are kept in $QUADRILLE_BENCH_DATA, build/bench/data by default. Exit code 77:
# they cannot be made; a line says why.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
shared=${QUADRILLE_SHARED:-$here/../shared}/bench
folder=${QUADRILLE_BENCH_DATA:-$here/build/bench/data}
missing() {
    echo "not measured: $*" >&2
    exit 77
}
what=${1:?COUNT or real}
file=$folder/$what.nq
mkdir -p "$folder"
if [[ ! -s $file && $what == real ]]; then
    [[ -r $shared/real1m.nq.xz ]] || missing "no $shared/real1m.nq.xz; set QUADRILLE_SHARED to the folder of test data"
    xz -dc "$shared/real1m.nq.xz" >"$file.new"
    mv "$file.new" "$file"
elif [[ ! -s $file ]]; then
    [[ -r $shared/gen-quads.c ]] || missing "no $shared/gen-quads.c; set QUADRILLE_SHARED to the folder of test data"
    [[ -r /usr/share/dict/words ]] || missing "generated quads need the package wamerican"
    "${CC:-cc}" -O2 -o "$folder/gen-quads" "$shared/gen-quads.c" -lm 2>"$folder/gen-quads.log"
    "$folder/gen-quads" "$what" 42 >"$file.new"
    mv "$file.new" "$file"
fi
echo "$file"
