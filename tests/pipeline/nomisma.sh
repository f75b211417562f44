#!/usr/bin/env bash
# A real site by one dump: thousands of documents of nomisma.org, crawled one by one and taken from a
# dump that is the merge of them, offered by a Semantic Sitemap. The index has the same bytes.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
miniweb=$shared/miniweb
[[ -x $miniweb/serve ]] || skip "no $miniweb: set QUADRILLE_SHARED to a folder with the mini web"
folder=$("$miniweb/serve" unpack | tail -n 1)
[[ -d $folder/nomisma.org/id ]] || skip "the mini web has no nomisma.org"
site=$work/hosts/nomisma.org
mkdir -p "$site"
cp -R "$folder/nomisma.org/id" "$site/id"
every=$(brief 1 2) number=0 # document that is taken, besides the samples
for f in "$site"/id/*.rdf; do # resources have no extension; what they are is found from their bytes
    name=${f##*/} name=${name%.rdf}
    if ((++number % every == 0)) || [[ $name =~ ^(rome|denarius|augustus)$ ]]; then
        mv "$f" "${f%.rdf}"
        echo "http://nomisma.org/id/$name"
    else
        rm "$f"
    fi
done >"$work/all"
documents=$(wc -l <"$work/all")
start_web "$work/hosts"
settings=(--set scope.hosts=nomisma.org --set scope.depth=0)

cp "$work/all" "$work/seeds"
crawl "$work/single" "${settings[@]}" >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/single" "$work/single.nq"
single=$(wc -l <"$web_log")
: >"$web_log"

sed -E 's# <[^>]*> \.$# .#' "$work/single.nq" | gzip >"$site/nomisma.nt.gz"
printf 'User-agent: *\nAllow: /\nSitemap: http://nomisma.org/sitemap.xml\n' >"$site/robots.txt"
printf '<urlset xmlns:sc="http://sw.deri.org/2007/07/sitemapextension"><sc:dataset>
<sc:datasetLabel>Nomisma</sc:datasetLabel><sc:datasetURI>http://nomisma.org/</sc:datasetURI>
<sc:linkedDataPrefix>http://nomisma.org/id/</sc:linkedDataPrefix>
<sc:sampleURI>http://nomisma.org/id/rome</sc:sampleURI>
<sc:sampleURI>http://nomisma.org/id/denarius</sc:sampleURI>
<sc:sampleURI>http://nomisma.org/id/augustus</sc:sampleURI>
<sc:dataDumpLocation>http://nomisma.org/nomisma.nt.gz</sc:dataDumpLocation>
</sc:dataset></urlset>' >"$site/sitemap.xml"
echo http://nomisma.org/id/rome >"$work/seeds"
crawl "$work/planned" "${settings[@]}" --set scope.depth=1 >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/planned" "$work/planned.nq"
quadrille datasets --dir "$work/planned" nomisma.org >"$work/told" || fail "datasets"
grep -v ' <http://nomisma.org/sitemap.xml> \.$' "$work/planned.nq" >"$work/documents.nq"
same "$work/single.nq" "$work/documents.nq" "one by one and by dump: $(cat "$work/told")"
planned=$(wc -l <"$web_log")
[[ $((single / planned)) -ge 100 ]] || fail "$planned requests instead of $single: $(cat "$work/told")"
echo "nomisma.org: $documents documents by $planned requests instead of $single, $((single / planned)) to one"
