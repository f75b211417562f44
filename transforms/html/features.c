/* Tells which embedded syntaxes a page may hold, told by its attributes' names and a few values. */
#include "base/ascii.h"
#include "transforms/html/html.h"

static bool
is_among(struct slice token, const struct slice *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (token.length == words[i].length && token.at[0] == words[i].at[0] &&
            memcmp(token.at, words[i].at, token.length) == 0) {
            return true;
        }
    }
    return false;
}

/* Root class names of http://microformats.org/wiki/microformats2#v2_vocabularies (all h-*) and of
 * the classic formats. */
static bool
is_microformat(struct slice token)
{
    static const struct slice roots[] = {
        SLICE_INIT("vcard"),    SLICE_INIT("vevent"),    SLICE_INIT("vcalendar"),
        SLICE_INIT("vtodo"),    SLICE_INIT("vjournal"),  SLICE_INIT("vfreebusy"),
        SLICE_INIT("hcard"),    SLICE_INIT("hcalendar"), SLICE_INIT("hentry"),
        SLICE_INIT("hfeed"),    SLICE_INIT("hreview"),   SLICE_INIT("hreview-aggregate"),
        SLICE_INIT("hproduct"), SLICE_INIT("hrecipe"),   SLICE_INIT("hresume"),
        SLICE_INIT("hlisting"), SLICE_INIT("hnews"),     SLICE_INIT("hmedia"),
        SLICE_INIT("haudio"),   SLICE_INIT("hmeasure"),  SLICE_INIT("hmoney"),
        SLICE_INIT("hitem"),    SLICE_INIT("adr"),       SLICE_INIT("geo"),
        SLICE_INIT("biota"),    SLICE_INIT("xfolkentry")};
    switch (token.at[0]) {
    case 'h':
        if (token.length > 2 && token.at[1] == '-') {
            return token.at[2] >= 'a' && token.at[2] <= 'z';
        }
        break;
    case 'v':
    case 'a':
    case 'g':
    case 'b':
    case 'x':
        break;
    default:
        return false;
    }
    return is_among(token, roots, sizeof roots / sizeof *roots);
}

static unsigned
features_of_class(struct slice value)
{
    struct slice token;
    while ((token = slice_next_word(&value)).length > 0) {
        if (is_microformat(token)) {
            return HTML_HAS_MICROFORMATS;
        }
    }
    return 0;
}

/* XFN 1.1 (http://gmpg.org/xfn/11) and GRDDL's relation. */
static unsigned
features_of_relations(struct slice value)
{
    static const struct slice xfn[] = {
        SLICE_INIT("me"),          SLICE_INIT("contact"),  SLICE_INIT("acquaintance"),
        SLICE_INIT("friend"),      SLICE_INIT("met"),      SLICE_INIT("co-worker"),
        SLICE_INIT("colleague"),   SLICE_INIT("neighbor"), SLICE_INIT("child"),
        SLICE_INIT("co-resident"), SLICE_INIT("parent"),   SLICE_INIT("sibling"),
        SLICE_INIT("spouse"),      SLICE_INIT("kin"),      SLICE_INIT("muse"),
        SLICE_INIT("crush"),       SLICE_INIT("date"),     SLICE_INIT("sweetheart")};
    unsigned found = HTML_HAS_REL;
    struct slice token;
    while ((token = slice_next_word(&value)).length > 0) {
        char lower[16];
        for (size_t i = 0; i < token.length && i < sizeof lower; i++) {
            const char c = token.at[i];
            lower[i] = ascii_lower(c);
        }
        const struct slice folded = {lower, token.length};
        if (token.length > sizeof lower) {
            continue;
        }
        if (is_among(folded, xfn, sizeof xfn / sizeof *xfn)) {
            found |= HTML_HAS_XFN;
        } else if (slice_equal(folded, SLICE("transformation"))) {
            found |= HTML_HAS_GRDDL;
        }
    }
    return found;
}

static unsigned
features_of_attribute(const struct html_attribute *attribute)
{
    static const struct {
        struct slice name;
        unsigned features;
    } names[] = {
        {SLICE_INIT("vocab"), HTML_HAS_RDFA},          {SLICE_INIT("about"), HTML_HAS_RDFA},
        {SLICE_INIT("typeof"), HTML_HAS_RDFA},         {SLICE_INIT("prefix"), HTML_HAS_RDFA},
        {SLICE_INIT("inlist"), HTML_HAS_RDFA},         {SLICE_INIT("property"), HTML_HAS_RDFA},
        {SLICE_INIT("resource"), HTML_HAS_RDFA},       {SLICE_INIT("datatype"), HTML_HAS_RDFA},
        {SLICE_INIT("itemscope"), HTML_HAS_MICRODATA}, {SLICE_INIT("itemprop"), HTML_HAS_MICRODATA},
        {SLICE_INIT("profile"), HTML_HAS_GRDDL},
    };
    const struct slice name = attribute->name;
    switch (name.length) {
    case 3:
        if (memcmp(name.at, "rel", 3) == 0 || memcmp(name.at, "rev", 3) == 0) {
            return features_of_relations(attribute->value);
        }
        return 0;
    case 4:
        if (memcmp(name.at, "type", 4) == 0 &&
            slice_starts_nocase(slice_trim(attribute->value), SLICE("application/ld+json"))) {
            return HTML_HAS_JSON_LD;
        }
        return 0;
    case 5:
        if (memcmp(name.at, "class", 5) == 0) {
            return features_of_class(attribute->value);
        }
        break;
    case 6:
    case 7:
    case 8:
    case 9:
        break;
    default:
        /* In HTML GRDDL has profile and rel; in other XML an attribute of its namespace. */
        return slice_starts(name, SLICE("grddl:")) ? HTML_HAS_GRDDL : 0;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (name.at[0] == names[i].name.at[0] && slice_equal(name, names[i].name)) {
            return names[i].features;
        }
    }
    return 0;
}

unsigned
html_features(const struct html_tree *tree)
{
    unsigned found = 0;
    for (uint32_t i = 0; i < tree->attribute_count; i++) {
        found |= features_of_attribute(&tree->attributes[i]);
    }
    return found;
}
