#!/usr/bin/env bash
# Semantic Sitemaps, planned and carried out by the crawl itself: what comes out of dumps is, byte for
# byte, what crawling one by one brings, with fewer requests; claims on what is not the author's, dumps
# that are not to be had, and dumps that contradict the samples change nothing.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
hosts=$work/hosts
count=40
namespace=http://sw.deri.org/2007/07/sitemapextension

# ---- sites ----

documents() { # host: one file each, without extension
    mkdir -p "$hosts/$1/id"
    for i in $(seq $count); do thing_triples "$1" "$i" >"$hosts/$1/id/$i"; done
    printf '<html><head><title>%s</title></head><body><a href="/id/1">one</a></body></html>' "$1" \
        >"$hosts/$1/index.html"
}
all() { for i in $(seq $count); do thing_triples "$1" "$i"; done; } # host
robots() { # host, further lines
    printf 'User-agent: *\nDisallow: /private/\n%s\nSitemap: http://%s/sitemap.xml\n' "${2:-}" "$1" \
        >"$hosts/$1/robots.txt"
}
sitemap() { # host, what the dataset says, what the urlset says; file
    mkdir -p "$hosts/$1"
    printf '<?xml version="1.0"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:sc="%s">%s<sc:dataset>
<sc:datasetLabel>Things of %s</sc:datasetLabel><sc:datasetURI>http://%s/all</sc:datasetURI>%s
</sc:dataset></urlset>' "$namespace" "${3:-}" "$1" "$1" "$2" >"$hosts/$1/${4:-sitemap.xml}"
}
prefix() { printf '<sc:linkedDataPrefix%s>http://%s/id/</sc:linkedDataPrefix>' "${2:-}" "$1"; } # host, attribute
dump() { printf '<sc:dataDumpLocation>%s</sc:dataDumpLocation>' "$1"; }
sample() { printf '<sc:sampleURI>%s</sc:sampleURI>' "$1"; }
site() { # host, dump's name; the rest of the dataset: the usual site
    documents "$1"
    robots "$1"
    sitemap "$1" "$(prefix "$1" ' sc:slicing="cbd"')$(dump "http://$1/$2")$(sample "http://$1/id/7")${3:-}"
}
typed() { # host: media types of what has no extension
    for i in $(seq $count); do echo "type /id/$i application/n-triples"; done >>"$hosts/$1/.serve"
}

# Plain and packed, in several syntaxes; several dumps, of which one on another host.
site plain.example dump.nt && all plain.example >"$hosts/plain.example/dump.nt"
site gzip.example all.nt.gz && all gzip.example | gzip >"$hosts/gzip.example/all.nt.gz"
site bzip2.example all.nt.bz2 && all bzip2.example | bzip2 >"$hosts/bzip2.example/all.nt.bz2"
site zip.example all.zip && all zip.example >"$work/things.nt" &&
    python3 -c 'import sys, zipfile
zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED).write(sys.argv[2], "things.nt")' \
        "$hosts/zip.example/all.zip" "$work/things.nt"
site xml.example all.rdf && all xml.example >"$work/xml.nt" &&
    rapper -q -i ntriples -o rdfxml "$work/xml.nt" >"$hosts/xml.example/all.rdf" 2>/dev/null
site quads.example all.nq && for i in $(seq $count); do
    thing_triples quads.example "$i" | sed "s# \\.\$# <http://quads.example/id/$i> .#"
done >"$hosts/quads.example/all.nq"
site several.example one.nt "$(dump http://files.example/data/two.ttl.gz)"
mkdir -p "$hosts/files.example/data"
all several.example | sed -n '1,80p' >"$hosts/several.example/one.nt"
all several.example | tail -n +81 | gzip >"$hosts/files.example/data/two.ttl.gz"

# No method is declared: the one that gives the samples is taken. The 2007 names of tags.
documents undeclared.example && robots undeclared.example
sitemap undeclared.example "$(prefix undeclared.example)<sc:dataDump>/all.nt</sc:dataDump>$(sample http://undeclared.example/id/3)"
all undeclared.example >"$hosts/undeclared.example/all.nt"

# Resources redirect to documents, by one rule.
documents redirects.example && robots redirects.example
mkdir -p "$hosts/redirects.example/doc"
for i in $(seq $count); do
    mv "$hosts/redirects.example/id/$i" "$hosts/redirects.example/doc/$i.nt"
    echo "redirect /id/$i 303 /doc/$i.nt"
done >"$hosts/redirects.example/.serve"
rmdir "$hosts/redirects.example/id"
sitemap redirects.example "$(prefix redirects.example ' slicing="CBD"')$(dump http://redirects.example/all.nt)$(sample http://redirects.example/id/5)$(sample http://redirects.example/id/6)"
all redirects.example >"$hosts/redirects.example/all.nt"

# An authority within the space, and one outside.
site authority.example all.nt && all authority.example >"$hosts/authority.example/all.nt"
sitemap authority.example "$(prefix authority.example ' sc:slicing="cbd"')$(dump http://authority.example/all.nt)$(sample http://authority.example/id/7)" \
    '<sc:authority>http://authority.example/about#us</sc:authority>'
site usurper.example all.nt && all usurper.example >"$hosts/usurper.example/all.nt"
sitemap usurper.example "$(prefix usurper.example ' sc:slicing="cbd"')$(dump http://usurper.example/all.nt)$(sample http://usurper.example/id/7)" \
    '<sc:authority>http://plain.example/about#us</sc:authority>'
taken=(plain gzip bzip2 zip xml quads several undeclared redirects authority usurper)

# ---- what is refused, or not to be had: crawled as ever ----

site missing.example nowhere.nt
site forbidden.example x.nt && all forbidden.example >"$hosts/forbidden.example/x.nt"
sitemap forbidden.example "$(prefix forbidden.example)$(dump http://files.example/private/x.nt)$(sample http://forbidden.example/id/7)"
mkdir -p "$hosts/files.example/private" && cp "$hosts/forbidden.example/x.nt" "$hosts/files.example/private/"
printf 'User-agent: *\nDisallow: /private/\n' >"$hosts/files.example/robots.txt"
site lying.example all.nt && all lying.example | sed 's/thing/lie/' >"$hosts/lying.example/all.nt"
site damaged.example all.nt.gz && all damaged.example | gzip >"$work/whole.gz" &&
    head -c 300 "$work/whole.gz" >"$hosts/damaged.example/all.nt.gz"
site large.example all.nt && { all large.example; head -c 3000000 /dev/zero | tr '\0' '\n'; } >"$hosts/large.example/all.nt"
# It claims what is another's, outright and by a link that is not answered.
site victim.example all.nt && rm "$hosts/victim.example/robots.txt" &&
    mv "$hosts/victim.example/sitemap.xml" "$hosts/victim.example/own.xml" # where nobody looks for it
mkdir -p "$hosts/thief.example" && robots thief.example
all victim.example | sed 's/thing/stolen/' >"$hosts/thief.example/all.nt"
sitemap thief.example "$(prefix victim.example)$(dump http://thief.example/all.nt)" \
    '<sc:subSitemap>http://victim.example/own.xml</sc:subSitemap>'
# Quads whose graphs are another's, beside its own.
site forger.example all.nq && { for i in $(seq $count); do
    thing_triples forger.example "$i" | sed "s# \\.\$# <http://forger.example/id/$i> .#"
done; thing_triples victim.example 1 | sed 's/thing/forged/; s# \.$# <http://victim.example/id/1> .#'; } \
    >"$hosts/forger.example/all.nq"
refused=(missing forbidden lying damaged large victim)

# ---- joining: both sides say so ----

for h in parent child; do documents "$h.example" && robots "$h.example"; done
sitemap parent.example "$(prefix parent.example ' sc:slicing="cbd"')$(prefix child.example ' sc:slicing="cbd"')$(dump http://parent.example/all.nt)$(sample http://parent.example/id/2)" \
    '<sc:subSitemap>http://child.example/sitemap.xml</sc:subSitemap>'
{ all parent.example; all child.example | sed 's/_:p/_:c/g'; } >"$hosts/parent.example/all.nt"
printf '<urlset xmlns:sc="%s"><sc:parentSitemap>http://parent.example/sitemap.xml</sc:parentSitemap></urlset>' \
    "$namespace" >"$hosts/child.example/sitemap.xml"

# A deeper folder's sitemap takes its folder out of the space.
site outer.example all.nt && all outer.example >"$hosts/outer.example/all.nt"
mkdir -p "$hosts/outer.example/other"
thing_triples outer.example 1 | sed 's#/id/#/other/#g' >"$hosts/outer.example/other/1.nt"
thing_triples outer.example 1 | sed 's#/id/#/other/#g; s/thing/wrong/; s#other/1>#other/1.nt>#' >>"$hosts/outer.example/all.nt"
printf 'Sitemap: http://outer.example/other/sitemap.xml\n' >>"$hosts/outer.example/robots.txt"
sitemap outer.example "$(prefix outer.example ' sc:slicing="cbd"')<sc:linkedDataPrefix>http://outer.example/other/</sc:linkedDataPrefix>$(dump http://outer.example/all.nt)$(sample http://outer.example/id/7)"
sitemap outer.example "<sc:linkedDataPrefix>http://outer.example/other/</sc:linkedDataPrefix>" '' other/sitemap.xml
taken+=(forger outer parent)

for h in "$hosts"/*/id; do typed "$(basename "$(dirname "$h")")"; done
start_web "$hosts"

# ---- one by one, and by plan ----

for h in "$hosts"/*/; do
    h=$(basename "$h")
    echo "http://$h/"
    [[ $h != files.example ]] && for i in $(seq $count); do echo "http://$h/id/$i"; done
done >"$work/seeds"
echo http://outer.example/other/1.nt >>"$work/seeds"
crawl "$work/single" --set datasets.plan=no >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/single" "$work/single.nq"
cp "$web_log" "$work/single.log"
: >"$web_log"
{ seeds_of "$hosts"; echo http://outer.example/other/1.nt; } >"$work/seeds"
crawl "$work/planned" --set datasets.dump_size=1M --set transform.wait=20 \
    --set scope.depth=1000 >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/planned" "$work/planned.nq"
same "$work/single.nq" "$work/planned.nq" "one by one and planned"

asked() { awk -F'\t' -v h="$1.example" -v p="$2" '$2 == h && index($4, p) == 1' "$web_log" | wc -l; }
for h in "${taken[@]}"; do
    n=$(asked "$h" /id/)
    [[ $n -le 4 ]] || fail "$h: $n documents were fetched although a dump has them"
done
for h in "${refused[@]}"; do
    n=$(asked "$h" /id/)
    [[ $n -ge $count ]] || fail "$h: only $n documents were fetched"
done
quadrille datasets --dir "$work/planned" >"$work/told" || fail "datasets"
[[ $(asked victim /all.nt) -eq 0 ]] || fail "a dump was fetched for nothing"
[[ $(awk -F'\t' '$4 ~ /^\/private\//' "$web_log" | wc -l) -eq 0 ]] || fail "robots.txt was not obeyed"
tells() { grep -qF -- "$1" "$work/told" || fail "not told: $1"; }
tells "withdrawn: http://missing.example/nowhere.nt#dump: gone"
tells "denied: robots.txt of the host"
tells "what the dumps say of the sample http://lying.example/id/7 is not what it says itself"
tells "withdrawn: http://damaged.example/all.nt.gz cannot be read"
tells "larger than datasets.dump_size"
tells "the sub-sitemap http://victim.example/own.xml does not name this one as its parent"
tells "its folder is delegated to http://outer.example/other/sitemap.xml"
grep -q "40 documents of .* 1 documents refused" "$work/told" || fail "the forged document was not refused"
meta() { quadrille meta --dir "$work/planned" "$1"; }
meta http://authority.example/id/9 >"$work/out"
grep -q '/publisher> <http://authority.example/about#us>' "$work/out" || grep -q 'dc:publisher <http://authority' "$work/out" ||
    fail "no publisher: $(cat "$work/out")"
grep -q 'slicing "cbd, proved by samples"' "$work/out" || fail "no proof: $(cat "$work/out")"
meta http://usurper.example/id/9 >"$work/out"
grep -q 'plain.example/about' "$work/out" && fail "the authority of another is believed"
[[ -z $(find "$work/planned/dumps" -type f) ]] || fail "files are left: $(ls "$work/planned/dumps")"

# Only printed: everything is crawled.
: >"$web_log"
crawl "$work/printed" --set datasets.plan=print --set scope.depth=1000 --set scope.hosts=plain.example >"$work/out" || fail "crawl"
[[ $(asked plain /id/) -eq $count && $(asked plain /dump.nt) -eq 0 ]] || fail "print does more than print"
quadrille datasets --dir "$work/printed" plain.example >"$work/out"
grep -q ': dump, all of it' "$work/out" || fail "no plan is printed"
echo "semantic sitemaps: $(tail -n 1 "$work/told")"
