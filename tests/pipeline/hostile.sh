#!/usr/bin/env bash
# Hostile documents through the transforms, in sandboxed workers as the transform stage runs them:
# mutated variants of all examples and of the mini web's short files, documents of many megabytes
# in one line, and archives that unpack to too much. No worker may crash and none may grow.
#
#   hostile.sh [--variants N] [--seed N] [--large MEGABYTES]
#
# The long form is `hostile.sh --variants 1000000 --large 100`.
. "$(dirname "$0")/lib.sh"

variants=$(brief 20000 5000) seed=1 large=4
while (($# > 0)); do
    case $1 in
        --variants) variants=$2 ;;
        --seed) seed=$2 ;;
        --large) large=$2 ;;
        *) fail "what is $1?" ;;
    esac
    shift 2
done
files=()
if web=$("$shared/miniweb/serve" unpack 2>/dev/null); then
    files=(--files "$web")
fi
"$root/build/tests/test_hostile" --workers --variants "$variants" --seed "$seed" --large "$large" \
    "${files[@]}" 2>"$work/errors" || {
    sort "$work/errors" | uniq -c | sort -rn | head -n 20
    fail "variants (seed $seed)"
}

# ---- what unpacks to more than it should ----

bomb() { # name: must end soon, in processor time, by a limit or with an answer
    local code=0
    (ulimit -t 40 && exec timeout 300 "$bin/quadrille" transform "$work/$1") >"$work/out" 2>"$work/why" || code=$?
    ((code < 124)) || fail "$1 ended with $code: $(tail -n 1 "$work/why")"
    printf '%-24s exit %s, %s\n' "$1" "$code" "$(tail -n 1 "$work/why" | cut -c1-100)"
}
head -c 300000000 /dev/zero | gzip -9 >"$work/zeros.ttl.gz"
bomb zeros.ttl.gz
{ yes '<a:b> <a:b> <a:b> .' || true; } | head -n 10000000 | gzip -9 >"$work/statements.nt.gz"
bomb statements.nt.gz
gzip -9 <"$work/zeros.ttl.gz" | gzip -9 >"$work/twice.ttl.gz"
bomb twice.ttl.gz
{
    printf '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">'
    last=a
    for name in b c d e f g h i j k; do
        printf '<!ENTITY %s "' "$name"
        for _ in 1 2 3 4 5 6 7 8 9 10; do printf '&%s;' "$last"; done
        printf '">'
        last=$name
    done
    printf ']><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description>'
    printf '<rdf:value>&k;</rdf:value></rdf:Description></rdf:RDF>'
} >"$work/entities.rdf"
bomb entities.rdf
printf '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description><rdf:value>&a;</rdf:value></rdf:Description></rdf:RDF>' >"$work/file.rdf"
bomb file.rdf
! grep -q root: "$work/out" || fail "an entity of a document could read a file"
