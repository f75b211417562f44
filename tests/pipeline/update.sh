#!/usr/bin/env bash
# SPARQL Update on an index, with one partition and with three, stopped and running: the changes
# are there at once, survive kill -9, leave the index whole, and a recrawl replaces what an update
# made of a document.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
site=$work/hosts/one.example
mkdir -p "$site"
for i in $(seq 5); do
    echo "<!DOCTYPE html><title>Page $i</title>" >"$site/$i.html"
    echo "<a href=$i.html>$i</a>"
done >"$site/index.html"
start_web "$work/hosts"
echo http://one.example/ >"$work/seeds"

title='http://purl.org/dc/terms/title'
answer() { # directory, query: the rows
    quadrille query --dir "$1" --format tsv "$2" | tail -n +2 | sort
}
same() { # what, expected, actual
    [[ $2 == "$3" ]] || fail "$1: expected: $2
got: $3"
}

for partitions in 1 3; do
    dir=$work/p$partitions
    crawl "$dir" --set index.partitions=$partitions >"$work/out" || fail "crawl: $(cat "$work/out")"
    quadrille dump --dir "$dir" >"$work/before"

    # While nothing runs; operations see what those before them did, in whatever partition.
    quadrille update --dir "$dir" "
        PREFIX m: <urn:mine:>
        INSERT DATA { GRAPH m:a { m:s m:p 1, 2 } GRAPH m:b { m:s m:p 3 } m:s m:p 4 } ;
        INSERT { GRAPH m:c { ?d m:titled ?t } } WHERE { GRAPH ?d { ?d <$title> ?t } } ;
        DELETE { GRAPH m:a { m:s m:p ?v } } WHERE { GRAPH m:a { m:s m:p ?v } FILTER(?v > 1) } ;
        COPY m:b TO m:d" >"$work/out" || fail "update: $(cat "$work/out")"
    grep -qx '4 operations done, 1 quads removed, 10 added' "$work/out" || fail "$(cat "$work/out")"
    same 'inserted' $'<urn:mine:a>\t1\n<urn:mine:b>\t3\n<urn:mine:d>\t3\n<urn:x-quadrille:default>\t4' \
        "$(answer "$dir" 'SELECT ?g ?v { GRAPH ?g { <urn:mine:s> <urn:mine:p> ?v } }')"
    same 'made from documents' $'"Page 1"\n"Page 2"\n"Page 3"\n"Page 4"\n"Page 5"' \
        "$(answer "$dir" 'SELECT ?t { GRAPH <urn:mine:c> { ?d <urn:mine:titled> ?t } }')"
    quadrille verify --dir "$dir" >"$work/out" || fail "verify: $(cat "$work/out")"

    # While everything runs, and the index is killed in between.
    mapfile -t settings < <(web_settings)
    quadrille up --dir "$dir" --background "${settings[@]}"
    quadrille update --dir "$dir" "DELETE { ?d <$title> ?t } INSERT { GRAPH ?d { ?d <$title> 'changed' } }
        WHERE { GRAPH ?d { ?d <$title> ?t } FILTER(STRENDS(STR(?d), '/3.html')) }" >/dev/null
    pkill -KILL -f -- "quadrille-index --dir $dir"
    same 'after a kill' '"changed"' \
        "$(answer "$dir" "SELECT ?t { GRAPH <http://one.example/3.html> { ?d <$title> ?t } }")"
    quadrille update --dir "$dir" 'CLEAR GRAPH <urn:mine:a> ; DROP GRAPH <urn:mine:b> ;
        DROP GRAPH <urn:mine:c> ; DROP GRAPH <urn:mine:d> ; CLEAR DEFAULT' >/dev/null
    code=0
    quadrille update --dir "$dir" 'INSERT DATA { GRAPH <urn:mine:e> { <urn:a> <urn:p> 1 } } ;
        LOAD <http://one.example/1.html> INTO GRAPH <urn:mine:e>' 2>"$work/out" >/dev/null || code=$?
    [[ $code -ne 0 ]] && grep -q 'operation 2: LOAD INTO' "$work/out" || fail "LOAD INTO: $(cat "$work/out")"

    # The document changes, comes again and is what the web says it is.
    sed 's/"Page 3"/"Fresh"/' "$work/before" >"$work/expected"
    echo '<!DOCTYPE html><title>Fresh</title>' >"$site/3.html"
    quadrille update --dir "$dir" 'DROP GRAPH <urn:mine:e> ; LOAD <http://one.example/3.html>' >"$work/out"
    grep -q '^<http://one.example/3.html> is queued: it is fetched when' "$work/out" || fail "LOAD promises more: $(cat "$work/out")"
    for _ in $(seq "$patience"); do
        quadrille dump --dir "$dir" | sort >"$work/after"
        cmp -s <(sort "$work/expected") "$work/after" && break
        sleep 0.5
    done
    diff <(sort "$work/expected") "$work/after" || fail "the crawl does not replace what an update made"
    echo '<!DOCTYPE html><title>Page 3</title>' >"$site/3.html"
    quadrille down --dir "$dir"
    quadrille verify --dir "$dir" >"$work/out" || fail "verify: $(cat "$work/out")"

    # One graph as the default graph; plans.
    quadrille update --dir "$dir" --default-graph urn:mine:f 'INSERT DATA { <urn:a> <urn:p> 1 } ;
        INSERT { <urn:a> <urn:q> ?o } WHERE { ?s ?p ?o } ; DELETE WHERE { <urn:a> <urn:p> ?o }' >/dev/null
    quadrille query --dir "$dir" --default-graph urn:mine:f --format csv 'SELECT * { ?s ?p ?o }' >"$work/out"
    printf 's,p,o\r\nurn:a,urn:q,1\r\n' | cmp - "$work/out" || fail "default graph: $(cat "$work/out")"
    quadrille query --dir "$dir" --explain 'SELECT * { ?s <urn:q> ?o }' >"$work/out"
    grep -q '^scan ?s <urn:q> ?o (about [0-9]* rows)$' "$work/out" || fail "explain: $(cat "$work/out")"
    quadrille query --dir "$dir" --analyze 'SELECT * { ?s <urn:q> ?o }' >"$work/out"
    grep -q '^scan ?s <urn:q> ?o (about [0-9]* rows; 1 rows, [0-9.]* ms)$' "$work/out" || fail "analyze: $(cat "$work/out")"

    quadrille update --dir "$dir" 'CLEAR ALL' >/dev/null
    [[ -z $(quadrille dump --dir "$dir") ]] || fail "CLEAR ALL leaves quads"
    quadrille verify --dir "$dir" >"$work/out" || fail "verify: $(cat "$work/out")"
done
