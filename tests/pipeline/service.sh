#!/usr/bin/env bash
# The service's contracts with programs, asked as those programs ask: service_check.py says which.
. "$(dirname "$0")/lib.sh"
"$bin/quadrille" init --dir "$work/d" >/dev/null
"$bin/quadrille" serve --dir "$work/d" --set web.listen=127.0.0.1:0 --set web.update=loopback --set fetch.delay=3600 \
    --set web.allow_origin='*' >"$work/out" 2>&1 &
for _ in $(seq "$patience"); do
    port=$(sed -nE 's,^http://127\.0\.0\.1:([0-9]+)/ serves.*,\1,p' "$work/out")
    [[ -n $port ]] && break
    sleep 0.1
done
[[ -n ${port:-} ]] || fail "quadrille serve does not start: $(cat "$work/out")"
python3 "$root/tests/pipeline/service_check.py" "$port" "$shared/suites" || fail "see above"
# Debian's packages are for Debian's interpreter, which need not be the first.
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import rdflib, SPARQLWrapper' 2>/dev/null; then
        "$python" "$root/tests/pipeline/client_check.py" "$port" || fail "clients: see above"
        break
    fi
done
# The command line takes the same words.
"$bin/quadrille" search --dir "$work/d" anna class:foaf:Person domain:a.example >"$work/lines" || fail "no search"
[[ $(cut -f 2,5 "$work/lines") == $'"Anna Karenina"@en\t<http://a.example/anna>' ]] || fail "$(cat "$work/lines")"
"$bin/quadrille" search --dir "$work/d" -- anna class:foaf:Person -lang:none >"$work/lines" || fail "no search without a tag"
[[ $(cut -f 5 "$work/lines") == '<http://a.example/anna>' ]] || fail "$(cat "$work/lines")"
"$bin/quadrille" search --dir "$work/d" anna date:soon >"$work/lines" 2>&1 && fail "that is no date"
grep -q 'date:soon: a date is' "$work/lines" || fail "$(cat "$work/lines")"
"$bin/quadrille" changes --dir "$work/d" --last http://d.example/diary >"$work/lines" || fail "no last change"
[[ $(grep -c '^-<http://d.example/day>' "$work/lines") -eq 3 ]] && ! grep -q '^+' "$work/lines" || fail "$(cat "$work/lines")"
