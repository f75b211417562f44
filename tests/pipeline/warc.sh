#!/usr/bin/env bash
# WARC files of a crawl are read completely by a reader that is not ours (warc_check.py, and the
# npm package warcio where it is installed), and hold every answer that the server logged.
. "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
"$python" -c 'import gzip' 2>/dev/null || skip "apt-get install python3"
hosts=$root/examples/web/hosts
start_web "$hosts"
seeds_of "$hosts" >"$work/seeds"
# Small files, so that they are followed by next ones.
crawl "$work/one" --set warc.size=64K >/dev/null || fail "crawl"

"$python" "$root/tests/pipeline/warc_check.py" "$work"/one/warc/*.warc.gz >"$work/read" ||
    fail "warc_check.py: $(cat "$work/read")"
cat "$work/read"
asked=$(wc -l <"$web_log")
for type in request response; do
    grep -qw "$type=$asked" "$work/read" || fail "$asked requests logged, archived: $(cat "$work/read")"
done
quads=$(zcat "$work"/one/warc/*-{detect,transform}.*.warc.gz | grep -cE '^[<_].* <[^<>]*> \.$' || true)
"$bin/quadrille" dump --dir "$work/one" --output "$work/one.nq" || fail "dump"
[[ $quads -eq $(wc -l <"$work/one.nq") ]] || fail "$quads quads in conversions, not as in the dump"
if command -v warcio >/dev/null; then
    records=$(tr ' ' '\n' <"$work/read" | awk -F= '{ n += $2 } END { print n }')
    [[ $(warcio index "$work"/one/warc/*.warc.gz 2>/dev/null | wc -l) -eq $records ]] ||
        fail "warcio does not read $records records"
    echo "warcio reads them too"
fi
