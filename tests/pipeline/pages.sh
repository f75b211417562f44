#!/usr/bin/env bash
# The pages of the service in Chromium, over a small crawl with a hostile host in it: pages_check.py says what is tried.
# QUADRILLE_PICTURES=FOLDER keeps a picture of each page at each width, to be looked at.
. "$(dirname "$0")/lib.sh"
for tool in chromium chromedriver:chromium-driver; do
    command -v "${tool%:*}" >/dev/null || skip "apt-get install chromium chromium-driver"
done
hosts=$work/hosts
cp -r "$root/examples/web/hosts" "$hosts"
mkdir "$hosts/hostile.example"
cat >"$hosts/hostile.example/thing.ttl" <<'END'
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix geo: <http://www.w3.org/2003/01/geo/wgs84_pos#> .
<#it> a <javascript:window.hacked=1> ;
    rdfs:label "<script>window.hacked=2</script><img src=x onerror=window.hacked=3> hostility" ;
    rdfs:comment "\"' onfocus='window.hacked=4' autofocus tabindex=1 x=\"", "\u202Eright to left\u202D", "</textarea></title></style>"@en ;
    foaf:homepage <javascript:window.hacked=5>, <http://hostile.example/'onclick='window.hacked=6> ;
    foaf:depiction <http://hostile.example/picture.png?a=1&b='> ;
    foaf:knows <#other>, <http://people.example/bela.ttl#me> ;
    geo:lat 48.2 ; geo:long 16.37 .
<#other> rdfs:label "another place" ; geo:lat -33.9 ; geo:long 18.4 .
END
start_web "$hosts"
(seeds_of "$hosts" | grep -v -e trap -e hostile; echo http://hostile.example/thing.ttl) >"$work/seeds"
crawl "$work/d" --set 'scope.exclude=^http://trap' >"$work/d.out" || fail "crawl: $(cat "$work/d.out")"
"$bin/quadrille" serve --dir "$work/d" --set web.listen=127.0.0.1:0 >"$work/out" 2>&1 &
serve=$!
for _ in $(seq "$patience"); do
    port=$(sed -nE 's,^http://127\.0\.0\.1:([0-9]+)/ serves.*,\1,p' "$work/out")
    [[ -n $port ]] && break
    sleep 0.1
done
[[ -n ${port:-} ]] || fail "quadrille serve does not start: $(cat "$work/out")"
mkdir "$work/profile"
python3 "$root/tests/pipeline/pages_check.py" "$port" "$work/profile" "${QUADRILLE_PICTURES:-}" || fail "see above"
kill "$serve" && wait "$serve" || true
