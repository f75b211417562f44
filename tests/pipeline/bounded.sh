#!/usr/bin/env bash
# A crawl that never ends stays within its disk: documents change and are visited all the time, many
# times more is archived than may be kept, and neither the archive nor the whole directory grows.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
site=$work/hosts/data.example
mkdir -p "$site" "$work/versions"
count=12 versions=4
# Texts that do not pack; they come again, since the index keeps terms that were used once.
for ((version = 0; version < versions; version++)); do
    for ((i = 0; i < count; i++)); do
        {
            printf '<http://data.example/%d> <http://vocab.example/version> "%d" .\n' "$i" "$version"
            for line in 1 2 3 4; do
                printf '<http://data.example/%d> <http://vocab.example/text> "%s" .\n' "$i" \
                    "$(head -c 4000 /dev/urandom | base64 -w 0)"
            done
        } >"$work/versions/$version-$i"
    done
done
publish() { # version
    local i
    for ((i = 0; i < count; i++)); do
        cp "$work/versions/$1-$i" "$work/new"
        mv "$work/new" "$site/$i.nt"
    done
}
publish 0
for ((i = 0; i < count; i++)); do echo "http://data.example/$i.nt"; done >"$work/seeds"
start_web "$work/hosts"
mapfile -t settings < <(web_settings)
keep=$(brief 2097152 1048576)
quadrille crawl --continuous --dir "$work/crawl" --seeds "$work/seeds" --quiet "${settings[@]}" \
    --set recrawl.least=200ms --set recrawl.most=1s --set recrawl.first=300ms --set recrawl.worth=50ms \
    --set recrawl.budget=1e6 --set fetch.robots=no --set queue.cache=1M \
    --set metastore.cache=1M --set index.memory=16M \
    --set index.changes=1M --set warc.size=128K --set warc.keep_bytes=$keep --set warc.keep_least=100ms >"$work/out" 2>&1 &
crawling=$!

bytes_of() { # folders
    { find "$@" -type f -printf '%s\n' 2>/dev/null || true; } | awk '{ n += $1 } END { printf "%d", n }'
}
largest() { # of the numbers in a file, between lines
    sed -n "$2,$3p" "$1" | sort -n | tail -n 1
}
removed() { # bytes of archive
    cat "$work"/crawl/log/*.log 2>/dev/null | sed -nE 's/.*archive_removed.* bytes=([0-9]+).*/\1/p' | awk '{ n += $1 } END { printf "%d", n }'
}
# As long as it takes on this machine to archive twice what is kept.
rounds=0 least=$(brief 40 24)
while ((rounds < least || (rounds < 3000 && $(removed) < keep))); do
    rounds=$((rounds + 1))
    publish $((rounds % versions))
    sleep 0.4
    bytes_of "$work/crawl/warc" >>"$work/archive"
    echo >>"$work/archive"
    bytes_of "$work/crawl" >>"$work/all"
    echo >>"$work/all"
done
kill -0 "$crawling" 2>/dev/null || fail "the crawl ended: $(cat "$work/out")"
kill -INT "$crawling"
wait "$crawling" || fail "the crawl: $(cat "$work/out")"

served=$(awk -F'\t' '$5 == 200' "$web_log" | wc -l)
removed=$(removed)
archive=$(largest "$work/archive" $((rounds / 3)) $rounds)
early=$(largest "$work/all" $((rounds / 3)) $((rounds * 2 / 3)))
late=$(largest "$work/all" $((rounds * 2 / 3)) $rounds)
echo "$served answers with content, $removed bytes of archive removed; at most $archive bytes of archive;" \
    "everything: $early bytes, then $late"
((removed >= keep)) || fail 'too little was archived to prove anything'
# What processes still write to, and what came since the last look, is beyond what is to be kept.
((archive < 2 * keep)) || fail "the archive passed its bound of $keep bytes"
# A log file of the metadata store that is full stays beside the next one until a checkpoint.
log_file=4194304
((late < early + early / 20 + keep + log_file)) || fail 'the directory grows'
quadrille verify --dir "$work/crawl" >"$work/out" || fail "$(cat "$work/out")"
for ((i = 0; i < count; i++)); do
    quadrille transform --dir "$work/crawl" --uri "http://data.example/$i.nt" >"$work/out" 2>&1 &&
        grep -q version "$work/out" ||
        fail "the archived response of $i.nt is lost"
done
