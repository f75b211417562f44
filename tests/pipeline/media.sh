#!/usr/bin/env bash
# Images, recordings, PDF, calendars and cards of a site: each becomes quads, and links inside a
# PDF are followed.
. "$(dirname "$0")/lib.sh"
site=$work/hosts/media.example
examples=$root/transforms/data/examples
mkdir -p "$site"
kinds=(image:jpg recording:mp3 pdf:pdf calendar:ics vcard:vcf)
{
    echo '<!DOCTYPE html><title>Media</title>'
    for kind in "${kinds[@]}"; do
        cp "$examples/${kind%:*}/input" "$site/${kind/:/.}"
        echo "<a href=${kind/:/.}>one</a>"
    done
    echo '<img src=seen.png>'
} >"$site/index.html"
sed 's|http://example.org/link|http://media.example/in|' "$examples/pdf/input" >"$site/pdf.pdf"
echo '<!DOCTYPE html><title>From the PDF</title>' >"$site/in"
echo 'type /in text/html' >"$site/.serve"
start_web "$work/hosts"
echo http://media.example/ >"$work/seeds"
crawl "$work/one" >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/one" "$work/one.nq"

expect() { # document, text that a statement about it holds
    grep -F "<http://media.example/$1> ." "$work/one.nq" | grep -F -- "$2" >/dev/null ||
        fail "$1 does not say $2: $("$bin/quadrille" meta --dir "$work/one" "http://media.example/$1")"
}
expect image.jpg 'exif/ns#make> "Example"'
expect image.jpg 'wgs84_pos#lat> "48.208333333"'
expect recording.mp3 'dc/terms/title> "Étude"'
expect pdf.pdf 'dc/terms/title> "A report"'
expect calendar.ics 'icaltzd#summary> "A walk along the wall'
expect vcard.vcf 'vcard/ns#fn> "Ada Lovelace"'
expect in 'From the PDF'
"$bin/quadrille" meta --dir "$work/one" http://media.example/calendar.ics | grep "line 41" >/dev/null ||
    fail "the metadata do not name the line of the calendar's mistake"
