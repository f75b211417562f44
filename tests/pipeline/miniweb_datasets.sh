#!/usr/bin/env bash
# Real data as publishers could offer it by Semantic Sitemaps: WordNet's own dumps in Turtle, schema.org's
# RDF/XML, the licences of Creative Commons behind redirects, the hash namespace of BOT. Their documents are
# cut out by a program of a few lines that shares nothing with ours (miniweb_datasets.py), crawled one by one,
# and taken from the dumps. The index has the same bytes. nomisma.sh is the same for thousands of documents.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
miniweb=$shared/miniweb
[[ -x $miniweb/serve ]] || skip "no $miniweb: set QUADRILLE_SHARED to a folder with the mini web"
for tool in rapper:raptor2-utils python3:python3; do
    command -v "${tool%:*}" >/dev/null || skip "apt-get install ${tool#*:}"
done
folder=$("$miniweb/serve" unpack | tail -n 1)
hosts=$work/hosts
documents() { python3 "$root/tests/pipeline/miniweb_datasets.py" "$hosts" "$work/resources" "$@"; }
triples() { rapper -q -i "$1" -o ntriples "$2" "${3:-http://base.example/}" 2>/dev/null; }
sitemap() { # host, folder, method, prefix, samples, dumps
    printf 'Sitemap: http://%s%ssitemap.xml\n' "$1" "$2" >"$hosts/$1/robots.txt"
    {
        printf '<urlset xmlns:sc="http://sw.deri.org/2007/07/sitemapextension"><sc:dataset><sc:linkedDataPrefix sc:slicing="%s">%s</sc:linkedDataPrefix>' "$3" "$4"
        for s in $5; do printf '<sc:sampleURI>%s</sc:sampleURI>' "$s"; done
        for d in $6; do printf '<sc:dataDumpLocation>%s</sc:dataDumpLocation>' "$d"; done
        echo '</sc:dataset></urlset>'
    } >"$hosts/$1$2sitemap.xml"
}
: >"$work/resources"

# WordNet: its dumps as they are, several, packed.
wordnet=/vocabularies/princeton/wn30/
mkdir -p "$hosts/purl.org$wordnet"
for d in wordnet-causes wordnet-entailment wordnet-attribute; do
    cp "$folder/purl.org$wordnet$d.ttl.gz" "$hosts/purl.org$wordnet"
    zcat "$folder/purl.org$wordnet$d.ttl.gz" >"$work/one.ttl"
    triples turtle "$work/one.ttl"
done | documents "http://purl.org$wordnet"
sitemap purl.org "$wordnet" subject "http://purl.org$wordnet" "$(grep -m2 purl.org "$work/resources" | tr '\n' ' ')" "wordnet-causes.ttl.gz wordnet-entailment.ttl.gz wordnet-attribute.ttl.gz"

# schema.org, the terms with A: documents from its N-Triples, the dump is its whole RDF/XML; terms of http, as this web has no TLS.
release=$folder/schema.org/version/30.0/schemaorg-current-https
mkdir -p "$hosts/schema.org"
sed 's#https://schema.org/#http://schema.org/#g' "$release.nt" | documents http://schema.org/A
sed 's#https://schema.org/#http://schema.org/#g' "$release.rdf" | gzip >"$hosts/schema.org/all.rdf.gz"
sitemap schema.org / CBD http://schema.org/A "http://schema.org/Action http://schema.org/AboutPage" all.rdf.gz

# Creative Commons: resources redirect to documents in RDF/XML; the dump is their merge.
licences=$folder/cc-licenses-data.creativecommons.org
site=$hosts/creativecommons.org
mkdir -p "$site"
while read -r file; do
    path=${file#"$licences"}
    resource=http://creativecommons.org${path%rdf}
    triples rdfxml "$file" "$resource" >"$work/one.nt" || continue
    # Those of which this says everything, and nothing else.
    [[ $(awk '{print $1}' "$work/one.nt" | sort -u) == "<$resource>" ]] || continue
    mkdir -p "$site${path%/rdf}" && cp "$file" "$site$path"
    echo "redirect ${path%rdf} 303 $path" >>"$site/.serve"
    echo "$resource" >>"$work/resources"
    cat "$work/one.nt"
done < <(find "$licences" -name rdf | LC_ALL=C sort | head -n 150) | bzip2 >"$site/all.nt.bz2"
sitemap creativecommons.org / '' http://creativecommons.org/ "$(grep -m3 creativecommons "$work/resources" | tr '\n' ' ')" http://creativecommons.org/all.nt.bz2

# BOT: all of it is one document.
mkdir -p "$hosts/w3id.org"
sed 's#https://w3id.org/#http://w3id.org/#g' "$folder/w3c-lbd-cg.github.io/bot/bot.nt" | documents 'http://w3id.org/bot#'
sed 's#https://w3id.org/#http://w3id.org/#g' "$folder/w3c-lbd-cg.github.io/bot/bot.ttl" >"$hosts/w3id.org/bot-all.ttl"
sitemap w3id.org / CBD 'http://w3id.org/bot#' 'http://w3id.org/bot#Zone' http://w3id.org/bot-all.ttl

start_web "$hosts"
sort -u "$work/resources" >"$work/seeds"
resources=$(wc -l <"$work/seeds")
crawl "$work/single" --set scope.depth=0 --set datasets.plan=no >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/single" "$work/single.nq"
cp "$web_log" "$work/single.log"
: >"$web_log"
for h in purl.org schema.org creativecommons.org w3id.org; do grep -m1 "^http://$h/" "$work/resources"; done >"$work/seeds"
crawl "$work/planned" --set scope.depth=1 >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/planned" "$work/planned.nq"
quadrille datasets --dir "$work/planned" >"$work/told"
for way in single planned; do grep -vE ' <http://[^>]*/sitemap.xml> \.$' "$work/$way.nq" >"$work/$way.documents"; done
same "$work/single.documents" "$work/planned.documents" "one by one and by dumps: $(cat "$work/told")"
of() { awk -F'\t' -v h="$1" '$2 == h' "$2" | wc -l; } # host, log
for h in purl.org schema.org creativecommons.org w3id.org; do
    echo "$h: $(of $h "$web_log") requests instead of $(of $h "$work/single.log")"
done
for h in purl.org schema.org creativecommons.org; do
    [[ $(($(of $h "$work/single.log") / $(of $h "$web_log"))) -ge 5 ]] || fail "$h: $(cat "$work/told")"
done
echo "miniweb datasets: $resources resources, $(tail -n 1 "$work/told")"
