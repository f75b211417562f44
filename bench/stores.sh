#!/usr/bin/env bash
# Bulk load of the same quads into Quadrille and into the stores that the distribution or the npm
# registry has, one after the other: how fast, for how much processor time, memory and disk.
#
#   bench/stores.sh [--count N] [--redland N] [--only STORE,...] [--data WHAT,...]
#
#   --count    generated quads (1000000)
#   --redland  quads of the same file for Redland, which slows down as it grows (5000)
#   --only     of quadrille, virtuoso, oxigraph, redland
#   --data     of generated, real
#   QUADRILLE_NODE_MODULES   folder that has oxigraph
#
# A store is set up empty; what is measured is start, load, making it durable, and end, with all
# processes that take part. Disk: all files after the end less those of the empty store. Prints a
# table, ratios to Virtuoso; writes build/bench/stores.json.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/bin
. "$here/bench/servers.sh"
out=$here/build/bench
modules=${QUADRILLE_NODE_MODULES:-${XDG_CACHE_HOME:-$HOME/.cache}/quadrille-node/node_modules}
count=1000000 redland=5000 only=quadrille,virtuoso,oxigraph,redland sets=generated,real
while [[ $# -gt 0 ]]; do
    case $1 in
        --count) count=$2 ;;
        --redland) redland=$2 ;;
        --only) only=$2 ;;
        --data) sets=$2 ;;
        *) sed -n '5,10s/^# *//p' "$0" >&2; exit 100 ;;
    esac
    shift 2
done
"$here/bench/build"
mkdir -p "$out"
work=$(mktemp -d "$out/work.XXXXXX")
trap 'end_servers "$work"' EXIT
bytes_of() { # folder; of Quadrille what belongs to the index
    local files=$1
    [[ -d $1/queue ]] && files=$1/index-0
    [[ -d $files ]] || return 0
    find "$files" -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%.0f\n", n }'
}
wanted() { # store
    [[ ,$only, == *,$1,* ]]
}
have() { # store, program, package
    command -v "$2" >/dev/null && return
    printf '%-14s not measured: not installed (package %s)\n' "$1" "$3"
    return 1
}

# ---- the stores: each has a step that makes an empty one, and a load that ends it ----

quadrille_empty() { # folder
    "$bin/quadrille" init --dir "$1" >/dev/null
}
quadrille_load() { # folder, file
    "$bin/quadrille" import --dir "$1" --quiet --set log.level=warning "$2" # all as it is by default
}
quadrille_quads() { # folder
    "$bin/quadrille" query --dir "$1" --format tsv 'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }' | tail -n 1
}

# Its own instructions for 4 GB of memory; no file is allowed to be read but the data's.
virtuoso_empty() { # folder, file
    mkdir -p "$1"
    virtuoso_settings "$1" "$2" "$port" >"$1/virtuoso.ini"
    virtuoso_session "$1" 'checkpoint;'
}
virtuoso_session() { # folder, SQL: starts the server, runs this, ends the server
    start_virtuoso "$1" "$port" || return 1
    isql-vt "127.0.0.1:$port" dba dba verbose=off banner=off prompt=off exec="$2"
    isql-vt "127.0.0.1:$port" dba dba exec='shutdown;' >/dev/null 2>&1 || true
    wait "$(cat "$1/pid")" || true
    : >"$1/pid"
}
virtuoso_load() { # folder, file
    virtuoso_session "$1" "ld_dir('$(dirname "$2")', '$(basename "$2")', 'urn:default');
        rdf_loader_run(); checkpoint; select ll_error from DB.DBA.load_list where ll_error is not null;" >"$1/load.out"
}
virtuoso_quads() { # folder
    virtuoso_session "$1" 'select count(*) from DB.DBA.RDF_QUAD where G <> iri_to_id (UNAME'\''http://www.openlinksw.com/schemas/virtrdf#'\'');' | grep -oE '^[0-9]+' | head -n 1
}

redland_empty() { # folder
    mkdir -p "$1"
}
redland_load() { # folder, file
    (cd "$1" && rdfproc -q -n -c -s hashes -t "hash-type='bdb',dir='$1'" store parse "file:$2" nquads)
}
redland_quads() { # folder: it cannot tell
    echo 0
}

oxigraph_empty() { # folder
    mkdir -p "$1"
    cat >"$1/load.cjs" <<'JS'
const fs = require("fs"), {Store} = require("oxigraph");
const store = new Store(), file = fs.openSync(process.argv[2]), piece = Buffer.alloc(64 << 20);
let rest = Buffer.alloc(0);
for (let n; (n = fs.readSync(file, piece)) > 0;) {
    const bytes = Buffer.concat([rest, piece.subarray(0, n)]), end = bytes.lastIndexOf(10) + 1;
    store.load(bytes.toString("utf8", 0, end), {format: "application/n-quads", no_transaction: true, unchecked: true});
    rest = Buffer.from(bytes.subarray(end));
}
fs.writeFileSync(process.argv[3], String(store.size));
JS
}
oxigraph_load() { # folder, file
    NODE_PATH=$(realpath "$modules") node "$1/load.cjs" "$2" "$1/size"
}
oxigraph_quads() { # folder
    cat "$1/size"
}

# ---- one load ----

rows=$work/rows
measure() { # store, what the quads are, file, remark
    local store=$1 folder=$work/$1 empty stored wall_s cpu_s peak_mib
    port=$((20000 + RANDOM % 10000)) # below the ports of outgoing connections
    export port
    rm -rf "$folder"
    "${store}_empty" "$folder" "$3" >/dev/null
    empty=$(bytes_of "$folder")
    if ! "$out/bench_measure" "$work/took" bash -c "set -eu; ${store}_load '$folder' '$3'" 2>"$out/$store.log"; then
        printf '%-14s failed, see %s\n' "$store" "$out/$store.log"
        return
    fi
    # shellcheck disable=SC1091
    . <(tr ' ' '\n' <"$work/took")
    local bytes=$(($(bytes_of "$folder") - ${empty:-0}))
    [[ $store == oxigraph ]] && bytes=0 # nothing is kept
    stored=$("${store}_quads" "$folder")
    rm -rf "$folder"
    printf '%s\t' "$2" "$store" "$(wc -l <"$3")" "$wall_s" "$cpu_s" "$peak_mib" "$bytes" "${stored:-0}" >>"$rows"
    echo "$4" >>"$rows"
}
export bin modules
export -f quadrille_load start_virtuoso virtuoso_load virtuoso_session redland_load oxigraph_load

table() { # of one set
    printf '%-14s %9s %9s %9s %8s %12s %6s %9s %11s  %s\n' "$1" read stored quads/s 'CPU s' quads/CPU-s ratio 'peak MiB' bytes/quad remarks
    awk -F'\t' -v set="$1" '
        $1 == set { n++; for (i = 1; i <= NF; i++) v[n, i] = $i; if ($2 == "virtuoso") base = $3 / $5 }
        END { for (i = 1; i <= n; i++) { rate = v[i, 3] / v[i, 5]
            printf "%-14s %9d %9s %9d %8.1f %12d %6s %9d %11s  %s\n", v[i, 2], v[i, 3], v[i, 8] ? v[i, 8] : "-",
                v[i, 3] / v[i, 4], v[i, 5], rate, base ? sprintf("%.2f", rate / base) : "-", v[i, 6],
                v[i, 7] ? sprintf("%.1f", v[i, 7] / v[i, 3]) : "-", v[i, 9] } }' "$rows"
}

: >"$rows"
for set in ${sets//,/ }; do
    if [[ $set == generated ]]; then file=$("$here/bench/data.sh" "$count"); else file=$("$here/bench/data.sh" real); fi || continue
    file=$(realpath "$file")
    echo "== bulk load, $set quads"
    wanted quadrille && measure quadrille "$set" "$file" 'six orders, keyword index, statistics; synced'
    wanted virtuoso && have virtuoso virtuoso-t virtuoso-opensource && have virtuoso isql-vt virtuoso-opensource &&
        measure virtuoso "$set" "$file" 'two whole and three partial orders, no text index; checkpoint at the end'
    if wanted oxigraph; then
        if ! command -v node >/dev/null || [[ ! -d $modules/oxigraph ]]; then
            printf '%-14s not measured: not installed (nodejs, and oxigraph of the npm registry in QUADRILLE_NODE_MODULES)\n' oxigraph
        elif [[ $(stat -Lc %s "$file") -gt 500000000 ]]; then
            printf '%-14s not measured: its memory of 4 GB is too small\n' oxigraph
        else
            measure oxigraph "$set" "$file" 'in memory, nothing durable, no text index, IRIs unchecked'
        fi
    fi
    if wanted redland && have redland rdfproc redland-utils; then
        head -n "$redland" "$file" >"$work/some.nq"
        measure redland "$set" "$work/some.nq" "the first $redland quads only: it slows down as it grows; four hashes, no text index"
    fi
    table "$set"
done
awk -F'\t' 'BEGIN { printf("[") }
    { printf("%s{\"data\":\"%s\",\"store\":\"%s\",\"quads\":%d,\"wall_s\":%s,\"cpu_s\":%s,\"peak_mib\":%d,\"bytes\":%d,\"stored\":%d}",
        NR > 1 ? ",\n" : "", $1, $2, $3, $4, $5, $6, $7, $8) }
    END { print "]" }' "$rows" >"$out/stores.json"
