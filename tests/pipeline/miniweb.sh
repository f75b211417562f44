#!/usr/bin/env bash
# A crawl of real sites: it ends with exit 0, everything that is linked and allowed is fetched
# once, and RDF files give the triples that other parsers count (miniweb_check.py).
#
# usage: tests/pipeline/miniweb.sh [--all] [HOST...]
# Needs $QUADRILLE_SHARED/miniweb. Without HOST a choice of small sites; --all: all sites, and
# a second crawl with four processes of every stage gives the same bytes.
. "$(dirname "$0")/lib.sh"
miniweb=$shared/miniweb
[[ -x $miniweb/serve ]] || skip "no $miniweb: set QUADRILLE_SHARED to a folder with the mini web"
for tool in nginx:nginx-light openssl:openssl rapper:raptor2-utils serdi:serdi; do
    PATH=$PATH:/usr/sbin command -v "${tool%:*}" >/dev/null || skip "apt-get install ${tool#*:}"
done
python=/usr/bin/python3
"$python" -c 'import http.client, html.parser, xml.etree.ElementTree' 2>/dev/null ||
    skip "apt-get install python3"

all=()
hosts=(chardet-tests.example dokie.li foafnaut.org heritrix-selftest.example obofoundry.org
    pcdm.org rdf-tests.example rdfviz.org rdfweb.org skarnet.org solid.github.io
    stormcrawler-sitemaps.example www.foaf-project.org xmlns.com)
while [[ $# -gt 0 ]]; do
    case $1 in
        --all) all=(--all); mapfile -t hosts < <(sed -E 's,^http://([^/]*)/,\1,' "$miniweb/seeds.txt") ;;
        -*) echo "usage: miniweb.sh [--all] [HOST...]" >&2; exit 100 ;;
        *) break ;;
    esac
    shift
done
[[ $# -gt 0 ]] && hosts=("$@")
printf 'http://%s/\n' "${hosts[@]}" >"$work/seeds"

read -r web_port tls_port < <("$python" -c '
import socket
free = [socket.socket() for _ in range(2)]
for one in free:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in free))')
web_stop=("$miniweb/serve" stop --run "$work/web")
"$miniweb/serve" start --port "$web_port" --tls-port "$tls_port" --run "$work/web" \
    >"$work/serve.out" 2>&1 || fail "serve: $(cat "$work/serve.out")"
web_log=$work/web/access.tsv
secure=(--set "fetch.connect_to=http=127.0.0.1:$web_port,https=127.0.0.1:$tls_port"
    --set "fetch.ca_file=$work/web/ca.pem")

crawl "$work/one" "${secure[@]}" >"$work/one.out" || fail "crawl: $(cat "$work/one.out")"
cat "$work/one.out"
dump_and_verify "$work/one" "$work/one.nq"
cp "$web_log" "$work/one.log"
"$python" "$root/tests/pipeline/miniweb_check.py" "${all[@]}" --seeds "$work/seeds" \
    --hosts "$("$miniweb/serve" unpack)" --log "$work/one.log" --server "127.0.0.1:$web_port" \
    --dump "$work/one.nq" --triples "$miniweb/TRIPLES.tsv" \
    --differences "$root/tests/pipeline/miniweb-differences.tsv" || fail "the crawl is not as it should be"

if [[ ${#all[@]} -gt 0 ]]; then
    four=(--set processes.fetch=4 --set processes.detect=4 --set processes.transform=4
        --set processes.extract=4 --set index.partitions=4)
    crawl "$work/four" "${secure[@]}" "${four[@]}" || fail "crawl with four processes"
    dump_and_verify "$work/four" "$work/four.nq" "${four[@]}"
    same "$work/one.nq" "$work/four.nq" "four processes of every stage"
fi
