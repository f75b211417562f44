#!/usr/bin/env bash
# At which place searches find known things by their labels: the mini web is crawled, and its index is asked by
# bench_ranking with several ways to weigh, plain BM25 first.
#
# usage: bench/ranking.sh [--items N] [--seeds FILE]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/bin
shared=${QUADRILLE_SHARED:-$here/../shared}
items=300 seeds=
while [[ $# -gt 1 ]]; do
    case $1 in
        --items) items=$2 ;;
        --seeds) seeds=$2 ;;
        *) echo "usage: bench/ranking.sh [--items N] [--seeds FILE]" >&2; exit 100 ;;
    esac
    shift 2
done
. "$here/bench/servers.sh"
need_miniweb
"$here/bench/build"
mkdir -p "$here/build/bench"
work=$(mktemp -d "$here/build/bench/work.XXXXXX")
cleanup() {
    "$bin/quadrille" down --dir "$work/data" >/dev/null 2>&1 || true
    "$shared/miniweb/serve" stop --run "$work/web" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap cleanup EXIT
# Sites whose links are few beside their data.
[[ -n $seeds ]] || { seeds=$work/seeds; printf 'http://%s/\n' dokie.li foafnaut.org pcdm.org rdf-tests.example rdfweb.org \
    solid.github.io www.foaf-project.org xmlns.com >"$seeds"; }
start_miniweb "$work/web"
settings+=(--set log.level=warning --set processes.web=0)
"$bin/quadrille" crawl --dir "$work/data" --seeds "$seeds" "${settings[@]}" >"$work/crawl.log" 2>&1 ||
    { tail -n 5 "$work/crawl.log" >&2; exit 111; }
"$bin/quadrille" up --dir "$work/data" --background --only queue,metastore,index "${settings[@]}" >/dev/null
"$bin/quadrille" status --dir "$work/data" | head -n 4
"$here/build/bench/bench_ranking" "ipc://$work/data/run/index-0.sock" "items=$items"
