#include "identity/refused_values.h"

#include <ctype.h>

#include "base/url/url.h"

#define FOAF "http://xmlns.com/foaf/0.1/"

/* A line names a property or is of any; text is compared without regard to case and to white space
 * around it. Programs put these where a person left a field empty. */
struct refused_value {
    const char *property; /* NULL: any */
    enum term_kind kind;
    const char *text;
};

static const struct refused_value refused_values[] = {
    {NULL, TERM_LITERAL, ""},
    {NULL, TERM_LITERAL, "n/a"},
    {NULL, TERM_LITERAL, "na"},
    {NULL, TERM_LITERAL, "n"},
    {NULL, TERM_LITERAL, "no"},
    {NULL, TERM_LITERAL, "nil"},
    {NULL, TERM_LITERAL, "none"},
    {NULL, TERM_LITERAL, "null"},
    {NULL, TERM_LITERAL, "nan"},
    {NULL, TERM_LITERAL, "undefined"},
    {NULL, TERM_LITERAL, "unknown"},
    {NULL, TERM_LITERAL, "blank"},
    {NULL, TERM_LITERAL, "empty"},
    {NULL, TERM_LITERAL, "private"},
    {NULL, TERM_LITERAL, "hidden"},
    {NULL, TERM_LITERAL, "secret"},
    {NULL, TERM_LITERAL, "anonymous"},
    {NULL, TERM_LITERAL, "ask"},
    {NULL, TERM_LITERAL, "ask me"},
    {NULL, TERM_LITERAL, "not saying"},
    {NULL, TERM_LITERAL, "not telling"},
    {NULL, TERM_LITERAL, "blah"},
    {NULL, TERM_LITERAL, "test"},
    {NULL, TERM_LITERAL, "tbd"},
    {NULL, TERM_LITERAL, "xxx"},
    {NULL, TERM_LITERAL, "-"},
    {NULL, TERM_LITERAL, "?"},
    {NULL, TERM_LITERAL, "??"},
    {NULL, TERM_LITERAL, "???"},
    {NULL, TERM_LITERAL, "0"},
    /* Digests of no address: of "mailto:" and of nothing. */
    {NULL, TERM_LITERAL, "08445a31a78661b5c746feff39a9db6e4e2cc5cf"},
    {NULL, TERM_LITERAL, "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
    {NULL, TERM_IRI, ""},
    {NULL, TERM_IRI, "mailto:"},
    {NULL, TERM_IRI, "tel:"},
    {NULL, TERM_IRI, "http://www.vox.com/gone/"}, /* of every account that was closed there */
    {FOAF "mbox", TERM_IRI, "mailto:none"},
    {FOAF "mbox", TERM_IRI, "mailto:nobody@example.com"},
    {FOAF "mbox", TERM_IRI, "mailto:user@example.com"},
    {FOAF "mbox", TERM_IRI, "mailto:noreply@example.com"},
};

/* Sites whose front pages people give as their own. */
static const char *const shared_sites[] = {
    "facebook.com", "twitter.com",     "x.com",      "instagram.com", "linkedin.com",
    "google.com",   "youtube.com",     "github.com", "myspace.com",   "wordpress.com",
    "blogspot.com", "tumblr.com",      "flickr.com", "last.fm",       "mastodon.social",
    "example.com",  "livejournal.com", "yahoo.com",
};

static bool
is_front_page(struct slice iri)
{
    struct iri_parts parts;
    iri_split(iri, &parts);
    struct slice host = parts.authority;
    if (host.at == NULL || parts.path.length > 1 ||
        parts.query.length + parts.fragment.length > 0) {
        return false;
    }
    if (slice_starts_nocase(host, SLICE("www."))) {
        host = slice_of(host.at + 4, host.length - 4);
    }
    for (size_t i = 0; i < sizeof shared_sites / sizeof shared_sites[0]; i++) {
        if (slice_equal_nocase(host, slice_string(shared_sites[i]))) {
            return true;
        }
    }
    return false;
}

/* An address of the web whose host is empty or the word null, with whatever else around it. */
static bool
has_no_host(struct slice iri)
{
    struct iri_parts parts;
    iri_split(iri, &parts);
    if (!slice_equal_nocase(parts.scheme, SLICE("http")) &&
        !slice_equal_nocase(parts.scheme, SLICE("https"))) {
        return false;
    }
    struct slice host = parts.authority;
    while (host.length > 0 && !isalnum((unsigned char)host.at[0])) {
        host = slice_of(host.at + 1, host.length - 1);
    }
    size_t letters = 0;
    while (letters < host.length && isalnum((unsigned char)host.at[letters])) {
        letters++;
    }
    const struct slice rest = slice_of(host.at + letters, host.length - letters);
    const struct slice name = slice_of(host.at, letters);
    return letters == 0 ||
           (slice_equal_nocase(name, SLICE("null")) &&
            (rest.length <= 1 || slice_equal_nocase(rest, SLICE(".com")))) ||
           /* "http://+http://null": the authority is what a program glued together. */
           (slice_equal_nocase(name, SLICE("http")) && slice_starts(rest, SLICE(":")));
}

bool
value_is_refused(struct slice property, const struct term *value)
{
    const struct slice text = slice_trim(value->value);
    if (value->kind == TERM_IRI && (has_no_host(text) || is_front_page(text))) {
        return true;
    }
    for (size_t i = 0; i < sizeof refused_values / sizeof refused_values[0]; i++) {
        const struct refused_value *refused = &refused_values[i];
        if (refused->kind == value->kind && slice_equal_nocase(slice_string(refused->text), text) &&
            (refused->property == NULL || slice_is(property, refused->property))) {
            return true;
        }
    }
    return false;
}
