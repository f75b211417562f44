/* Document types of old, in whose documents a table may stand inside a paragraph:
 * https://html.spec.whatwg.org/#the-initial-insertion-mode. Its list, families of identifiers
 * told by what they have in common. */
#include "transforms/html_build.h"

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
cut_word(struct slice *text)
{
    *text = slice_trim(*text);
    size_t n = 0;
    while (n < text->length && slice_trim(slice_of(text->at + n, 1)).length > 0 &&
           text->at[n] != '"' && text->at[n] != '\'') {
        n++;
    }
    const struct slice word = slice_of(text->at, n);
    *text = slice_of(text->at + n, text->length - n);
    return word;
}

/* False: there is no quoted identifier. */
static bool
cut_quoted(struct slice *text, struct slice *identifier)
{
    *text = slice_trim(*text);
    if (text->length == 0 || (text->at[0] != '"' && text->at[0] != '\'')) {
        return false;
    }
    const struct slice rest = slice_of(text->at + 1, text->length - 1);
    const size_t end = slice_find(rest, text->at[0]);
    *identifier = slice_of(rest.at, end);
    const size_t used = end < rest.length ? end + 1 : end;
    *text = slice_of(rest.at + used, rest.length - used);
    return true;
}

bool
html_doctype_is_quirky(struct slice text)
{
    struct slice public = {0}, system = {0};
    if (!slice_equal_nocase(cut_word(&text), SLICE("html"))) {
        return true;
    }
    const struct slice keyword = cut_word(&text);
    bool has_system = false;
    if (slice_equal_nocase(keyword, SLICE("public"))) {
        if (!cut_quoted(&text, &public)) {
            return true;
        }
        has_system = cut_quoted(&text, &system);
    } else if (slice_equal_nocase(keyword, SLICE("system"))) {
        has_system = cut_quoted(&text, &system);
        if (!has_system) {
            return true;
        }
    } else if (keyword.length > 0) {
        return true;
    }
    return slice_equal_nocase(public, SLICE("HTML")) ||
           slice_equal_nocase(
               system, SLICE("http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd")) ||
           starts_as(public, quirky_starts, sizeof quirky_starts / sizeof *quirky_starts) ||
           (!has_system && starts_as(public, half_quirky_starts,
                                     sizeof half_quirky_starts / sizeof *half_quirky_starts));
}
