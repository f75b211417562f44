#!/usr/bin/env bash
# Documents that crash, loop, eat memory or blow up: each is buried with its reason and a command
# that repeats the failure; everything else is crawled, and no process grows.
. "$(dirname "$0")/lib.sh"
site=$work/hosts/bad.example
mkdir -p "$site" "$work/hosts/good.example" "$work/dir/transforms"
bad=(crash abort loop sleep memory open)
{
    for name in "${bad[@]}"; do echo "type /$name.hook application/x-quadrille-hook"; done
    echo 'type /turn.spin text/x-spin'
    echo 'type /zeros.bomb text/html'
    echo 'encoding /zeros.bomb gzip'
} >"$site/.serve"
{
    echo '<!DOCTYPE html><title>Bad things</title>'
    for name in "${bad[@]}"; do echo "<a href=$name.hook>$name</a>"; done
    echo '<a href=turn.spin>turn</a> <a href=zeros.bomb>zeros</a> <a href=after.html>after</a>'
    echo '<a href=http://good.example/>good</a>'
} >"$site/index.html"
for name in "${bad[@]}"; do echo "$name" >"$site/$name.hook"; done
echo '<spin/>' >"$site/turn.spin"
head -c 512M /dev/zero | gzip -1 >"$site/zeros.bomb"
echo '<!DOCTYPE html><title>After</title>' >"$site/after.html"
echo '<!DOCTYPE html><title>Good</title><a href="more.html">more</a>' \
    >"$work/hosts/good.example/index.html"
echo '<!DOCTYPE html><title>More</title>' >"$work/hosts/good.example/more.html"

# A user's stylesheet that never ends.
cat >"$work/dir/transforms/spin.xsl" <<'X'
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:template match="*" name="turn"><xsl:call-template name="turn"/></xsl:template>
</xsl:stylesheet>
X
printf '%s\n' 'transform spin 1 xslt spin.xsl' 'match text/x-spin -> spin' \
    >"$work/dir/transforms/registry"

start_web "$work/hosts"
seeds_of "$work/hosts" >"$work/seeds"
limits=(--set transform.test_hooks=yes --set transform.cpu=1 --set transform.timeout=4
    --set transform.memory=256M --set transform.input=16M --set fetch.size=16M)
crawl "$work/dir" "${limits[@]}" >"$work/out" || fail "crawl: $(cat "$work/out")"

"$bin/quadrille" queue --dir "$work/dir" buried "${limits[@]}" >"$work/buried"
expect_buried() { # document, reason
    grep -A 1 -F "bad.example/$1" "$work/buried" | grep -qF "$2" ||
        fail "$1 is not buried for '$2': $(cat "$work/buried")"
}
expect_buried crash.hook 'signal 11'
expect_buried abort.hook 'signal 6'
expect_buried loop.hook 'processor time'
expect_buried sleep.hook 'by the clock'
expect_buried memory.hook 'out of memory'
expect_buried open.hook 'forbidden system call'
expect_buried turn.spin 'stylesheet failed'
expect_buried zeros.bomb 'larger than allowed'
[[ $(grep -c bad.example "$work/buried") -ge 8 ]] || fail "buried: $(cat "$work/buried")"

dump_and_verify "$work/dir" "$work/dump.nq" "${limits[@]}"
for title in 'Bad things' After Good More; do
    grep -qF "\"$title\"" "$work/dump.nq" || fail "\"$title\" was not crawled"
done
if "$bin/quadrille" transform --dir "$work/dir" --uri http://bad.example/crash.hook \
    "${limits[@]}" >/dev/null 2>"$work/again"; then
    fail "the reproducer does not fail"
fi
grep -q 'signal 11' "$work/again" || fail "the reproducer says: $(cat "$work/again")"
echo "containment: 8 documents buried, the others crawled"
