#!/usr/bin/env bash
# An index of three partitions, of which one is stopped, killed, or killed in the middle of an
# answer: queries fail and name it, or answer without it and say so; never do they lack something
# silently. Updates say what was done where. Ctrl-C ends the work in all partitions.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
dir=$work/d
quadrille init --dir "$dir" >/dev/null
printf '%s\n' 'index.partitions = 3' 'processes.fetch = 0' \
    'web.listen = 127.0.0.1:0' >>"$dir/quadrille.conf"
awk 'BEGIN { for (d = 0; d < 1500; d++) for (i = 0; i < 100; i++)
    printf "<http://h.example/%d#%d> <http://p.example/%d> \"some text of document %d, line %d\" <http://h.example/%d> .\n",
        d, i, i % 5, d, i, d }' >"$work/all.nq"
quadrille import --dir "$dir" --quiet "$work/all.nq" || fail "import"
quadrille up --dir "$dir" --background --set processes.fetch=0
# The supervisor stands still, so that what is killed stays dead.
supervisor=$(pgrep -f -- "up --dir $dir --background" | head -n 1)
[[ -n $supervisor ]] || fail "no supervisor"
resume() {
    kill -CONT "$supervisor" $(pgrep -f -- "quadrille-index --dir $dir ") 2>/dev/null || true
}
trap 'code=$?; resume; end_all "$code"' EXIT
index() { pgrep -f -- "quadrille-index --dir $dir --number $1( |\$)"; } # 1, 2, 3

run() { # arguments of quadrille; sets code, fills out and err, seconds it took
    code=0
    local begun=$EPOCHREALTIME
    quadrille "$1" --dir "$dir" "${@:2}" >"$work/out" 2>"$work/err" || code=$?
    took=$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", b - a }')
}
must_fail() { # what, code, words on standard error
    [[ $code -eq $2 ]] || fail "$1: exit status $code instead of $2: $(cat "$work/err")"
    grep -q -- "$3" "$work/err" || fail "$1: no '$3' in: $(cat "$work/err")"
    [[ $took -le 45 ]] || fail "$1: took $took s" # less than a query may take; the silence is one second
}
count='SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }'
join='SELECT ?s ?t { ?s <http://p.example/1> ?t . ?s <http://p.example/1> ?u }'
whole() {
    for _ in $(seq "$patience"); do
        run query --format csv "$count"
        [[ $code -eq 0 ]] && break
        sleep 0.5
    done
    [[ $(tail -n 1 "$work/out" | tr -d '\r') == 150000 ]] || fail "$1: not whole: $(cat "$work/out" "$work/err")"
    for _ in $(seq "$patience"); do # on a busy machine a second's silence is not much
        run query --format csv "$join"
        [[ $code -eq 0 ]] && break
        sleep 0.5
    done
    [[ $code -eq 0 && $(wc -l <"$work/out") -eq 30001 ]] || fail "$1: the join has $(wc -l <"$work/out") lines"
}
missing() { # what: one partition does not answer
    run query "$count"
    must_fail "$1" 111 'index partition 1 (ipc://.*index-1.sock)'
    [[ ! -s $work/out ]] || fail "$1: rows of an answer that is none: $(cat "$work/out")"
    run query --partial warn --format csv "$count"
    must_fail "$1, warn" 2 'the answer is partial: index partition 1 (ipc://.*index-1.sock) is missing'
    local n
    n=$(tail -n 1 "$work/out" | tr -d '\r')
    [[ $n -gt 50000 && $n -lt 140000 ]] || fail "$1: $n quads in two of three partitions"
    run query --partial warn --format csv "$join"
    must_fail "$1, join" 2 'the answer is partial'
    run search --partial warn '"document 77"'
    must_fail "$1, search" 2 'the answer is partial'
    run search '"document 77"'
    must_fail "$1, search" 111 'index partition 1'
    run query --predicate http://p.example/1
    must_fail "$1, pattern" 111 'index partition 1'
    run query --partial warn --predicate http://p.example/1
    must_fail "$1, pattern" 2 'the answer is partial'
    # Only a document's own partition is asked.
    for d in $(seq 0 9); do
        run query --graph "http://h.example/$d"
        [[ $code -eq 0 && $(wc -l <"$work/out") -eq 100 ]] && return
    done
    fail "$1: documents of other partitions cannot be read"
}

# A triple of several graphs counts once in their union, wherever they lie, also after changes.
said() { # graphs, verb: the triple in each of them
    run update "$2 DATA { $(for d in $(seq 0 "$1"); do echo "GRAPH <http://h.example/$d> { <urn:a> <urn:p> <urn:b> }"; done) }"
}
asked() { # query, the number that it answers: also when the answer comes from what is kept
    local n
    for _ in 1 2 3 4; do
        n=$(curl -sS -H 'Accept: text/csv' --data-urlencode "query=$1" "http://127.0.0.1:$port/sparql" | tail -n 1 | tr -d '\r')
        [[ $n == "$2" ]] || fail "$n instead of $2: $1"
    done
}
counted() { # triples in the union, of <urn:p>
    asked "SELECT (COUNT(*) AS ?n) { ?s <urn:p> ?o }" "$2"
    asked "SELECT (SUM(?n) AS ?m) { SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p }" "$1"
}
for _ in $(seq "$patience"); do
    port=$(sed -nE 's/.*event=listening .*port=([0-9]+).*/\1/p' "$dir"/log/web*.log 2>/dev/null | tail -n 1 || true)
    [[ -n $port ]] && break
    sleep 0.1
done
counted 150000 0
said 20 INSERT
counted 150001 1
said 0 DELETE
counted 150001 1
said 20 DELETE
counted 150000 0
# Joins by a subject, which partitions evaluate for the subjects that one of them has alone: of three
# subjects of one document others have quads too, one of them in several documents.
others() { # verb
    run update "$1 DATA { $(for d in 3 4 5 6 7 8; do
        echo "GRAPH <http://h.example/$d> { <http://h.example/1#1> <urn:q> 1 . <http://h.example/1#$((d / 4 * 5 + 1))> <urn:q> $d }"
    done) }"
}
joined() { # rows of the OPTIONAL that have something, subjects that have, different values
    asked "SELECT (COUNT(?u) AS ?n) { ?s <http://p.example/1> ?t OPTIONAL { ?s <urn:q> ?u } }" "$1"
    asked "SELECT (COUNT(?u) AS ?n) { ?s <http://p.example/1> ?t OPTIONAL { ?s <urn:q> ?u } FILTER(isIRI(?s)) }" "$1"
    asked "SELECT (COUNT(*) AS ?n) { ?s <http://p.example/1> ?t OPTIONAL { ?s <urn:q> ?u } }" "$((30000 - $2 + $1))"
    asked "SELECT (COUNT(*) AS ?n) { ?s <http://p.example/1> ?t MINUS { ?s <urn:q> ?u } }" "$((30000 - $2))"
    asked "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s <http://p.example/1> ?t ; ?p ?u }" 30000
    asked "SELECT (COUNT(*) AS ?n) { ?s <http://p.example/1> ?t ; ?p ?u }" "$((30000 + $1))"
    asked "SELECT (COUNT(*) AS ?n) { ?s <http://p.example/1> ?t ; ?p ?u FILTER(isIRI(?s)) }" "$((30000 + $1))"
    asked "SELECT (COUNT(DISTINCT ?u) AS ?n) { ?s <urn:q> ?u }" "$3"
    asked "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?u }" 150000
}
joined 0 0 0
others INSERT
joined 7 3 7
others DELETE
joined 0 0 0
run query --explain 'SELECT (COUNT(*) AS ?n) { ?s <http://p.example/1> ?t ; ?p ?u }'
grep -q 'tally values of 2 patterns' "$work/out" || fail "a join is not counted by values: $(cat "$work/out")"
run query --explain 'SELECT (COUNT(*) AS ?n) { ?s <http://p.example/1> ?t ; ?p ?u FILTER(isIRI(?s)) }'
grep -q 'of nodes of one partition' "$work/out" || fail "a join by a subject is not partition-wise: $(cat "$work/out")"
# Commands now wait for a second only; no longer asked is the web, for which partitions of a busy machine may be late.
echo 'index.silence = 1s' >>"$dir/quadrille.conf"
whole 'at first'
kill -STOP "$(index 2)"
missing 'stopped'
run update "INSERT DATA { $(for d in $(seq 0 20); do
    echo "GRAPH <http://h.example/$d> { <urn:a> <urn:p> $d }"; done) }"
must_fail 'update' 111 'index partition 1 .*it is not done in partition 0, 1, 2'
kill -CONT "$(index 2)"
whole 'after going on'
kill -STOP "$supervisor"
kill -KILL "$(index 2)"
missing 'killed'
kill -CONT "$supervisor"
whole 'after a restart'

# In the middle of an answer: the reader takes a little, the partition dies, the reader goes on.
cut() { # signal, arguments of quadrille query
    local reader signal=$1
    shift
    mkfifo "$work/fifo"
    code=0
    { head -c 20000 >/dev/null; sleep 0.3; kill "-$signal" "$(index 2)"; sleep 0.2; wc -l; } <"$work/fifo" >"$work/lines" &
    reader=$!
    quadrille query --dir "$dir" "$@" >"$work/fifo" 2>"$work/err" || code=$?
    wait "$reader"
    rm "$work/fifo"
    took=0
}
all='SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } }'
for signal in KILL STOP; do
    for arguments in "--format csv --partial error" "--format csv --partial warn"; do
        [[ $signal == KILL ]] && kill -STOP "$supervisor"
        cut $signal $arguments "$all"
        if [[ $arguments == *warn ]]; then
            must_fail "$signal in the middle" 2 'the answer is partial: index partition 1'
            [[ $(cat "$work/lines") -lt 149000 ]] || fail "$signal in the middle: nothing is missing"
        else
            must_fail "$signal in the middle" 111 'index partition 1'
        fi
        resume
        whole "after $signal in the middle"
    done
    # The same where quads come as they are, and where the process is back at once.
    [[ $signal == KILL ]] || continue
    cut KILL --predicate http://p.example/1 --partial error
    must_fail "a pattern's partition restarts" 111 'index partition 1'
    cut KILL --format csv "$all"
    must_fail "a query's partition restarts" 111 'index partition 1'
    whole 'after restarts'
done

# Ctrl-C: the command ends at once, and the partitions have nothing more to do.
busy() { # clock ticks of all partitions
    cat $(pgrep -f -- "quadrille-index --dir $dir " | sed 's,.*,/proc/&/stat,') | awk '{ n += $14 + $15 } END { print n }'
}
setsid --fork bash -c "trap - INT; quadrille query --dir '$dir' --timeout 600 'SELECT (COUNT(*) AS ?n)
    { ?a <http://p.example/1> ?x . ?b <http://p.example/2> ?y . ?c <http://p.example/3> ?z FILTER(?x > ?z) }' \
    >'$work/out' 2>'$work/err'; echo \$? >'$work/code'"
for _ in $(seq "$patience"); do
    query=$(pgrep -f -- "^quadrille query --dir $dir --timeout 600" | head -n 1) && break
    sleep 0.05
done
sleep 0.7
kill -INT "$query"
for _ in $(seq "$patience"); do
    [[ -s $work/code ]] && break
    sleep 0.05
done
[[ $(cat "$work/code") == 130 ]] || fail "Ctrl-C: exit status $(cat "$work/code" 2>&1), $(cat "$work/err")"
await_rest busy || fail "Ctrl-C: the partitions still work"
quadrille down --dir "$dir" >/dev/null || fail "down"
echo "partitions: what is missing is always said"
