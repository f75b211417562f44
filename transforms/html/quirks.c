/* Document types of old, in whose documents a table may stand inside a paragraph:
 * https://html.spec.whatwg.org/#the-initial-insertion-mode. Its list, families of identifiers
 * told by what they have in common. */
#include "base/ascii.h"
#include "transforms/html/tree_build.h"

static const struct slice quirky_starts[] = {
    SLICE_INIT("+//Silmaril//dtd html Pro v0r11 19970101//"),
    SLICE_INIT("-//AS//DTD HTML 3.0 asWedit + extensions//"),
    SLICE_INIT("-//AdvaSoft Ltd//DTD HTML 3.0 asWedit + extensions//"),
    SLICE_INIT("-//IETF//DTD HTML"),
    SLICE_INIT("-//Metrius//DTD Metrius Presentational//"),
    SLICE_INIT("-//Microsoft//DTD Internet Explorer "),
    SLICE_INIT("-//Netscape Comm. Corp.//DTD "),
    SLICE_INIT("-//O'Reilly and Associates//DTD HTML "),
    SLICE_INIT("-//SQ//DTD HTML 2.0 HoTMetaL + extensions//"),
    SLICE_INIT("-//SoftQuad Software//DTD HoTMetaL PRO 6.0::19990601::extensions to HTML 4.0//"),
    SLICE_INIT("-//SoftQuad//DTD HoTMetaL PRO 4.0::19971010::extensions to HTML 4.0//"),
    SLICE_INIT("-//Spyglass//DTD HTML 2.0 Extended//"),
    SLICE_INIT("-//Sun Microsystems Corp.//DTD HotJava "),
    SLICE_INIT("-//W3C//DTD HTML 3"),
    SLICE_INIT("-//W3C//DTD HTML 4.0 Frameset//"),
    SLICE_INIT("-//W3C//DTD HTML 4.0 Transitional//"),
    SLICE_INIT("-//W3C//DTD HTML Experimental "),
    SLICE_INIT("-//W3C//DTD W3 HTML//"),
    SLICE_INIT("-//W3O//DTD W3 HTML 3.0//"),
    SLICE_INIT("-//W3O//DTD W3 HTML Strict 3.0//"),
    SLICE_INIT("-//WebTechs//DTD Mozilla HTML"),
    SLICE_INIT("-/W3C/DTD HTML 4.0 Transitional/EN"),
};
/* Quirky only without a system identifier. */
static const struct slice half_quirky_starts[] = {
    SLICE_INIT("-//W3C//DTD HTML 4.01 Frameset//"),
    SLICE_INIT("-//W3C//DTD HTML 4.01 Transitional//"),
};

static bool
starts_as(struct slice text, const struct slice *starts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (text.length >= starts[i].length &&
            slice_equal_nocase(slice_of(text.at, starts[i].length), starts[i])) {
            return true;
        }
    }
    return false;
}

static struct slice
cut_name(struct slice *text)
{
    *text = slice_trim(*text);
    size_t n = 0;
    while (n < text->length && !ascii_is_space(text->at[n])) {
        n++;
    }
    const struct slice name = slice_of(text->at, n);
    *text = slice_trim(slice_of(text->at + n, text->length - n));
    return name;
}

/* True: the text began with the word, which is cut off with the blanks behind it. */
static bool
cut_keyword(struct slice *text, struct slice word)
{
    if (text->length < word.length || !slice_equal_nocase(slice_of(text->at, word.length), word)) {
        return false;
    }
    *text = slice_trim(slice_of(text->at + word.length, text->length - word.length));
    return true;
}

/* False: the text does not begin with an identifier in quotes, or its second quote is missing. */
static bool
cut_identifier(struct slice *text, struct slice *identifier)
{
    if (text->length == 0 || (text->at[0] != '"' && text->at[0] != '\'')) {
        return false;
    }
    const struct slice rest = slice_of(text->at + 1, text->length - 1);
    const size_t end = slice_find(rest, text->at[0]);
    if (end == rest.length) {
        return false;
    }
    *identifier = slice_of(rest.at, end);
    *text = slice_trim(slice_of(rest.at + end + 1, rest.length - end - 1));
    return true;
}

struct doctype {
    struct slice name, public, system;
    bool has_system;
};

/* False: it is malformed, which means quirks whatever it says. */
static bool
read_doctype(struct slice text, bool cut_off, struct doctype *doctype)
{
    *doctype = (struct doctype){.name = cut_name(&text)};
    if (text.length == 0) {
        return !cut_off;
    }
    if (cut_keyword(&text, SLICE("public"))) {
        if (!cut_identifier(&text, &doctype->public)) {
            return false;
        }
        if (text.length == 0) {
            return !cut_off;
        }
    } else if (!cut_keyword(&text, SLICE("system"))) {
        return false;
    }
    doctype->has_system = cut_identifier(&text, &doctype->system);
    return doctype->has_system && (text.length > 0 || !cut_off); /* what follows means nothing */
}

bool
html_doctype_is_quirky(struct slice text, bool cut_off)
{
    struct doctype type;
    if (!read_doctype(text, cut_off, &type) || !slice_equal_nocase(type.name, SLICE("html"))) {
        return true;
    }
    return slice_equal_nocase(type.public, SLICE("HTML")) ||
           slice_equal_nocase(
               type.system, SLICE("http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd")) ||
           starts_as(type.public, quirky_starts, sizeof quirky_starts / sizeof *quirky_starts) ||
           (!type.has_system && starts_as(type.public, half_quirky_starts,
                                          sizeof half_quirky_starts / sizeof *half_quirky_starts));
}
