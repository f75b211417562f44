/* The first entry that fits counts: what is special stands before what is general. Every entry
 * is reached by a text that is really written (tests/unit/cli/test_report.c). */
#include "cli/report/report_advice.h"

static const struct report_advice entries[] = {
    /* the way to the document */
    {"fetch", "answered 404",
     "Put the page back, redirect its address to the new one, or mend the link that leads to it."},
    {"fetch", "answered 410",
     "The page was taken away for good; take away the links that lead to it."},
    {"fetch", "answered 401", "What machines should read must be served without a password."},
    {"fetch", "answered 403",
     "Serve the page to unknown programs too, or forbid it in robots.txt so that it is not asked "
     "for."},
    {"fetch", "answered 5", "The server failed; its error log says why."},
    {"fetch", "robots.txt of the host",
     "If machines should read this page, allow it in robots.txt."},
    {"fetch", "redirects to itself", "Let the redirect lead to the page, not to itself."},
    {"fetch", "more redirects", "Redirect to the last address at once."},
    {"fetch", "redirect without a target",
     "Send a Location header with a whole http or https URL."},
    {"fetch", "has no body", "Serve the page's content, or answer 404 or 204."},
    {"fetch", "the body was cut",
     "Serve the whole document, in parts when it is large; what lies behind the cut is not read."},
    {"fetch", "it could not be had",
     "See that the host's name, its certificate and the connection are in order."},

    /* its type and encoding */
    {"detect", "no Content-Type", "Have the server send the Content-Type that the content has."},
    {"detect", "Content-Type says",
     "Have the server send the type that the content has; programs believe it."},
    {"html", "names another encoding than",
     "Name the same character encoding, best utf-8, in Content-Type and in the page."},
    {"html", "bytes that are no UTF-8",
     "Save the page as UTF-8, or name the encoding that it is saved in."},
    {"html", "does not name its character encoding",
     "Write <meta charset=\"utf-8\"> at the head's begin, and save the page as UTF-8."},
    {NULL, "text that is not UTF-8", "Save the file as UTF-8."},
    {NULL, "around the document is damaged", "Compress the document again; its end is missing."},
    {NULL, "XMP", "Write the XMP packet anew with the program that made the file."},

    /* pages */
    {"html", "without a title", "Write <title>what the page is</title> into the head."},
    {"report", "no structured data",
     "Describe what the page is about, for example in a script of type application/ld+json with "
     "\"@context\": \"https://schema.org\"."},
    {NULL, "misnested tags", "Close elements in the reverse order of their opening."},
    {NULL, "elements nested too deep", "Close elements; deep nesting mostly means lost end tags."},
    {NULL, "without end tag", "Write the end tag; everything behind was taken for its text."},

    /* JSON-LD: contexts */
    {"jsonld", "loading remote context failed",
     "See that the context's URL is right and is served as application/ld+json to everybody; most "
     "pages need \"https://schema.org\"."},
    {"jsonld", "not at hand",
     "Serve the context that the Link header names as application/ld+json to everybody."},
    {"jsonld", "loading document failed", "Write the context's URL as an absolute IRI."},
    {"jsonld", "invalid remote context",
     "Let the context's URL serve a JSON object that has an @context."},
    {"jsonld", "context's IRI without a scheme", "Write \"https://schema.org\" with its scheme."},
    {"jsonld", "invalid local context",
     "Write @context as a URL in quotation marks, as an object, or as a list of these."},
    {"jsonld", "multiple context link headers",
     "Send one Link header with rel=\""
     "http://www.w3.org/ns/json-ld#context\"."},
    {"jsonld", "alternate ", "Serve the JSON-LD that the Link header promises, or take that away."},

    /* JSON-LD: what it says */
    {"jsonld", "invalid @id value", "Write one IRI in quotation marks behind \"@id\"."},
    {"jsonld", "invalid type value",
     "Write a name in quotation marks, or a list of such, behind \"@type\"."},
    {"jsonld", "invalid vocab mapping", "Write an IRI behind \"@vocab\"."},
    {"jsonld", "invalid base IRI", "Write an IRI or null behind \"@base\"."},
    {"jsonld", "invalid language-tagged value",
     "Only strings have an @language; leave it away beside numbers, true and false."},
    {"jsonld", "invalid value object",
     "Beside \"@value\" may stand only @type, @language, @direction and @index."},
    {"jsonld", "invalid typed value", "Write an IRI as the @type of a value."},
    {"jsonld", "invalid set or list object", "Beside \"@list\" or \"@set\" may stand only @index."},
    {"jsonld", "invalid @reverse value", "Write an object behind \"@reverse\"."},
    {"jsonld", "IRI mapping", "Map each term of the context to an IRI, or to a declared prefix."},
    {"jsonld", "keyword redefinition", "Names that begin with @ are JSON-LD's own; use others."},
    {"jsonld", "invalid term definition",
     "Define a term of the context by an IRI in quotation marks or by an object with \"@id\"."},
    {"jsonld", "invalid ", "JSON-LD 1.1 forbids this; the line shows where."},

    /* JSON */
    {"jsonld", "the script element of JSON-LD is empty",
     "Put the JSON into the script, or leave the script out."},
    {"jsonld", "nothing could be read",
     "Pass the text through a JSON validator; not even its begin could be read."},
    {"jsonld", "control character in a string",
     "Write line ends in strings as \\n, tabs as \\t; JSON allows no raw ones."},
    {"jsonld", "bytes that are no UTF-8", "Save JSON as UTF-8."},
    {"jsonld", "lone surrogate",
     "Write characters beyond U+FFFF as two \\u escapes, or as they are."},
    {"jsonld", "unknown escape", "Escape only \" \\ / b f n r t and uXXXX; write \\\\ for \\."},
    {"jsonld", "quotation mark in a string not escaped", "Write \\\" for a \" inside of a string."},
    {"jsonld", "single quotation marks", "Write \" instead of ' around names and strings."},
    {"jsonld", "name without quotation marks", "Write names in \"quotation marks\"."},
    {"jsonld", "HTML comment or CDATA",
     "Leave <!-- --> and CDATA away; browsers do not need them."},
    {"jsonld", "comment", "Take comments out; JSON has none."},
    {"jsonld", "no white space between values",
     "Between values put only blanks, tabs and line ends; no-break spaces and marks are none."},
    {"jsonld", "superfluous comma", "Take away the comma behind the last member or value."},
    {"jsonld", "missing comma", "Part members and values by commas."},
    {"jsonld", "missing value", "Write a value behind each colon and comma, at least null."},
    {"jsonld", "malformed number", "Write numbers as 5, -5, 0.5 or 5e3, others as strings."},
    {"jsonld", "literal of another language", "Write true, false and null, in small letters."},
    {"jsonld", "JSON escaped as HTML", "Write \" and & as they are; scripts know no &quot;."},
    {"jsonld", "several values in one text", "Put several objects into one [list, of, them]."},
    {"jsonld", "semicolon behind JSON", "Take away the semicolon; JSON is no statement."},
    {"jsonld", "missing end", "Close all brackets; the text may have been cut."},
    {"jsonld", "closing bracket without", "Take away the bracket that closes nothing."},
    {"jsonld", "expected a ", "Pass the text through a JSON validator; the line shows the place."},

    /* XML */
    {NULL, "before the XML declaration", "Let the document begin with <?xml, not with blanks."},
    {NULL, "& that should be &amp;", "Write &amp; for &, in addresses too."},
    {NULL, "xmlParseEntityRef", "Write &amp; for &, in addresses too."},
    {NULL, "character that XML forbids", "Leave control characters out."},
    {NULL, "< that should be &lt;", "Write &lt; for < in text."},
    {NULL, "malformed attribute", "Write attributes as name=\"value\", separated by blanks."},
    {NULL, "missing or misplaced end tag", "Close elements in the reverse order of their opening."},
    {NULL, "-- in a comment", "Write - - for -- inside of comments."},
    {NULL, "end of the document missing", "Serve the whole document; its end tags are missing."},
    {NULL, "ending tag mismatch", "Close elements in the reverse order of their opening."},
    {NULL, "Premature end", "Serve the whole document; its end is missing."},
    {NULL, "Namespace prefix", "Declare each prefix by xmlns:prefix=\"its namespace\"."},

    /* RDF/XML */
    {"rdfxml", "not a valid IRI", "Percent-encode blanks and quotation marks in IRIs."},
    {"rdfxml", "rdf:ID has been given before", "Give each rdf:ID once; rdf:about says more of it."},
    {"rdfxml", "is not a name", "Begin names with a letter, and use only letters, digits, - _ ."},
    {"rdfxml", "attribute without a namespace", "Write rdf:about, rdf:resource, rdf:ID and so on."},
    {"rdfxml", "rdf:parseType with other",
     "Beside rdf:parseType only rdf:ID may stand; take the others away."},
    {"rdfxml", "rdf:about on a property", "Write rdf:resource on properties, rdf:about on things."},
    {"rdfxml", "text", "Put text into a property element; things hold only properties."},
    {"rdfxml", "external entity", "Write the entity's content into the document."},
    {"rdfxml", "xml:lang", "Write a language tag such as en or de-AT."},
    {"rdfxml", "not the name of", "This name of RDF's own must not stand here; see RDF/XML, 5.1."},

    /* Turtle, TriG, N3, N-Triples, N-Quads */
    {NULL, "prefix is not declared", "Declare the prefix before: @prefix name: <its namespace> ."},
    {NULL, "character not allowed in an IRI",
     "Percent-encode blanks, quotation marks and braces in IRIs."},
    {NULL, "escape in ",
     "Escape only by \\t \\b \\n \\r \\f \\\" \\\\ \\uXXXX; write \\\\ for \\."},
    {NULL, "string does not end",
     "End strings on their line, or put them into three quotation marks in Turtle."},
    {NULL, "bad language tag", "Write a language tag such as @en or @de-AT."},
    {NULL, "blank node label", "Write blank nodes as _: and a name of letters and digits."},
    {NULL, "IRI is not absolute", "Write whole IRIs; this syntax knows no relative ones."},
    {NULL, "not UTF-8", "Save the file as UTF-8."},
    {NULL, "expected ",
     "Something is missing before this place, often a dot, semicolon or bracket."},

    /* RDFa */
    {"rdfa", "no term: there is no vocab",
     "Set vocab=\"https://schema.org/\" on the page or part."},
    {"rdfa", "is not declared", "Declare the prefix: prefix=\"name: its namespace\"."},
    {"rdfa", "prefix", "Write prefix=\"name: IRI name: IRI\": a colon, a blank, an IRI."},

    /* microdata and microformats */
    {"microdata", "no element has", "Give the element that is meant this id, or mend itemref."},
    {"microdata", "into itself", "Take the id of an item's own parent out of its itemref."},
    {"microdata", "leads nowhere", "Mend the address in href or src; it is no URL."},
    {"microdata", "has none (href", "Give the link, image or object its address."},
    {"microdata", "needs an item",
     "Put itemprop-reverse on a link or on an element with itemscope."},
    {"microdata", "", NULL},
    {"microformats", "", NULL},

    /* calendars, cards, tables */
    {NULL, "without its BEGIN", "Pair each END with a BEGIN of the same name."},
    {NULL, "of an inner component", "End components in the reverse order of their begin."},
    {NULL, "no colon after a property name", "Write NAME:value; longer lines go on after a blank."},
    {NULL, "there is no BEGIN", "Begin with BEGIN:VCALENDAR or BEGIN:VCARD."},
    {NULL, "it ends within", "Close every BEGIN by its END; the file may have been cut."},
    {NULL, "not a value of the property's type",
     "Write dates as 20260131 or 20260131T090000Z, durations as PT1H30M."},
    {"vcard", "EMAIL", "Write an address such as ada@example.org."},
    {"vcard", "GEO", "Write latitude and longitude as 48.2;16.4 or geo:48.2,16.4."},
    {"csv", "cells, but the table has",
     "Give each line as many cells as the first; put cells with separators into quotation marks."},
    {"csv", "a quote that begins here", "End the quoted cell; write \"\" for a \" inside of it."},
    {"csv", "names no columns", "Write the names of the columns into the first line."},
    {"csv", "no table:", "Part all lines into the same number of cells."},

    /* images, recordings, PDF */
    {NULL, "not those of a known", "Serve the file with the type that it has."},
    {NULL, "cut", "Put the file on the server again; its end is missing or damaged."},
    {"pdf", "PDF", "Make the PDF anew; readers repair what is wrong, programs may not."},

    /* headers, other documents */
    {"links", "Link header", "Write Link: <URL>; rel=\"name\"."},
    {"grddl", "cannot be had", "Serve the stylesheet at its address, or take the link to it away."},
    {"grddl", "is not at hand", "Serve the stylesheet at its address."},
    {"grddl", "not allowed to run",
     "Stylesheets run only when the crawl's operator allows them; "
     "JSON-LD, RDFa or microdata need no permission."},
};

const struct report_advice *
report_advice_at(size_t index)
{
    return index < sizeof entries / sizeof *entries ? &entries[index] : NULL;
}

const struct report_advice *
report_advice_find(struct slice where, struct slice text)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const struct slice pattern = slice_string(entries[i].pattern);
        const bool here = entries[i].where == NULL || slice_is(where, entries[i].where);
        if (here && (pattern.length == 0 || slice_find_slice(text, pattern) < text.length)) {
            return &entries[i];
        }
    }
    return NULL;
}
