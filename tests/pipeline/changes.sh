#!/usr/bin/env bash
# A mirror that applies `quadrille changes` to a dump stays equal to the index, byte by byte, over two
# partitions, while crawls bring documents and change them, the processes of the index are killed with
# -9, and so is the follower.
#
# usage: tests/pipeline/changes.sh
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is needed for the mirror"
q=$bin/quadrille dir=$work/main mirror=$work/mirror
cp -r "$root/examples/web/hosts" "$work/hosts"
start_web "$work/hosts"
seeds_of "$work/hosts" >"$work/seeds"

# The mirror: DIR/lines and DIR/position are replaced together, by one rename, with each commit.
cat >"$work/mirror.py" <<'END'
import os, sys
folder = sys.argv[1]
with open(folder + "/state", "rb") as file:
    position = file.readline()
    lines = set(file)
removed, added, open_batch = set(), set(), False
for line in sys.stdin.buffer:
    if not line.endswith(b"\n"): # the follower was killed in the middle of it
        break
    if line.startswith(b"# begin "):
        assert not open_batch
        removed, added, open_batch = set(), set(), True
    elif line.startswith(b"# abort"):
        open_batch = False
    elif line.startswith(b"-"):
        removed.add(line[1:])
    elif line.startswith(b"+"):
        added.add(line[1:])
    elif line.startswith(b"# commit "):
        assert open_batch
        open_batch = False
        if not removed <= lines:
            sys.exit("a quad was removed that is not there: %r" % sorted(removed - lines)[:1])
        lines -= removed
        if added & lines:
            sys.exit("a quad was added that is there: %r" % sorted(added & lines)[:1])
        lines |= added
        with open(folder + "/new", "wb") as file:
            file.write(line[len(b"# commit "):])
            file.writelines(sorted(lines))
        os.rename(folder + "/new", folder + "/state")
END

start_mirror() {
    "$q" dump --dir "$dir" --output "$work/first.nq" --position "$work/first.position" ||
        fail "dump --position"
    mkdir -p "$mirror"
    cat "$work/first.position" "$work/first.nq" >"$mirror/state"
}
follow() { # in the background; sets follower and applier. The mirror before must have ended.
    rm -f "$work/follower"
    # The shell around it, so that a follower that is killed is no failure of the pipe.
    { "$BASH" -c 'echo $$ >"$0.new" && mv "$0.new" "$0" && exec "$@"' "$work/follower" \
        "$q" changes --dir "$dir" --since "$(head -n 1 "$mirror/state")" --follow \
        2>"$work/follow.err" || true; } |
        python3 "$work/mirror.py" "$mirror" 2>>"$work/mirror.err" &
    applier=$!
    until [[ -s $work/follower ]]; do sleep 0.01; done
    follower=$(<"$work/follower")
}
check() { # what
    [[ ! -s $work/mirror.err ]] || fail "$1: $(cat "$work/mirror.err")"
    "$q" dump --dir "$dir" >"$work/now.nq" || fail "$1: dump"
    cmp <(tail -n +2 "$mirror/state") "$work/now.nq" || fail "$1: the mirror differs"
}
catch_up() { # what
    "$q" changes --dir "$dir" --since "$(head -n 1 "$mirror/state")" >"$work/patch" ||
        fail "$1: changes"
    python3 "$work/mirror.py" "$mirror" <"$work/patch" 2>>"$work/mirror.err" || fail "$1: mirror"
}

# Something by hand first, so that the mirror begins with something.
"$q" init --dir "$dir" >/dev/null || fail "init"
echo "index.partitions = 2" >>"$dir/quadrille.conf"
for i in {1..200}; do
    echo "<http://s.example/$((i % 7))> <http://p.example/$((i % 5))> \"$i\" <http://g.example/$((i % 40))> ."
done >"$work/first.nq"
"$q" import --dir "$dir" --quiet "$work/first.nq" >/dev/null || fail "import"
start_mirror
check "start"

# Kills while everything is crawled.
delay=0.1 crawl "$dir" >"$work/crawl.out" 2>&1 & # a rest between pages, so that it is not over at once
command=$!
kills=0 kills_of_index=0
follow
while kill -0 $command 2>/dev/null; do
    sleep "0.$(printf %03d $((RANDOM % 300 + 100)))"
    if ((kills + kills_of_index == 12)); then
        continue
    elif ((kills_of_index <= kills)); then
        pid=$(pgrep -f -- "quadrille-index.*--dir $dir( |$)" | shuf -n 1 || true)
        [[ -n $pid ]] && kill -9 "$pid" 2>/dev/null && kills_of_index=$((kills_of_index + 1))
    else
        kill -9 "$follower" 2>/dev/null && kills=$((kills + 1))
    fi
    if ! kill -0 "$follower" 2>/dev/null; then
        wait $applier || fail "mirror: $(cat "$work/mirror.err")"
        follow
    fi
done
wait $command || fail "crawl: $(cat "$work/crawl.out")"
((kills > 0 && kills_of_index > 0)) ||
    fail "$kills kills of the follower and $kills_of_index of the index: nothing is proved"
kill "$follower" 2>/dev/null || true
wait $applier || fail "mirror: $(cat "$work/mirror.err")"
catch_up "after the crawl"
check "after the crawl"

# Changes by hand: an update, a graph emptied.
graph=$(sed -nE '2{s/.* <([^>]*)> \.$/\1/p;q}' "$mirror/state")
"$q" update --dir "$dir" "DELETE WHERE { GRAPH ?g { ?s <http://p.example/3> ?o } } ;
    CLEAR GRAPH <$graph> ;
    INSERT DATA { GRAPH <http://by-hand.example/> { <http://x.example/> <http://p.example/> \"a\nb\" } }" \
    >/dev/null || fail "update"
catch_up "after the update"
check "after the update"
grep -q '^<http://x.example/> <http://p.example/> "a\\nb" <http://by-hand.example/> \.$' \
    "$mirror/state" || fail "the update is not in the mirror"

# Other formats say the same.
"$q" changes --dir "$dir" --format rdf-patch >"$work/all.rdfp" || fail "rdf-patch"
"$q" changes --dir "$dir" --format json >"$work/all.json" || fail "json"
"$q" changes --dir "$dir" >"$work/all.patch" || fail "nquads-patch"
python3 - "$work" <<'END' || fail "the formats differ"
import json, sys
folder = sys.argv[1]
plain = [line[:-1] for line in open(folder + "/all.patch", encoding="utf-8", newline="\n")]
want = [("-+".index(line[0]), line[1:]) for line in plain if line[0] in "+-"]
patch = [line[:-1] for line in open(folder + "/all.rdfp", encoding="utf-8", newline="\n")]
assert want == [("DA".index(line[0]), line[2:]) for line in patch if line[:2] in ("D ", "A ")]
objects = [json.loads(line) for line in open(folder + "/all.json", encoding="utf-8", newline="\n")]
ops = ["remove", "add"]
assert want == [(ops.index(o["op"]), o["quad"]) for o in objects if o["op"] in ops]
assert patch.count("TX .") == patch.count("TC .") == sum(o["op"] == "commit" for o in objects) > 2
assert plain[-1] == "# commit " + objects[-1]["position"]
END
[[ $("$q" changes --dir "$dir" --start) == "$(head -n 1 "$mirror/state")" ]] || fail "--start"
"$q" changes --dir "$dir" --graph http://by-hand.example/ >"$work/graph.patch" || fail "--graph"
[[ $(grep -c '^[+-]' "$work/graph.patch") -eq 1 ]] || fail "--graph gives other graphs"

# Who fell behind is told what to do.
code=0
"$q" changes --dir "$dir" --set index.changes=0 --since "0:1.1,1:1.1" \
    >/dev/null 2>"$work/behind.err" || code=$?
[[ $code -ne 0 ]] && grep -q "dump again" "$work/behind.err" ||
    fail "a wrong position: $code, $(cat "$work/behind.err")"
echo "changes: $kills kills of the follower, $kills_of_index of the index, the mirror is equal"
