/* Classic microformats under their microformats2 names.
 * Source: "Parser compatibility" of each format at https://microformats.org/wiki/h-card etc. */
#include "transforms/microformats/microformats_parser.h"

#define T MICROFORMAT_TEXT
#define U MICROFORMAT_URL
#define D MICROFORMAT_DATE
#define E MICROFORMAT_MARKUP

struct entry {
    struct slice classic, name;
    enum microformat_kind kind;
};
#define AS(classic, kind, name)                     \
    {                                               \
        SLICE_INIT(classic), SLICE_INIT(name), kind \
    }
#define SAME(kind, name)                         \
    {                                            \
        SLICE_INIT(name), SLICE_INIT(name), kind \
    }

#define ADDRESS                                                                         \
    SAME(T, "post-office-box"), SAME(T, "extended-address"), SAME(T, "street-address"), \
        SAME(T, "locality"), SAME(T, "region"), SAME(T, "postal-code"), SAME(T, "country-name")
#define PLACE SAME(T, "geo"), SAME(T, "latitude"), SAME(T, "longitude")

static const struct entry adr[] = {ADDRESS};
static const struct entry geo[] = {SAME(T, "latitude"), SAME(T, "longitude"), SAME(T, "altitude")};
static const struct entry card[] = {ADDRESS,
                                    PLACE,
                                    AS("fn", T, "name"),
                                    SAME(U, "url"),
                                    SAME(T, "honorific-prefix"),
                                    SAME(T, "given-name"),
                                    SAME(T, "additional-name"),
                                    SAME(T, "family-name"),
                                    SAME(T, "honorific-suffix"),
                                    SAME(T, "nickname"),
                                    SAME(U, "email"),
                                    SAME(U, "logo"),
                                    SAME(U, "photo"),
                                    SAME(U, "uid"),
                                    SAME(T, "category"),
                                    SAME(T, "adr"),
                                    SAME(T, "label"),
                                    SAME(T, "tel"),
                                    SAME(T, "note"),
                                    SAME(D, "bday"),
                                    SAME(T, "key"),
                                    SAME(T, "org"),
                                    SAME(T, "organization-name"),
                                    SAME(T, "organization-unit"),
                                    AS("title", T, "job-title"),
                                    SAME(T, "role"),
                                    SAME(U, "sound"),
                                    SAME(T, "sort-string"),
                                    SAME(T, "mailer"),
                                    SAME(T, "agent"),
                                    SAME(T, "tz"),
                                    SAME(D, "rev"),
                                    SAME(T, "class")};
static const struct entry post[] = {AS("entry-title", T, "name"),
                                    AS("entry-summary", T, "summary"),
                                    AS("entry-content", E, "content"),
                                    SAME(D, "published"),
                                    SAME(D, "updated"),
                                    SAME(T, "author"),
                                    SAME(T, "category"),
                                    SAME(T, "geo"),
                                    SAME(T, "latitude"),
                                    SAME(T, "longitude")};
static const struct entry feed[] = {SAME(T, "author"), SAME(U, "photo"), SAME(U, "url"),
                                    SAME(T, "category")};
static const struct entry event[] = {AS("summary", T, "name"),
                                     AS("dtstart", D, "start"),
                                     AS("dtend", D, "end"),
                                     SAME(D, "duration"),
                                     SAME(T, "description"),
                                     SAME(U, "url"),
                                     SAME(U, "uid"),
                                     SAME(U, "attach"),
                                     SAME(T, "category"),
                                     SAME(T, "location"),
                                     PLACE,
                                     SAME(T, "attendee"),
                                     SAME(T, "contact"),
                                     SAME(T, "organizer"),
                                     SAME(T, "status"),
                                     SAME(T, "class"),
                                     SAME(D, "dtstamp"),
                                     SAME(D, "last-modified"),
                                     SAME(D, "rdate"),
                                     SAME(T, "rrule")};
static const struct entry listing[] = {SAME(T, "version"),
                                       SAME(T, "lister"),
                                       AS("dtlisted", D, "listed"),
                                       AS("dtexpired", D, "expired"),
                                       SAME(T, "location"),
                                       SAME(T, "price"),
                                       SAME(T, "item"),
                                       AS("summary", T, "name"),
                                       SAME(E, "description"),
                                       SAME(U, "url"),
                                       SAME(T, "category")};
static const struct entry news[] = {SAME(T, "entry"),        PLACE,
                                    SAME(T, "source-org"),   SAME(T, "dateline"),
                                    SAME(U, "item-license"), SAME(U, "principles")};
static const struct entry product[] = {
    AS("fn", T, "name"), SAME(U, "photo"),       SAME(T, "brand"),
    SAME(T, "category"), SAME(T, "description"), SAME(U, "identifier"),
    SAME(U, "url"),      SAME(T, "review"),      SAME(T, "price")};
static const struct entry recipe[] = {
    AS("fn", T, "name"),  SAME(T, "ingredient"), SAME(T, "yield"),   SAME(E, "instructions"),
    SAME(D, "duration"),  SAME(U, "photo"),      SAME(T, "summary"), SAME(T, "author"),
    SAME(D, "published"), SAME(T, "nutrition"),  SAME(T, "category")};
static const struct entry resume[] = {
    SAME(T, "contact"), SAME(T, "summary"),     SAME(T, "experience"),  SAME(T, "education"),
    SAME(T, "skill"),   SAME(T, "affiliation"), SAME(T, "publication"), SAME(T, "publications")};
#define REVIEW                                                                     \
    AS("summary", T, "name"), SAME(T, "item"), SAME(T, "rating"), SAME(T, "best"), \
        SAME(T, "worst"), SAME(T, "category"), AS("description", E, "content"), SAME(U, "url")
static const struct entry review[] = {REVIEW, AS("reviewer", T, "author"),
                                      AS("dtreviewed", D, "reviewed"), SAME(T, "version"),
                                      SAME(T, "type")};
static const struct entry aggregate[] = {REVIEW, SAME(T, "average"), SAME(T, "count"),
                                         SAME(T, "votes")};
static const struct entry item_of_review[] = {AS("fn", T, "name"), SAME(U, "url"),
                                              SAME(U, "photo")};

static const struct entry tags[] = {AS("tag", T, "category")};
static const struct entry post_relations[] = {AS("tag", T, "category"), AS("bookmark", U, "url")};
static const struct entry review_relations[] = {AS("tag", T, "category"), AS("bookmark", U, "url"),
                                                AS("self", U, "url")};
static const struct entry news_relations[] = {AS("principles", U, "principles"),
                                              AS("item-license", U, "item-license")};

#define TABLE(entries) entries, sizeof entries / sizeof *entries
static const struct format {
    struct slice root, type;
    const struct entry *classes;
    size_t class_count;
    const struct entry *relations;
    size_t relation_count;
} formats[] = {
    {SLICE_INIT("adr"), SLICE_INIT("h-adr"), TABLE(adr)},
    {SLICE_INIT("geo"), SLICE_INIT("h-geo"), TABLE(geo)},
    {SLICE_INIT("hentry"), SLICE_INIT("h-entry"), TABLE(post), TABLE(post_relations)},
    {SLICE_INIT("hfeed"), SLICE_INIT("h-feed"), TABLE(feed), TABLE(tags)},
    {SLICE_INIT("hlisting"), SLICE_INIT("h-listing"), TABLE(listing), TABLE(tags)},
    {SLICE_INIT("hnews"), SLICE_INIT("h-news"), TABLE(news), TABLE(news_relations)},
    {SLICE_INIT("hproduct"), SLICE_INIT("h-product"), TABLE(product)},
    {SLICE_INIT("hrecipe"), SLICE_INIT("h-recipe"), TABLE(recipe), TABLE(tags)},
    {SLICE_INIT("hresume"), SLICE_INIT("h-resume"), TABLE(resume)},
    {SLICE_INIT("hreview"), SLICE_INIT("h-review"), TABLE(review), TABLE(review_relations)},
    {SLICE_INIT("hreview-aggregate"), SLICE_INIT("h-review-aggregate"), TABLE(aggregate),
     TABLE(review_relations)},
    {SLICE_INIT("vcard"), SLICE_INIT("h-card"), TABLE(card)},
    {SLICE_INIT("vevent"), SLICE_INIT("h-event"), TABLE(event)},
    {{0}, SLICE_INIT("h-item"), TABLE(item_of_review)},
};
enum { FORMATS = sizeof formats / sizeof *formats };

struct slice
microformat_classic_root(struct slice word)
{
    if (word.at[0] != 'h' && word.at[0] != 'v' && word.at[0] != 'a' && word.at[0] != 'g') {
        return (struct slice){0};
    }
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i].root.length > 0 && slice_equal(formats[i].root, word)) {
            return formats[i].type;
        }
    }
    return (struct slice){0};
}

static const struct entry *
find(const struct entry *entries, size_t count, struct slice word)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(entries[i].classic, word)) {
            return &entries[i];
        }
    }
    return NULL;
}

static bool
is_of(const struct microformat_item *item, const struct format *format)
{
    for (size_t i = 0; i < item->type_count; i++) {
        if (slice_equal(item->types[i], format->type)) {
            return true;
        }
    }
    return false;
}

bool
microformat_classic_property(const struct microformat_item *item, struct slice word, bool relation,
                             struct microformat_name *name)
{
    for (size_t i = 0; i < FORMATS; i++) {
        const struct format *format = &formats[i];
        if (!is_of(item, format)) {
            continue;
        }
        const struct entry *entry = relation ? find(format->relations, format->relation_count, word)
                                             : find(format->classes, format->class_count, word);
        if (entry) {
            *name = (struct microformat_name){entry->kind, entry->name};
            return true;
        }
    }
    return false;
}

bool
microformat_classic_is_item(const struct microformat_item *item, struct slice word)
{
    struct microformat_name name;
    return slice_is(word, "item") && microformat_classic_property(item, word, false, &name);
}

bool
microformat_classic_is_property(struct slice word)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (find(formats[i].classes, formats[i].class_count, word)) {
            return true;
        }
    }
    return false;
}
