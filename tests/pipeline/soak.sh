#!/usr/bin/env bash
# tests/soak finds growth without bound in samples, and none where memory is filled once, freed now and then, or
# where a process was just started; and a few seconds of it leave a directory that is whole, in two runs.
. "$(dirname "$0")/lib.sh"
samples() { # formula of memory in KiB after h hours; x: a number between 0 and 1 by chance
    mkdir -p "$work/$1"
    awk -v seed=7 'BEGIN { srand(seed)
        for (i = 0; i < 400; i++) {
            h = i / 40; x = rand()
            printf "{\"hours\": %.3f, \"run\": 1, \"answers\": 9, \"memory_kib.fetch\": %d, \"disk_kib\": %d}\n", h, '"$2"', 50000 + 30000 * (h * 7 % 1)
        } }' >"$work/$1/samples.jsonl"
    "$root/tests/soak" "$work/$1" --judge >"$work/$1/said"
}
samples flat '100000 + 4000 * x' || fail "what does not grow: $(cat "$work/flat/said")"
samples filled '100000 + 60000 * (1 - exp(-h))' || fail "what is filled once: $(cat "$work/filled/said")"
samples restarted '100000 + 4000 * x - (i % 10 == 0) * 90000' || fail "what is started anew: $(cat "$work/restarted/said")"
samples leaking '100000 + 9000 * h - (i % 10 == 0) * 90000 + 4000 * x' && fail "a leak was not found"
grep -q 'memory_kib.fetch grows' "$work/leaking/said" || fail "$(cat "$work/leaking/said")"
[[ -s $work/leaking/soak.svg && $(wc -l <"$work/leaking/samples.tsv") == 401 ]] || fail "no plot, or no table"

for run in 1 2; do
    "$root/tests/soak" "$work/state" --hours 0.0004 --hosts 4 --faults 1000 --sample 2 >"$work/out" 2>&1 ||
        fail "run $run: $(cat "$work/out")"
    grep -q '	verified	' "$work/out" || fail "not verified: $(cat "$work/out")"
done
grep -q ' 2 runs' "$work/out" || fail "it did not go on: $(cat "$work/out")"
