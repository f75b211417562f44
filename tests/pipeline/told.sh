#!/usr/bin/env bash
# Who waits or cannot start says so: the command that depends on it names the process, the file and
# the remedy and ends, well before it would have given up; a command that only reads reads on where
# there is no room to write; `status` names who waits; and a node that only answers is no standstill.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
mkdir -p "$work/hosts/one.example"
echo '<!DOCTYPE html><title>One</title>' >"$work/hosts/one.example/index.html"
echo http://one.example/ >"$work/seeds"
start_web "$work/hosts"
mapfile -t web < <(web_settings)
dir=$work/whole
crawl "$dir" >"$work/out" || fail "crawl: $(cat "$work/out")"

copy() { # to a name of its own, of what was ended cleanly
    cp -a "$dir" "$work/$1"
    rm -f "$work/$1"/run/*
}
says() { # what, command...: exit 111 with all of these words, within the time of two starts
    local code=0 word
    timeout 600 "${@:2}" >"$work/out" 2>&1 || code=$?
    [[ $code -eq 111 ]] || fail "${*:2}: exit $code: $(cat "$work/out")"
    for word in $1; do
        grep -qF -- "$word" "$work/out" || fail "${*:2}: says no '$word': $(cat "$work/out")"
    done
}
scribble() { # file, place
    printf 'scribbled over' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

for name in words lanes log replayed; do copy $name; done

# ---- a node that only answers, while the rest of this is done ----

quadrille up --dir "$dir" --background --only index,web --set stage.watchdog=5 \
    --set web.listen=127.0.0.1:0
answers() { prints One quadrille query --dir "$dir" --format csv 'SELECT ?t { ?s <http://purl.org/dc/terms/title> ?t }'; }
answers || fail "the index does not answer"
process=$(cat "$dir/run/index.1.lock")
answered=$EPOCHSECONDS

# ---- damage ----

scribble "$work/words/index-0/words.db" 4196
says 'index.1 words.db damaged docs/OPERATION.md' quadrille verify --dir "$work/words"
scribble "$work/lanes/queue/lanes.db" 0
says 'queue lanes.db damaged docs/OPERATION.md' quadrille crawl --quiet --dir "$work/lanes" "${web[@]}" http://one.example/
scribble "$work/log/metastore/log.0000000001" 4000
says 'metastore damaged docs/OPERATION.md' quadrille meta --dir "$work/log" http://one.example/

scribble "$work/replayed/index-0/documents.db" 0
says 'index.1 documents.db damaged docs/OPERATION.md' quadrille replay --transform html --dir "$work/replayed"

# ---- room ----

quadrille init --dir "$work/fresh" >/dev/null
timeout 600 quadrille dump --dir "$work/fresh" --set index.disk_reserve=900000G \
    --output "$work/none.nq" >"$work/out" 2>&1 || fail "a dump without room to write: $(cat "$work/out")"
quadrille init --dir "$work/full" >/dev/null && quadrille scope --dir "$work/full" set scope.hosts=one.example >/dev/null
quadrille up --dir "$work/full" --background "${web[@]}" --set metastore.disk_reserve=900000G
quadrille add --dir "$work/full" --seeds "$work/seeds" >/dev/null
waits() { quadrille status --dir "$work/full" >"$work/out" 2>&1 && grep -q 'fetch.1 waits.*metastore.disk_reserve' "$work/out"; }
for _ in $(seq "$patience"); do
    waits && break
    sleep 0.5
done
waits || fail "status names nobody who waits: $(cat "$work/out")"
quadrille status --dir "$work/full" --json >"$work/out"
python3 - "$work/out" <<'END' || fail "status --json: $(cat "$work/out")"
import json, sys
told = {p["name"]: p for p in json.load(open(sys.argv[1]))["processes"]}
assert told["metastore"]["state"] == "waiting" and "free room" in told["fetch.1"]["do"], told
END
quadrille down --dir "$work/full"

# ---- no standstill ----

while ((EPOCHSECONDS - answered < 11)); do sleep 0.1; done # twice the watchdog's time without a question
[[ $(cat "$dir/run/index.1.lock") == "$process" ]] || fail "the watchdog ended an index that only waits"
answers || fail "the index does not answer any more"
quadrille down --dir "$dir"
