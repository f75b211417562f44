#!/usr/bin/env bash
# Sitemaps: every format and extension, whose URLs are taken, what is known of them, the budget.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
hosts=$work/hosts
pages() { # host, names
    local host=$1 name
    shift
    for name in "$@"; do
        mkdir -p "$(dirname "$hosts/$host/$name")"
        printf '<!DOCTYPE html><html lang="en"><title>%s of %s</title><p>%s' "$name" "$host" "$name" \
            >"$hosts/$host/$name"
    done
}
urls() { printf '<url><loc>http://%s</loc></url>' "$@"; }

# maps.example names its own sitemaps and one that lies at other.example (a cross submit).
pages maps.example index.html a.html b.html b-de.html t.html r.html m.html z.html deep/in.html out.html
pages other.example index.html cross.html own.html
pages third.example index.html stolen.html
cat >"$hosts/maps.example/robots.txt" <<'R'
User-agent: *
Disallow: /hidden
Sitemap: http://maps.example/index.xml
Sitemap: http://other.example/for-maps.xml
Schemamap: http://maps.example/schema-map.xml
R
cat >"$hosts/maps.example/index.xml" <<'X'
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>http://maps.example/plain.xml</loc></sitemap><sitemap><loc>http://maps.example/list.txt</loc></sitemap>
<sitemap><loc>http://maps.example/feed.rss</loc></sitemap><sitemap><loc>http://maps.example/feed.atom</loc></sitemap>
<sitemap><loc>http://maps.example/packed.xml.gz</loc></sitemap></sitemapindex>
X
cat >"$hosts/maps.example/plain.xml" <<'X'
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"
 xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
<url><loc>http://maps.example/a.html</loc><lastmod>2020-01-02</lastmod><changefreq>daily</changefreq><priority>0.9</priority>
<image:image><image:loc>http://maps.example/a.png</image:loc></image:image></url>
<url><loc>http://maps.example/b.html</loc><xhtml:link rel="alternate" hreflang="de" href="http://maps.example/b-de.html"/>
<news:news><news:title>It boils</news:title></news:news></url>
<url><loc>http://third.example/stolen.html</loc></url></urlset>
X
echo http://maps.example/t.html >"$hosts/maps.example/list.txt"
echo '<rss><channel><item><link>http://maps.example/r.html</link></item></channel></rss>' >"$hosts/maps.example/feed.rss"
echo '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="http://maps.example/m.html"/></entry></feed>' \
    >"$hosts/maps.example/feed.atom"
{ echo '<urlset>'; urls maps.example/z.html; echo '</urlset>'; } | gzip >"$hosts/maps.example/packed.xml.gz"
{ echo '<urlset>'; urls maps.example/feeds/one.jsonld; echo '</urlset>'; } >"$hosts/maps.example/schema-map.xml"
mkdir -p "$hosts/maps.example/feeds"
echo '{"@context":{"@vocab":"http://schema.org/"},"@id":"http://maps.example/feeds/one","name":"fed"}' \
    >"$hosts/maps.example/feeds/one.jsonld"
# Not named by any robots.txt, met by a link: speaks for its folder.
{ echo '<urlset>'; urls maps.example/deep/in.html maps.example/out.html; echo '</urlset>'; } >"$hosts/maps.example/deep/map.xml"
echo '<a href="/deep/map.xml">map</a><a href="/a.html">a</a>' >>"$hosts/maps.example/index.html"
{ echo '<urlset>'; urls maps.example/cross.html other.example/own.html third.example/stolen.html; echo '</urlset>'; } \
    >"$hosts/other.example/for-maps.xml"
pages maps.example cross.html

# A host whose measures are known: seven pages, four listed, of which two say the same; the root links to
# one of these and two others. One listed page is not there.
pages study.example s1.html s3.html s4.html l1.html l2.html
cp "$hosts/study.example/s1.html" "$hosts/study.example/s2.html"
echo '<!DOCTYPE html><title>Root</title><a href="s1.html">1</a> <a href="l1.html">2</a> <a href="l2.html">3</a>' \
    >"$hosts/study.example/index.html"
{ echo '<urlset>'; urls study.example/s{1,2,3,4}.html study.example/lost.html; echo '</urlset>'; } >"$hosts/study.example/map.xml"
echo 'Sitemap: /map.xml' >"$hosts/study.example/robots.txt"
# A host whose URLs are worth fetching in another order than the sitemap's.
pages ranked.example index.html p{1..9}.html
{
    echo '<urlset>'
    for n in 4 9 1 7 2 8 3 6 5; do
        echo "<url><loc>http://ranked.example/p$n.html</loc><priority>0.$n</priority></url>"
    done
    echo '</urlset>'
} >"$hosts/ranked.example/map.xml"
echo 'Sitemap: /map.xml' >"$hosts/ranked.example/robots.txt"
start_web "$hosts"
seeds_of "$hosts" >"$work/seeds"

asked() { awk -F'\t' -v host="$1" -v uri="$2" '$2 == host && $4 == uri' "$web_log" | wc -l; }
meta() { quadrille meta --dir "$work/crawl" "$@"; }
says() { # what, URI, flags
    local what=$1
    shift
    meta "$@" >"$work/meta" || fail "meta $*"
    grep -qE -- "$what" "$work/meta" || fail "$* does not say $what: $(cat "$work/meta")"
}

crawl "$work/crawl" >"$work/out" || fail "crawl: $(cat "$work/out")"
for page in a b b-de t r m z cross out deep/in; do
    [[ $(asked maps.example "/$page.html") == 1 ]] || fail "$page.html was asked for $(asked maps.example "/$page.html") times"
done
[[ $(asked maps.example /feeds/one.jsonld) == 1 ]] || fail 'what the Schemamap lists was not fetched'
[[ $(asked other.example /own.html) == 1 ]] || fail "an entry of the sitemap's own host was not taken"
[[ $(asked third.example /stolen.html) == 0 ]] || fail 'a sitemap spoke for a host that does not name it'
order=$(awk -F'\t' '$2 == "ranked.example" && $4 ~ /^\/p/ { printf "%s", substr($4, 3, 1) }' "$web_log")
[[ $order == 987654321 ]] || fail "listed URLs were fetched in the order $order"
says 'meta:sitemapRefused 1 ' http://maps.example/plain.xml
says 'meta:sitemapEntries 3 ' http://maps.example/plain.xml
says 'meta:sitemapKind "urlset"' http://maps.example/packed.xml.gz
says 'meta:sitemapFor <http://maps.example>' http://other.example/for-maps.xml
says 'meta:sitemapOutside 1 ' http://maps.example/deep/map.xml
says 'meta:schemamap <http://maps.example/schema-map.xml>' --host http://maps.example/
seen() { says "$2" --seen "http://maps.example/$1"; }
seen a.html 'meta:sitemapPriorityPercent 90 '
seen a.html 'meta:sitemapSays "image http://maps.example/a.png"'
seen a.html 'meta:sitemapLastmod "2020-01-02T'
seen b.html 'meta:sitemapSays "news title It boils"'
seen b-de.html 'meta:listedIn <http://maps.example/plain.xml>'
seen a.html 'meta:linkSeen "'
prints linkSeen meta --seen http://maps.example/t.html && fail 'a link to t.html was seen that is not there'

# The report: seen 8, crawled 8 (5 listed; the lost one was answered), indexed 7 (4 listed), 6 clusters
# (3 listed). PageRank of the root, what it links to, and what nothing links to: r, p = r + 0.85 r / 3.
# 8 pages: 5 of them r, 3 of them p: r = 1 / 8.85; listed are s1 (p) and four (r).
quadrille report sitemaps --dir "$work/crawl" --json --plot "$work/plot.svg" --keep study.example >"$work/out" ||
    fail "report sitemaps: $(cat "$work/out")"
measured() { # name, value
    grep -qF -- "\"$1\":$2" "$work/out" || fail "$1 is not $2: $(cat "$work/out")"
}
measured seen '{"all":8,"sitemaps":5,"links":4,"both":1}'
measured crawled '{"all":8,"sitemaps":5,"links":4,"both":1}'
measured indexed '{"all":7,"sitemaps":4,"links":4,"both":1}'
measured unique '{"all":6,"sitemaps":3,"links":4,"both":1}'
measured coverage 0.625000
measured uniqueCoverage 0.500000
measured indexCoverage 0.571429
measured pageRankCoverage "$(awk 'BEGIN { r = 1 / 8.85; printf "%.6f", (4 * r + r + 0.85 * r / 3) }')"
measured signalToNoise 0.750000
measured signalToNoiseSitemaps 0.600000
measured signalToNoiseLinks 1.000000
grep -q '<circle' "$work/plot.svg" && python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" "$work/plot.svg" ||
    fail 'the plot is no SVG with dots'
says 'meta:linkRankPerMille 1000 ' --seen http://study.example/s1.html
quadrille report sitemaps --dir "$work/crawl" --plot "$work/all.svg" >"$work/out" || fail "report sitemaps: $(cat "$work/out")"
grep -q '<circle' "$work/all.svg" && python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" "$work/all.svg" ||
    fail 'the plot of all hosts is no SVG with dots'
[[ $(grep -c '^http://' "$work/out") == 4 ]] || fail "report of all hosts: $(cat "$work/out")"
grep -q 'sitemaps  *8: 10 entries, 1 refused, 1 outside' "$work/out" || fail "totals: $(cat "$work/out")"

# The rule of places, and a budget of two: what passes it is fetched after all others.
meta --seen http://maps.example/b.html >"$work/before"
: >"$web_log"
crawl "$work/strict" --set sitemaps.location=obey --set sitemaps.budget=4 >"$work/out" || fail "crawl: $(cat "$work/out")"
[[ $(asked maps.example /out.html) == 0 ]] || fail 'sitemaps.location = obey took an entry outside of the folder'
[[ $(asked maps.example /deep/in.html) == 1 ]] || fail 'sitemaps.location = obey refused an entry of the folder'
[[ $(asked maps.example /z.html) == 1 ]] || fail 'what passes the budget was dropped'
quadrille meta --dir "$work/strict" --host http://maps.example/ >"$work/meta"
grep -qE 'meta:sitemapExcess ([5-9]|10)' "$work/meta" || fail "the budget: $(cat "$work/meta")"
quadrille explain --dir "$work/strict" http://maps.example/z.html >"$work/out" || fail "explain: $(cat "$work/out")"
grep -q 'sitemaps.budget' "$work/out" || fail "explain does not tell of the budget: $(cat "$work/out")"
echo "sitemaps: all formats read, frauds refused, the budget held"
