#!/usr/bin/env bash
# Semantic Sitemaps and dumps as publishers really write and serve them: packed, behind byte order
# marks, with wrong types, in parts and archives, by relative URIs, in an index, in either namespace.
# Each is understood: what comes is, byte for byte, what crawling one by one brings.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
hosts=$work/hosts
count=20
some() { for i in $(seq "$2" "$3"); do thing_triples "$1" "$i"; done; } # host, from, to
site() { # host, robots.txt
    mkdir -p "$hosts/$1/id"
    for i in $(seq $count); do
        thing_triples "$1" "$i" >"$hosts/$1/id/$i"
        echo "type /id/$i application/n-triples" >>"$hosts/$1/.serve"
    done
    printf '<html><title>%s</title><a href="/id/1">one</a></html>' "$1" >"$hosts/$1/index.html"
    printf '%b' "${2:-Sitemap: http://$1/sitemap.xml\n}" >"$hosts/$1/robots.txt"
}
sitemap() { # dumps; prefix of tags, namespace, attribute
    printf '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:%s="%s"><%s:dataset>%s' \
        "${2:-sc}" "${3:-http://sw.deri.org/2007/07/sitemapextension}" "${2:-sc}" "$1"
    printf '<%s:linkedDataPrefix %s>/id/</%s:linkedDataPrefix><%s:sampleURI>/id/3</%s:sampleURI></%s:dataset></urlset>' \
        "${2:-sc}" "${4:-sc:slicing=\"CBD\"}" "${2:-sc}" "${2:-sc}" "${2:-sc}" "${2:-sc}"
}
dump() { for d in "$@"; do printf '<sc:dataDump>%s</sc:dataDump>' "$d"; done; }
typed() { echo "type $2 $3" >>"$hosts/$1/.serve"; } # host, path, type

h=gzip.example; site $h 'Sitemap: http://gzip.example/sitemap.xml.gz\n'
sitemap "$(dump all.nt)" | gzip >$hosts/$h/sitemap.xml.gz; some $h 1 $count >$hosts/$h/all.nt
typed $h /sitemap.xml.gz application/octet-stream
h=mark.example; site $h '\xef\xbb\xbfUser-agent: *\r\nSITEMAP : /sitemap.xml\r\n'
{ printf '\xef\xbb\xbf'; sitemap "$(dump /all.nt)"; } >$hosts/$h/sitemap.xml; some $h 1 $count >$hosts/$h/all.nt
h=wide.example; site $h
sitemap "$(dump /all.nt)" | iconv -t UTF-16 >$hosts/$h/sitemap.xml; some $h 1 $count >$hosts/$h/all.nt
h=unnamed.example; site $h 'User-agent: *\nAllow: /\n' # robots.txt says nothing: it lies in its usual place
sitemap "$(dump /all.nt)" >$hosts/$h/sitemap.xml; some $h 1 $count >$hosts/$h/all.nt
h=types.example; site $h # everything is text/html, or nothing
sitemap "$(dump /dump/all.nt.gz)" >$hosts/$h/sitemap.xml
mkdir $hosts/$h/dump; some $h 1 $count | gzip >$hosts/$h/dump/all.nt.gz
typed $h /sitemap.xml text/html; typed $h /dump/all.nt.gz text/html
h=parts.example; site $h
sitemap "$(dump a.nt b.ttl.gz c.nt.bz2)" >$hosts/$h/sitemap.xml
some $h 1 6 >$hosts/$h/a.nt; some $h 7 13 | gzip >$hosts/$h/b.ttl.gz; some $h 14 $count | bzip2 >$hosts/$h/c.nt.bz2
h=tar.example; site $h
sitemap "$(dump all.tar.gz)" >$hosts/$h/sitemap.xml
mkdir -p "$work/tar/sub"; some $h 1 9 >"$work/tar/one.nt"; some $h 10 $count >"$work/tar/sub/two.ttl"; echo "read me" >"$work/tar/README"
tar -C "$work/tar" -czf $hosts/$h/all.tar.gz .
h=zip.example; site $h
sitemap "$(dump all.zip)" >$hosts/$h/sitemap.xml
mkdir "$work/zip"; some $h 1 9 >"$work/zip/one.nt"; some $h 10 $count >"$work/zip/two.nt"
(cd "$work/zip" && python3 -c 'import sys, zipfile
z = zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED)
for name in ("one.nt", "two.nt"): z.write(name)' $hosts/$h/all.zip)
h=index.example; site $h 'Sitemap: http://index.example/index.xml\n'
printf '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>http://index.example/pages.txt</loc></sitemap><sitemap><loc>/sem.xml</loc></sitemap></sitemapindex>' >$hosts/$h/index.xml
echo http://index.example/ >$hosts/$h/pages.txt
sitemap "$(dump all.nt)" >$hosts/$h/sem.xml; some $h 1 $count >$hosts/$h/all.nt
h=schema.example; site $h # as a generator writes it, with the other namespace and prefix
sitemap '<x:dataDumpLocation> all.nt </x:dataDumpLocation>' x http://sw.deri.org/2007/07/sitemapextension/scschema.xsd 'slicing="cbd"' >$hosts/$h/sitemap.xml
some $h 1 $count >$hosts/$h/all.nt
h=query.example; site $h # a script gives the dump; its type alone says what it is
sitemap "$(dump '/export?what=all&amp;how=nt')" >$hosts/$h/sitemap.xml
echo 'redirect /export 302 /files/latest' >>$hosts/$h/.serve
mkdir $hosts/$h/files; some $h 1 $count >$hosts/$h/files/latest; typed $h /files/latest 'application/n-triples; charset=utf-8'
all=(gzip mark wide unnamed types parts tar zip index schema query)

start_web "$hosts"
for h in "${all[@]}"; do
    echo "http://$h.example/"
    for i in $(seq $count); do echo "http://$h.example/id/$i"; done
done >"$work/seeds"
crawl "$work/single" --set datasets.plan=no >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/single" "$work/single.nq"
: >"$web_log"
printf "http://%s.example/\n" "${all[@]}" >"$work/seeds"
crawl "$work/planned" --set transform.wait=20 --set scope.depth=100 >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/planned" "$work/planned.nq"
quadrille datasets --dir "$work/planned" >"$work/told"
same "$work/single.nq" "$work/planned.nq" "one by one and planned: $(cat "$work/told")"
mapfile -t ours < <(web_settings)
quadrille datasets plan "${ours[@]::6}" unnamed.example >"$work/plan" || fail "plan"
grep -q '^  dump: all of it in the fewest requests' "$work/plan" || fail "no plan for /sitemap.xml: $(cat "$work/plan")"
quadrille datasets validate "${ours[@]::6}" http://index.example/index.xml >"$work/plan" || fail "validate: $(cat "$work/plan")"
grep -q '^http://index.example/sem.xml: urlset, 0 entries, 1 datasets' "$work/plan" || fail "validate: $(cat "$work/plan")"
for h in "${all[@]}"; do
    n=$(awk -F'\t' -v h="$h.example" '$2 == h && index($4, "/id/") == 1' "$web_log" | wc -l)
    [[ $n -le 3 ]] || fail "$h: $n documents were fetched although a dump has them: $(cat "$work/told")"
done
echo "spellings: ${#all[@]} hosts, $(tail -n 1 "$work/told")"
