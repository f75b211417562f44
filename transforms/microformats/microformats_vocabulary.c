/* Tells which vocabularies say what microformats mean. docs/EMBEDDED.md gives the reasons. */
#include "transforms/common/vocabulary.h"
#include "transforms/microformats/microformats_parser.h"

#define VCARD "http://www.w3.org/2006/vcard/ns#"
#define GEO "http://www.w3.org/2003/01/geo/wgs84_pos#"
#define ICAL "http://www.w3.org/2002/12/cal/icaltzd#"
#define REV "http://purl.org/stuff/rev#"
#define GR "http://purl.org/goodrelations/v1#"
#define RECIPE "http://sindice.com/hrecipe/"
#define DOAC "http://ramonantonio.net/doac/0.1/#"

struct mapping {
    const char *property; /* NULL: the class */
    const char *iri;      /* after '^': said the other way round */
};

static const struct mapping card[] = {{NULL, VCARD "VCard"},
                                      {"name", VCARD "fn"},
                                      {"org", VCARD "org"},
                                      {"job-title", VCARD "title"},
                                      {"organization-name", VCARD "organization-name"},
                                      {"organization-unit", VCARD "organization-unit"},
                                      {"honorific-prefix", VCARD "honorific-prefix"},
                                      {"given-name", VCARD "given-name"},
                                      {"additional-name", VCARD "additional-name"},
                                      {"family-name", VCARD "family-name"},
                                      {"honorific-suffix", VCARD "honorific-suffix"},
                                      {"nickname", VCARD "nickname"},
                                      {"email", VCARD "email"},
                                      {"logo", VCARD "logo"},
                                      {"photo", VCARD "photo"},
                                      {"url", VCARD "url"},
                                      {"uid", VCARD "uid"},
                                      {"category", VCARD "category"},
                                      {"adr", VCARD "adr"},
                                      {"label", VCARD "label"},
                                      {"geo", VCARD "geo"},
                                      {"latitude", GEO "lat"},
                                      {"longitude", GEO "long"},
                                      {"altitude", GEO "alt"},
                                      {"tel", VCARD "tel"},
                                      {"note", VCARD "note"},
                                      {"bday", VCARD "bday"},
                                      {"key", VCARD "key"},
                                      {"role", VCARD "role"},
                                      {"sound", VCARD "sound"},
                                      {"sort-string", VCARD "sort-string"},
                                      {"mailer", VCARD "mailer"},
                                      {"agent", VCARD "agent"},
                                      {"tz", VCARD "tz"},
                                      {"rev", VCARD "rev"},
                                      {"class", VCARD "class"},
                                      {"post-office-box", VCARD "post-office-box"},
                                      {"extended-address", VCARD "extended-address"},
                                      {"street-address", VCARD "street-address"},
                                      {"locality", VCARD "locality"},
                                      {"region", VCARD "region"},
                                      {"postal-code", VCARD "postal-code"},
                                      {"country-name", VCARD "country-name"}};
static const struct mapping address[] = {{NULL, VCARD "Address"},
                                         {"post-office-box", VCARD "post-office-box"},
                                         {"extended-address", VCARD "extended-address"},
                                         {"street-address", VCARD "street-address"},
                                         {"locality", VCARD "locality"},
                                         {"region", VCARD "region"},
                                         {"postal-code", VCARD "postal-code"},
                                         {"country-name", VCARD "country-name"},
                                         {"label", VCARD "label"},
                                         {"geo", VCARD "geo"},
                                         {"latitude", GEO "lat"},
                                         {"longitude", GEO "long"},
                                         {"altitude", GEO "alt"}};
static const struct mapping geo[] = {{NULL, GEO "Point"},
                                     {"latitude", GEO "lat"},
                                     {"longitude", GEO "long"},
                                     {"altitude", GEO "alt"}};
static const struct mapping event[] = {{NULL, ICAL "Vevent"},
                                       {"name", ICAL "summary"},
                                       {"start", ICAL "dtstart"},
                                       {"end", ICAL "dtend"},
                                       {"duration", ICAL "duration"},
                                       {"description", ICAL "description"},
                                       {"url", ICAL "url"},
                                       {"uid", ICAL "uid"},
                                       {"attach", ICAL "attach"},
                                       {"category", ICAL "categories"},
                                       {"location", ICAL "location"},
                                       {"geo", ICAL "geo"},
                                       {"latitude", GEO "lat"},
                                       {"longitude", GEO "long"},
                                       {"attendee", ICAL "attendee"},
                                       {"contact", ICAL "contact"},
                                       {"organizer", ICAL "organizer"},
                                       {"status", ICAL "status"},
                                       {"class", ICAL "class"},
                                       {"dtstamp", ICAL "dtstamp"},
                                       {"last-modified", ICAL "lastModified"},
                                       {"rdate", ICAL "rdate"},
                                       {"rrule", ICAL "rrule"}};
static const struct mapping review[] = {{NULL, REV "Review"},
                                        {"name", REV "title"},
                                        {"rating", REV "rating"},
                                        {"best", REV "maxRating"},
                                        {"worst", REV "minRating"},
                                        {"author", REV "reviewer"},
                                        {"reviewer", REV "reviewer"},
                                        {"content", REV "text"},
                                        {"description", REV "text"},
                                        {"summary", VOCABULARY_DCTERMS "abstract"},
                                        {"reviewed", VOCABULARY_DCTERMS "date"},
                                        {"published", VOCABULARY_DCTERMS "date"},
                                        {"category", VOCABULARY_DC "subject"},
                                        {"url", VOCABULARY_FOAF "page"},
                                        {"item", "^" REV "hasReview"}};
static const struct mapping aggregate[] = {{NULL, REV "Review"},
                                           {"name", REV "title"},
                                           {"rating", REV "rating"},
                                           {"best", REV "maxRating"},
                                           {"worst", REV "minRating"},
                                           {"votes", REV "totalVotes"},
                                           {"category", VOCABULARY_DC "subject"},
                                           {"url", VOCABULARY_FOAF "page"},
                                           {"item", "^" REV "hasReview"}};
static const struct mapping product[] = {
    {NULL, GR "ProductOrService"},     {"name", GR "name"},
    {"description", GR "description"}, {"category", GR "category"},
    {"brand", GR "hasManufacturer"},   {"photo", VOCABULARY_FOAF "depiction"},
    {"url", VOCABULARY_FOAF "page"},   {"review", REV "hasReview"}};
static const struct mapping recipe[] = {{NULL, RECIPE "Recipe"},
                                        {"name", RECIPE "fn"},
                                        {"ingredient", RECIPE "ingredient"},
                                        {"yield", RECIPE "yield"},
                                        {"instructions", RECIPE "instructions"},
                                        {"duration", RECIPE "duration"},
                                        {"photo", RECIPE "photo"},
                                        {"summary", RECIPE "recipeSummary"},
                                        {"author", RECIPE "author"},
                                        {"published", RECIPE "published"},
                                        {"nutrition", RECIPE "nutrition"},
                                        {"category", RECIPE "tag"}};
static const struct mapping resume[] = {
    {"summary", DOAC "summary"},         {"experience", DOAC "experience"},
    {"education", DOAC "education"},     {"skill", DOAC "skill"},
    {"affiliation", DOAC "affiliation"}, {"publication", DOAC "publication"}};
#define POST                                                                                  \
    {"name", VOCABULARY_DCTERMS "title"}, {"summary", VOCABULARY_DCTERMS "abstract"},         \
        {"content", VOCABULARY_SIOC "content"}, {"published", VOCABULARY_DCTERMS "date"},     \
        {"updated", VOCABULARY_DCTERMS "modified"}, {"author", VOCABULARY_DCTERMS "creator"}, \
        {"category", VOCABULARY_DC "subject"}, {"url", VOCABULARY_FOAF "page"},               \
        {"photo", VOCABULARY_FOAF "depiction"}, {"in-reply-to", VOCABULARY_SIOC "reply_of"},  \
    {                                                                                         \
        "comment", VOCABULARY_SIOC "has_reply"                                                \
    }
static const struct mapping post[] = {{NULL, VOCABULARY_SIOC "Post"}, POST};
static const struct mapping cite[] = {{NULL, VOCABULARY_DCTERMS "BibliographicResource"}, POST};
static const struct mapping feed[] = {{NULL, VOCABULARY_SIOC "Container"}, POST};

#define TABLE(mappings) mappings, sizeof mappings / sizeof *mappings
static const struct {
    struct slice type;
    const struct mapping *mappings;
    size_t count;
} types[] = {
    {SLICE_INIT("h-card"), TABLE(card)},       {SLICE_INIT("h-adr"), TABLE(address)},
    {SLICE_INIT("h-geo"), TABLE(geo)},         {SLICE_INIT("h-event"), TABLE(event)},
    {SLICE_INIT("h-review"), TABLE(review)},   {SLICE_INIT("h-review-aggregate"), TABLE(aggregate)},
    {SLICE_INIT("h-product"), TABLE(product)}, {SLICE_INIT("h-recipe"), TABLE(recipe)},
    {SLICE_INIT("h-resume"), TABLE(resume)},   {SLICE_INIT("h-entry"), TABLE(post)},
    {SLICE_INIT("h-cite"), TABLE(cite)},       {SLICE_INIT("h-feed"), TABLE(feed)}};

static const char *
find(struct slice type, struct slice property)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!slice_equal(types[i].type, type)) {
            continue;
        }
        for (size_t k = 0; k < types[i].count; k++) {
            const struct mapping *mapping = &types[i].mappings[k];
            if (slice_equal(slice_string(mapping->property), property)) {
                return mapping->iri;
            }
        }
    }
    return NULL;
}

const char *
microformat_class_of(struct slice type)
{
    return find(type, (struct slice){0});
}

const char *
microformat_property_of(struct slice type, struct slice property)
{
    return find(type, property);
}
