#!/usr/bin/env bash
# Documents that crash, loop, eat memory, never end or blow up: each is buried with its reason and
# a command that repeats the failure; everything else is crawled, no process of the crawl dies but
# the workers, and none takes more memory than it may.
. "$(dirname "$0")/lib.sh"
bin=$hooked
site=$work/hosts/bad.example
dir=$work/dir
mkdir -p "$site" "$work/hosts/good.example" "$dir/transforms"
hooks=(crash abort loop sleep memory open)
hostile=(amplify.xml amplify.rdf quadratic.xml deep.xml deep.html deep.ttl)
good=20
{
    for name in "${hooks[@]}"; do echo "type /$name.hook application/x-quadrille-hook"; done
    echo 'type /turn.spin text/x-spin'
    echo 'type /zeros.bomb text/html'
    echo 'encoding /zeros.bomb gzip'
    echo 'endless /endless.html'
} >"$site/.serve"
{
    echo '<!DOCTYPE html><title>Bad things</title>'
    for name in "${hooks[@]}"; do echo "<a href=$name.hook>$name</a>"; done
    for name in "${hostile[@]}" turn.spin zeros.bomb endless.html after.html; do
        echo "<a href=$name>$name</a>"
    done
    echo '<a href=http://good.example/>good</a>'
} >"$site/index.html"
for name in "${hooks[@]}"; do echo "$name" >"$site/$name.hook"; done
echo '<spin/>' >"$site/turn.spin"
head -c 512M /dev/zero | gzip -1 >"$site/zeros.bomb" & # more than a process may take
bomb=$!

many() { printf "%*s" "$2" '' | sed "s| |$1|g"; } # text, times
entities() { # the declarations of "lol", 3 * 10^9 bytes long
    echo '<!ENTITY l0 "lol">'
    for i in 1 2 3 4 5 6 7 8 9; do
        echo "<!ENTITY l$i \"$(many "\&l$((i - 1));" 10)\">"
    done
}
{
    echo '<?xml version="1.0"?><!DOCTYPE rss ['
    entities
    echo ']><rss version="2.0"><channel><title>&l9;</title></channel></rss>'
} >"$site/amplify.xml"
{
    echo '<?xml version="1.0"?><!DOCTYPE rdf:RDF ['
    entities
    echo ']><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    echo ' xmlns:v="http://v.example/"><rdf:Description><v:a>&l9;</v:a></rdf:Description></rdf:RDF>'
} >"$site/amplify.rdf"
{ # one long entity, often
    echo "<?xml version=\"1.0\"?><!DOCTYPE rss [<!ENTITY a \"$(many a 50000)\">]>"
    echo "<rss version=\"2.0\"><channel><title>$(many '\&a;' 50000)</title></channel></rss>"
} >"$site/quadratic.xml"
{
    echo '<rss version="2.0"><channel>'
    many '<a>' 200000
} >"$site/deep.xml"
{
    echo '<!DOCTYPE html><title>Deep</title>'
    many '<div>' 200000
} >"$site/deep.html"
{
    echo '@prefix v: <http://v.example/> .'
    echo "v:s v:p $(many '[ v:p ' 200000)"
} >"$site/deep.ttl"
echo '<!DOCTYPE html><title>After</title>' >"$site/after.html"
{
    echo '<!DOCTYPE html><title>Good</title>'
    for i in $(seq $good); do echo "<a href=good-$i.html>good $i</a>"; done
} >"$work/hosts/good.example/index.html"
for i in $(seq $good); do
    echo "<!DOCTYPE html><title>Good $i</title>" >"$work/hosts/good.example/good-$i.html"
done

# A user's stylesheet that never ends.
cat >"$dir/transforms/spin.xsl" <<'X'
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:template match="*" name="turn"><xsl:call-template name="turn"/></xsl:template>
</xsl:stylesheet>
X
printf '%s\n' 'transform spin 1 xslt spin.xsl' 'match text/x-spin -> spin' \
    'match application/x-quadrille-hook -> spin' \
    >"$dir/transforms/registry"

wait $bomb
start_web "$work/hosts"
seeds_of "$work/hosts" >"$work/seeds"
cat >"$dir/quadrille.conf" <<C
transform.cpu = 2
transform.memory = 256M
transform.input = 16M
# A page of so much takes a part only of the processor time that a document may.
fetch.size = 4M
fetch.connect_to = 127.0.0.1:$web_port
fetch.allow_address = 127.0.0.0/8
C

# The most memory that each process ever held, by name, in KiB.
watch_memory() {
    while :; do
        peaks_of "--dir $dir( |$)"
        sleep 0.2
    done
}
watch_memory >"$work/memory" 2>/dev/null &
watcher=$!
crawl "$dir" >"$work/out" || fail "crawl: $(cat "$work/out")"
kill $watcher
wait $watcher 2>/dev/null || true

grep -q "event=started name=queue" "$dir/log/supervisor.log" || fail "the supervisor says nothing"
if grep -q 'died' "$dir/log/supervisor.log"; then
    fail "a process died: $(grep died "$dir/log/supervisor.log")"
fi
LC_ALL=C sort -k2,2 -k1,1nr "$work/memory" | awk '!seen[$2]++' >"$work/most"
awk '$1 > 320 * 1024 { bad = 1 } END { exit bad || NR < 6 }' "$work/most" ||
    fail "memory, in KiB: $(cat "$work/most")"

"$bin/quadrille" queue --dir "$dir" buried --most 1000 >"$work/buried"
expect_buried() { # document, reason
    grep -A 1 -F "bad.example/$1" "$work/buried" | grep -qE "$2" ||
        fail "$1 is not buried for '$2': $(cat "$work/buried")"
}
expect_buried crash.hook 'signal 11'
expect_buried abort.hook 'signal 6'
expect_buried loop.hook 'processor time'
expect_buried sleep.hook 'by the clock'
expect_buried memory.hook 'out of memory'
expect_buried open.hook 'forbidden system call'
expect_buried deep.ttl 'nesting is deeper than 200 levels'
expect_buried turn.spin 'stylesheet failed'
expect_buried zeros.bomb 'larger than allowed'
if grep -qF good.example "$work/buried"; then
    fail "buried, but good: $(cat "$work/buried")"
fi
buried=$(grep -c '^[a-z]' "$work/buried")

# What is hostile but can be read in part is no case for a person: its state says what came of it.
expect_state() { # document, state
    "$bin/quadrille" meta --dir "$dir" "http://bad.example/$1" >"$work/meta" 2>&1 ||
        fail "$1 was lost: $(cat "$work/meta")"
    grep -qF "\"$2\"" "$work/meta" || fail "$1 is not $2: $(cat "$work/meta")"
}
expect_state amplify.xml indexed
expect_state amplify.rdf broken
expect_state quadratic.xml indexed
expect_state deep.xml indexed
expect_state deep.html indexed
expect_state deep.ttl fetched # transform buried it
"$bin/quadrille" meta --dir "$dir" http://bad.example/endless.html >"$work/meta"
grep -q 'truncatedBy.*"length"' "$work/meta" ||
    fail "the beginning of what never ends was not kept: $(cat "$work/meta")"
dump_and_verify "$dir" "$work/dump.nq"
[[ $(wc -c <"$work/dump.nq") -lt 40000000 ]] || fail "a small web became a large dump"
expected=('Bad things' After Good)
for i in $(seq $good); do expected+=("Good $i"); done
for title in "${expected[@]}"; do
    grep -qF "\"$title\"" "$work/dump.nq" || fail "\"$title\" was not crawled"
done

# Every reproducer, as it stands there: by hand it fails again for the same reason; in the crawl
# it is buried again.
PATH=$bin:$PATH
repeated=0
while read -r label command; do
    case $label in
        reason:) reason=${command%% (*} ;;
        again:)
            code=0
            timeout 600 bash -c "$command" >"$work/again" 2>&1 || code=$?
            repeated=$((repeated + 1))
            if [[ $command == *' kick '* ]]; then
                [[ $code -eq 0 ]] || fail "$command: exit $code, $(cat "$work/again")"
            else
                [[ $code -ne 0 ]] || fail "$command: does not fail"
                grep -qF "$reason" "$work/again" ||
                    fail "$command: $(cat "$work/again")"
            fi
            ;;
    esac
done < <(grep -E '^[[:space:]](reason|again):' "$work/buried")
[[ $repeated -eq $buried ]] || fail "$repeated commands of $buried: $(cat "$work/buried")"
crawl "$dir" >"$work/out" || fail "crawl once more: $(cat "$work/out")"
"$bin/quadrille" queue --dir "$dir" buried --most 1000 >"$work/buried"
expect_buried zeros.bomb 'larger than allowed'
echo "containment: $buried documents buried and repeated, all others crawled;" \
    "most memory $(sort -nr "$work/most" | awk 'NR == 1 { printf "%d MiB in %s", $1 / 1024, $2 }')"
