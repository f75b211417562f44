#!/usr/bin/env bash
# What --help, README.md and docs/TUTORIAL.md show is run as it stands there, each set of examples in a
# copy of one crawled directory; the tutorial crawls for itself. The sites are served on loopback, and
# that is all that is changed:
# https becomes http, DIR and FILE become real ones, what would run for ever is stopped.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
for host in example.org example.net; do
    mkdir -p "$work/hosts/$host"
    cat >"$work/hosts/$host/index.html" <<H
<!DOCTYPE html><html lang="en"><title>How to bake an apple pie</title>
<p>How to bake an <a href="page">apple pie</a>, or <a href="pears.ttl">pears</a>.</p>
H
    echo "<> <http://xmlns.com/foaf/0.1/name> \"Ann of $host\" ." >"$work/hosts/$host/page"
    echo 'type /page text/turtle' >"$work/hosts/$host/.serve"
    echo "<urlset><url><loc>http://$host/page</loc></url></urlset>" >"$work/hosts/$host/sitemap.xml"
    echo '<> <http://purl.org/dc/terms/title> "Pears and what to do with them"@en .' >"$work/hosts/$host/pears.ttl"
done
cp -r "$root/examples/web/hosts/people.example" "$work/hosts"
mkdir -p "$work/hosts/xmlns.com/foaf/0.1" # the site of the tutorial, so much of it as its questions need
echo '<a href="index.rdf">FOAF</a>' >"$work/hosts/xmlns.com/foaf/0.1/index.html"
cat >"$work/hosts/xmlns.com/foaf/0.1/index.rdf" <<'R'
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<rdf:Property rdf:about="http://xmlns.com/foaf/0.1/knows" rdfs:label="knows" rdfs:comment="A person known by this person.">
<rdfs:domain rdf:resource="http://xmlns.com/foaf/0.1/Person"/></rdf:Property>
<rdf:Property rdf:about="http://xmlns.com/foaf/0.1/mbox" rdfs:label="personal mailbox">
<rdfs:domain rdf:resource="http://xmlns.com/foaf/0.1/Agent"/></rdf:Property>
</rdf:RDF>
R
start_web "$work/hosts"
seeds_of "$work/hosts" >"$work/seeds"
mkdir -p "$work/base"
cat >"$work/base/quadrille.conf" <<C
fetch.connect_to = 127.0.0.1:$web_port
fetch.allow_address = 127.0.0.0/8
fetch.delay = 0
web.listen = 127.0.0.1:0
C
quadrille crawl --dir "$work/base" --seeds "$work/seeds" --quiet >"$work/out" 2>&1 ||
    fail "crawl: $(cat "$work/out")"

# Lines of shell, comments left out.
help_examples() { # program, subcommand
    "$@" --help | sed -n '/^Examples:/,$ s/^  *\([^ #].*\)$/\1/p'
}
readme_examples() {
    sed -n '/^## Use/,/^## What/ s/^    //p' "$root/README.md" | grep '^quadrille'
}
tutorial_examples() {
    sed -n 's/^    //p' "$root/docs/TUTORIAL.md"
}

# Runs a command that goes on for ever, and ends it some time after it listens to SIGTERM.
stop_by_and_by() {
    local pid set code=0
    "$@" &
    pid=$!
    for _ in $(seq 300); do
        for set in $([[ $(readlink "/proc/$pid/exe") == */quadrille* ]] && sed -nE 's/^Sig(Blk|Cgt):\t//p' "/proc/$pid/status"); do
            ((16#$set & 1 << 14)) && break 2
        done
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    sleep 1
    kill $pid 2>/dev/null || true # it may have failed
    wait $pid || code=$?
    return $code
}

# Runs the lines of FILE in a copy of the crawled directory; one line of output for each failure.
run_examples() { # file of examples, folder to work in
    local line code runs=()
    mkdir -p "$2"
    cp -r "$work/base" "$2/crawl"
    cp "$work/hosts/example.org/index.html" "$2/page.html"
    echo 'http://example.org/' >"$2/seeds.txt"
    echo '<urn:s> <urn:p> "all" <urn:g> .' >"$2/all.nq"
    echo '<urn:s> <urn:p> "more" .' >"$2/more.ttl"
    echo '<http://example.com/id/1> <urn:p> "one" .' | tee "$2/dump.nt" | gzip >"$2/dump.nt.gz"
    ln -s "$root/examples" "$2/examples"
    cd "$2"
    while IFS= read -r line; do
        line=${line//https:/http:}
        line=${line//:8480/:$web_port}
        line=$(sed -E 's/\bDIR\b/crawl/g; s/\bFILE\b/page.html/g' <<<"$line")
        line=${line/#quadrille inspect http/quadrille inspect --dir crawl http} # which says where the web is
        runs=(timeout 600) # which ends what hangs
        case $line in
            *--background*) ;;
            'quadrille cluster forget'*) continue ;; # takes a node that is no more: unit/test_queue has it
            *'restore --root ROOT'*) continue ;; # takes a machine with a disk: pipeline/shares_disks has it
            *'--dir ROOT'*) continue ;; # takes the machines of a cluster: pipeline/shares has them
            quadrille-* | 'quadrille up '* | 'quadrille cluster run '* | 'quadrille serve '* | *--follow* | *--continuous*)
                runs=(stop_by_and_by) ;;
        esac
        case $line in
            'quadrille restore'*) quadrille backup --dir crawl saved >out 2>&1 ;;
        esac
        code=0
        "${runs[@]}" bash -c "exec $line" >out 2>&1 </dev/null || code=$?
        [[ $code -eq 0 ]] || echo "exit $code: $line: $(tail -n 3 out)"
        case $line in
            *' >'*) ;; # to a file
            *'quadrille search'* | *'quadrille query'* | *'quadrille meta'* | *'quadrille report'* | \
                *'quadrille explain'* | *'quadrille prefixes'*)
                [[ -s out ]] || echo "says nothing: $line" ;;
        esac
        case $line in # of the tutorial, whose questions have answers
            'quadrille init --dir foaf') cat "$work/base/quadrille.conf" >>foaf/quadrille.conf ;;
            'quadrille search --dir foaf'*) grep -q '"personal mailbox".*index.rdf' out || echo "not found: $line" ;;
            'quadrille query --dir foaf'*) grep -qE 'knows>  *knows|A person known' out || echo "no answer: $line" ;;
            'quadrille explain --dir foaf'*) grep -q '^http://xmlns.com/foaf/0.1/index.rdf' out || echo "no document: $line" ;;
        esac
        if [[ $line == *--keys* ]]; then rm crawl/cluster.conf; fi # a line is not yet a cluster
    done <"$1"
}
export -f run_examples stop_by_and_by
export work root web_port

subcommands=$(quadrille --help | sed -n '/^Commands/,/^Flags/ s/^  \([a-z]*\)  *[a-z].*/\1/p')
[[ $(wc -w <<<"$subcommands") -ge 18 ]] || fail "subcommands: $subcommands"
mkdir "$work/examples"
for name in $subcommands; do
    help_examples quadrille "$name" >"$work/examples/quadrille-$name"
done
help_examples quadrille >"$work/examples/quadrille"
for program in "$bin"/quadrille-*[a-z]; do
    help_examples "$program" >"$work/examples/${program##*/}.service"
done
readme_examples >"$work/examples/README"
tutorial_examples >"$work/examples/TUTORIAL"
for file in "$work"/examples/*; do
    [[ -s $file ]] || fail "no examples: ${file##*/}"
done
# README.md and the tutorial always; of the others a brief run takes a third, at each commit another.
ls "$work/examples" | awk -v every="$(brief 1 3)" -v commit="${QUADRILLE_BRIEF:-0}" \
    '/^[A-Z]/ || (NR + commit) % every == 0' >"$work/chosen"
xargs -a "$work/chosen" -P 4 -I{} bash -c 'run_examples "$work/examples/{}" "$work/run-{}"' \
    >"$work/failures" 2>&1
[[ ! -s $work/failures ]] || fail "$(cat "$work/failures")"
echo "examples: $(cd "$work/examples" && xargs -a "$work/chosen" cat | wc -l) lines of --help, README.md and the tutorial run as they stand"
