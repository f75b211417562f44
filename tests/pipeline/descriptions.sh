#!/usr/bin/env bash
# Datasets that VoID, DCAT and schema.org describe, found by the crawl itself: at /.well-known/void,
# behind redirects, and in documents that links lead to. What comes out of dumps is, byte for byte, what
# crawling one by one brings; pages that a dump turns out not to have are fetched; claims on what is
# not the author's change nothing.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
hosts=$work/hosts
count=40
prefixes='@prefix void: <http://rdfs.org/ns/void#> . @prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .'

triples() { # host, i, folder
    printf '<http://%s/%s/%d> <http://vocab.example/name> "thing %d" .
<http://%s/%s/%d> <http://vocab.example/next> <http://%s/%s/%d> .
<http://%s/%s/%d> <http://vocab.example/part> _:p%d .
_:p%d <http://vocab.example/weight> "%d" .\n' \
        "$1" "${3:-id}" "$2" "$2" "$1" "${3:-id}" "$2" "$1" "${3:-id}" $(($2 % count + 1)) "$1" "${3:-id}" "$2" "$2" "$2" "$2"
}
all() { for i in $(seq "${2:-$count}"); do triples "$1" "$i" "${3:-id}"; done; } # host, how many, folder
site() { # host, folder: documents, and a page that links to the first
    mkdir -p "$hosts/$1/${2:-id}" "$hosts/$1/.well-known"
    for i in $(seq $count); do
        triples "$1" "$i" "${2:-id}" >"$hosts/$1/${2:-id}/$i"
        echo "type /${2:-id}/$i application/n-triples"
    done >>"$hosts/$1/.faults"
    printf '<html><head><title>%s</title>%s</head><body><a href="/%s/1">one</a>%s</body></html>' \
        "$1" "${3:-}" "${2:-id}" "${4:-}" >"$hosts/$1/index.html"
}
void() { # host, path, what is said of the dataset
    mkdir -p "$hosts/$1/$(dirname "$2")"
    printf '%s\n<#it> a void:Dataset ; dct:title "Things of %s" ; %s .\n' "$prefixes" "$1" "$3" >"$hosts/$1/$2"
    echo "type /$2 text/turtle" >>"$hosts/$1/.faults"
}
usual() { # host, folder
    printf 'void:uriSpace "http://%s/%s/" ; void:exampleResource <http://%s/%s/7> ; void:dataDump <http://%s/all.nt>' \
        "$1" "${2:-id}" "$1" "${2:-id}" "$1"
}

# Where VoID says it is; there by a redirect, on this host and on another; a pattern; subsets.
site known.example && void known.example .well-known/void "$(usual known.example)"
site moved.example && void moved.example about/void.ttl "$(usual moved.example)"
echo 'redirect /.well-known/void http://moved.example/about/void.ttl' >>"$hosts/moved.example/.faults"
site away.example && void catalog.example away.ttl "$(usual away.example)"
echo 'redirect /.well-known/void http://catalog.example/away.ttl' >>"$hosts/away.example/.faults"
site pattern.example && void pattern.example .well-known/void \
    'void:uriRegexPattern "^http://pattern\\.example/id/.+" ; void:exampleResource <http://pattern.example/id/3> ; void:dataDump <http://pattern.example/all.nt>'
site subset.example && void subset.example .well-known/void "void:subset <#part> . <#part> a void:Dataset ; $(usual subset.example)"
# In documents that links lead to: of its own folder only.
site linked.example data/id '' '<a href="/data/void.ttl">about</a>'
void linked.example data/void.ttl "$(usual linked.example data/id)"
# DCAT, with a prefix in VoID's words; the file's syntax by its media type.
site dcat.example && void dcat.example .well-known/void 'a dcat:Dataset ; void:uriSpace "http://dcat.example/id/" ;
    void:exampleResource <http://dcat.example/id/2> ; dcat:distribution [ dcat:downloadURL <http://dcat.example/all.nt> ;
    dcat:mediaType <https://www.iana.org/assignments/media-types/application/n-triples> ] ,
    [ dcat:downloadURL <http://dcat.example/all.csv> ; dcat:mediaType <https://www.iana.org/assignments/media-types/text/csv> ]'
taken=(known moved away pattern subset linked dcat)
for h in "${taken[@]}"; do
    [[ $h == linked ]] && all linked.example $count data/id >"$hosts/linked.example/all.nt" && continue
    all "$h.example" >"$hosts/$h.example/all.nt"
done

# The dump has less than the space: the rest is fetched.
site partly.example && void partly.example .well-known/void "$(usual partly.example)"
all partly.example 30 >"$hosts/partly.example/all.nt"
# schema.org in a page: the file is a document like any other, since nobody says what it describes.
site schema.example id '<script type="application/ld+json">{"@context": {"@vocab": "https://schema.org/"},
"@type": "Dataset", "name": "Things", "distribution": {"@type": "DataDownload", "encodingFormat": "text/turtle",
"contentUrl": {"@id": "http://schema.example/all.ttl"}}}</script>'
all schema.example >"$hosts/schema.example/all.ttl"
# A page deep inside claims the host, another host, and nothing that a sitemap says.
site bob.example && void bob.example id/bob.ttl 'void:uriSpace "http://bob.example/" , "http://victim.example/id/" ; void:dataDump <http://bob.example/lies.nt>'
sed -i 's#</body>#<a href="/id/bob.ttl">bob</a></body>#' "$hosts/bob.example/index.html"
{ all bob.example; all victim.example; } | sed 's/thing/lie/' >"$hosts/bob.example/lies.nt"
site victim.example
# Its dump contradicts its example.
site lying.example && void lying.example .well-known/void "$(usual lying.example)"
all lying.example | sed 's/thing/lie/' >"$hosts/lying.example/all.nt"
crawled=(partly:10 schema:40 bob:40 victim:40 lying:40)

start_faulty_web "$hosts"
settings=(--set scope.depth=1000 --set transform.wait=20)
{
    seeds_of "$hosts"
    for h in "$hosts"/*/; do
        h=$(basename "$h")
        for i in $(seq $count); do
            [[ -e $hosts/$h/id/$i ]] && echo "http://$h/id/$i"
            [[ -e $hosts/$h/data/id/$i ]] && echo "http://$h/data/id/$i"
        done
        echo "http://$h/.well-known/void"
    done
} >"$work/seeds"
crawl "$work/single" "${settings[@]}" --set datasets.plan=no >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/single" "$work/single.nq"
: >"$web_log"
seeds_of "$hosts" >"$work/seeds"
crawl "$work/planned" "${settings[@]}" --set datasets.well_known=yes >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/planned" "$work/planned.nq"
quadrille datasets --dir "$work/planned" >"$work/told" || fail "datasets"
# A dump that a link names is fetched as a document by some crawls, if the link was met before the plan.
documents() { grep -vE ' <http://[a-z]+\.example/(all|lies)\.(nt|ttl)> \.$' "$1" >"$1.documents" || true; }
documents "$work/single.nq" && documents "$work/planned.nq"
same "$work/single.nq.documents" "$work/planned.nq.documents" "one by one and planned: $(cat "$work/told")"

asked() { awk -F'\t' -v h="$1.example" '$2 == h && $4 ~ /\/id\/[0-9]/' "$web_log" | wc -l; }
for h in "${taken[@]}"; do
    n=$(asked "$h")
    [[ $n -le 10 ]] || fail "$h: $n documents were fetched although a dump has them: $(cat "$work/told")"
done
for h in "${crawled[@]}"; do
    n=$(asked "${h%:*}")
    [[ $n -ge ${h#*:} ]] || fail "${h%:*}: only $n documents were fetched: $(cat "$work/told")"
done
for h in "$hosts"/*/; do
    n=$(awk -F'\t' -v h="$(basename "$h")" '$2 == h && $4 == "/.well-known/void"' "$web_log" | wc -l)
    [[ $n -le 1 ]] || fail "$h was asked $n times for its description"
done
tells() { grep -qF -- "$1" "$work/told" || fail "not told: $1: $(cat "$work/told")"; }
tells "taken as documents: no void:uriSpace says what they hold"
tells "refused: linked data http://bob.example/: it is outside of http://bob.example/id/, this description's URI space"
tells "refused: linked data http://victim.example/id/"
tells "what the dumps say of the sample http://lying.example/id/7 is not what it says itself"
grep -q ' <http://schema.example/all.ttl> \.$' "$work/planned.nq" || fail "the file of schema.example is not there"
quadrille meta --dir "$work/planned" http://known.example/id/9 >"$work/meta"
grep -q 'slicing "cbd, proved by samples"' "$work/meta" || fail "no proof: $(cat "$work/meta")"

# A space was covered until its dump was sliced: not again by a plan that is made after that.
triples partly.example 41 >"$hosts/partly.example/id/late"
quadrille up --dir "$work/planned" --background --only queue >/dev/null
quadrille add --dir "$work/planned" --again http://partly.example/.well-known/void >/dev/null
quadrille down --dir "$work/planned"
: >"$web_log"
for seed in '' id/late; do # the second is met after the plan
    echo "http://partly.example/$seed" >"$work/seeds"
    crawl "$work/planned" "${settings[@]}" >"$work/out" || fail "crawl: $(cat "$work/out")"
done
requests() { awk -F'\t' -v path="$1" '$2 == "partly.example" && $4 == path' "$web_log" | wc -l; }
[[ $(requests /.well-known/void) -eq 1 && $(requests /all.nt) -eq 1 ]] || fail "no plan again: $(cat "$web_log")"
[[ $(requests /id/late) -eq 1 ]] || fail "a late page is left out: $(cat "$web_log")"

# Slices come by the thousand, and those that are there already link to those that are not; a plain sitemap
# lists them all.
many=4000
mkdir -p "$hosts/large.example/id"
void large.example .well-known/void "$(usual large.example)"
printf '<html><body><a href="/id/1">one</a></body></html>' >"$hosts/large.example/index.html"
awk -v n=$many -v folder="$hosts/large.example" 'BEGIN {
    for (i = 1; i <= n; i++) {
        lines = ""
        for (k = 1; k <= 6; k++)
            lines = lines sprintf("<http://large.example/id/%d> <http://vocab.example/next> <http://large.example/id/%d> .\n",
                i, (i * 7 + k * 997) % n + 1)
        printf "%s", lines >(folder "/id/" i)
        printf "%s", lines >(folder "/all.nt")
        close(folder "/id/" i)
    }
    for (i = 1; i <= 7; i += 6) print "type /id/" i " application/n-triples" >>(folder "/.faults")
}'
{
    echo '<urlset>'
    for i in $(seq $many); do echo "<url><loc>http://large.example/id/$i</loc></url>"; done
    echo '</urlset>'
} >"$hosts/large.example/map.xml"
echo 'Sitemap: /map.xml' >"$hosts/large.example/robots.txt"
: >"$web_log"
echo http://large.example/ >"$work/seeds"
crawl "$work/large" "${settings[@]}" --set datasets.well_known=yes >"$work/out" || fail "crawl: $(cat "$work/out")"
[[ $(asked large) -le $((many / 10)) ]] || fail "$(asked large) of $many documents were fetched although a dump has them"
prints "sliced: $many documents" quadrille datasets --dir "$work/large" || fail "large.example is not sliced"

# Only hosts that answer with RDF are asked for a description; none when not wanted.
for which in rdf no; do
    : >"$web_log"
    printf '%s\n' http://known.example/id/1 http://catalog.example/ >"$work/seeds"
    crawl "$work/$which" --set scope.depth=0 --set datasets.well_known=$which >"$work/out" || fail "crawl"
    n=$(awk -F'\t' '$4 == "/.well-known/void" { print $2 }' "$web_log" | paste -sd' ')
    [[ $n == "$([[ $which == rdf ]] && echo known.example || true)" ]] || fail "asked with $which: $n"
done
echo "descriptions: $(tail -n 1 "$work/told")"
