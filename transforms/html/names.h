/* Element names of HTML with what the parser must know of each.
 * Source: https://html.spec.whatwg.org/#parsing. The table drives names and rules alike. */
#ifndef TRANSFORMS_HTML_NAMES_H
#define TRANSFORMS_HTML_NAMES_H

#include <stdint.h>

#include "base/slice.h"

enum html_rule {
    RULE_VOID = 1 << 0,       /* has no content and no end tag */
    RULE_RAW = 1 << 1,        /* content is text up to its own end tag, no references */
    RULE_RCDATA = 1 << 2,     /* the same with references */
    RULE_CLOSES_P = 1 << 3,   /* its start tag ends an open paragraph */
    RULE_FORMATTING = 1 << 4, /* is reconstructed after misnesting */
    RULE_SPECIAL = 1 << 5,    /* "special" category */
    RULE_SCOPE = 1 << 6,      /* bounds the search for an open element */
    RULE_IMPLIED = 1 << 7,    /* end tag may be left out */
    RULE_HEADING = 1 << 8,
    RULE_HEAD = 1 << 9,      /* belongs to the head when no body has begun */
    RULE_MARKER = 1 << 10,   /* ends the reach of formatting outside it */
    RULE_BREAKOUT = 1 << 11, /* ends SVG and MathML */
    RULE_BLOCK_END = 1 << 12 /* its end tag closes what is open inside */
};

#define RULES_BLOCK (RULE_CLOSES_P | RULE_SPECIAL | RULE_BLOCK_END)

/* NAME, "name", rules */
#define HTML_ELEMENT_MAP(X)                                                                       \
    X(A, "a", RULE_FORMATTING)                                                                    \
    X(ADDRESS, "address", RULES_BLOCK)                                                            \
    X(APPLET, "applet", RULE_SPECIAL | RULE_SCOPE | RULE_MARKER | RULE_BLOCK_END)                 \
    X(AREA, "area", RULE_VOID | RULE_SPECIAL)                                                     \
    X(ARTICLE, "article", RULES_BLOCK)                                                            \
    X(ASIDE, "aside", RULES_BLOCK)                                                                \
    X(AUDIO, "audio", 0)                                                                          \
    X(B, "b", RULE_FORMATTING | RULE_BREAKOUT)                                                    \
    X(BASE, "base", RULE_VOID | RULE_SPECIAL | RULE_HEAD)                                         \
    X(BASEFONT, "basefont", RULE_VOID | RULE_SPECIAL | RULE_HEAD)                                 \
    X(BGSOUND, "bgsound", RULE_VOID | RULE_SPECIAL | RULE_HEAD)                                   \
    X(BIG, "big", RULE_FORMATTING | RULE_BREAKOUT)                                                \
    X(BLOCKQUOTE, "blockquote", RULES_BLOCK | RULE_BREAKOUT)                                      \
    X(BODY, "body", RULE_SPECIAL | RULE_BREAKOUT)                                                 \
    X(BR, "br", RULE_VOID | RULE_SPECIAL | RULE_BREAKOUT)                                         \
    X(BUTTON, "button", RULE_SPECIAL | RULE_BLOCK_END)                                            \
    X(CAPTION, "caption", RULE_SPECIAL | RULE_SCOPE | RULE_MARKER)                                \
    X(CENTER, "center", RULES_BLOCK | RULE_BREAKOUT)                                              \
    X(CODE, "code", RULE_FORMATTING | RULE_BREAKOUT)                                              \
    X(COL, "col", RULE_VOID | RULE_SPECIAL)                                                       \
    X(COLGROUP, "colgroup", RULE_SPECIAL)                                                         \
    X(DATA, "data", 0)                                                                            \
    X(DD, "dd", RULE_CLOSES_P | RULE_SPECIAL | RULE_IMPLIED | RULE_BREAKOUT | RULE_BLOCK_END)     \
    X(DETAILS, "details", RULES_BLOCK)                                                            \
    X(DIALOG, "dialog", RULE_CLOSES_P | RULE_BLOCK_END)                                           \
    X(DIR, "dir", RULES_BLOCK)                                                                    \
    X(DIV, "div", RULES_BLOCK | RULE_BREAKOUT)                                                    \
    X(DL, "dl", RULES_BLOCK | RULE_BREAKOUT)                                                      \
    X(DT, "dt", RULE_CLOSES_P | RULE_SPECIAL | RULE_IMPLIED | RULE_BREAKOUT | RULE_BLOCK_END)     \
    X(EM, "em", RULE_FORMATTING | RULE_BREAKOUT)                                                  \
    X(EMBED, "embed", RULE_VOID | RULE_SPECIAL | RULE_BREAKOUT)                                   \
    X(FIELDSET, "fieldset", RULES_BLOCK)                                                          \
    X(FIGCAPTION, "figcaption", RULES_BLOCK)                                                      \
    X(FIGURE, "figure", RULES_BLOCK)                                                              \
    X(FONT, "font", RULE_FORMATTING)                                                              \
    X(FOOTER, "footer", RULES_BLOCK)                                                              \
    X(FORM, "form", RULE_CLOSES_P | RULE_SPECIAL | RULE_BLOCK_END)                                \
    X(FRAME, "frame", RULE_VOID | RULE_SPECIAL)                                                   \
    X(FRAMESET, "frameset", RULE_SPECIAL)                                                         \
    X(H1, "h1", RULE_CLOSES_P | RULE_SPECIAL | RULE_HEADING | RULE_BREAKOUT)                      \
    X(H2, "h2", RULE_CLOSES_P | RULE_SPECIAL | RULE_HEADING | RULE_BREAKOUT)                      \
    X(H3, "h3", RULE_CLOSES_P | RULE_SPECIAL | RULE_HEADING | RULE_BREAKOUT)                      \
    X(H4, "h4", RULE_CLOSES_P | RULE_SPECIAL | RULE_HEADING | RULE_BREAKOUT)                      \
    X(H5, "h5", RULE_CLOSES_P | RULE_SPECIAL | RULE_HEADING | RULE_BREAKOUT)                      \
    X(H6, "h6", RULE_CLOSES_P | RULE_SPECIAL | RULE_HEADING | RULE_BREAKOUT)                      \
    X(HEAD, "head", RULE_SPECIAL | RULE_BREAKOUT)                                                 \
    X(HEADER, "header", RULES_BLOCK)                                                              \
    X(HGROUP, "hgroup", RULES_BLOCK)                                                              \
    X(HR, "hr", RULE_VOID | RULE_CLOSES_P | RULE_SPECIAL | RULE_BREAKOUT)                         \
    X(HTML, "html", RULE_SPECIAL | RULE_SCOPE)                                                    \
    X(I, "i", RULE_FORMATTING | RULE_BREAKOUT)                                                    \
    X(IFRAME, "iframe", RULE_RAW | RULE_SPECIAL)                                                  \
    X(IMG, "img", RULE_VOID | RULE_SPECIAL | RULE_BREAKOUT)                                       \
    X(INPUT, "input", RULE_VOID | RULE_SPECIAL)                                                   \
    X(KEYGEN, "keygen", RULE_VOID | RULE_SPECIAL)                                                 \
    X(LI, "li", RULE_CLOSES_P | RULE_SPECIAL | RULE_IMPLIED | RULE_BREAKOUT | RULE_BLOCK_END)     \
    X(LINK, "link", RULE_VOID | RULE_SPECIAL | RULE_HEAD)                                         \
    X(LISTING, "listing", RULES_BLOCK | RULE_BREAKOUT)                                            \
    X(MAIN, "main", RULES_BLOCK)                                                                  \
    X(MARQUEE, "marquee", RULE_SPECIAL | RULE_SCOPE | RULE_MARKER | RULE_BLOCK_END)               \
    X(MATH, "math", 0)                                                                            \
    X(MENU, "menu", RULES_BLOCK | RULE_BREAKOUT)                                                  \
    X(META, "meta", RULE_VOID | RULE_SPECIAL | RULE_HEAD | RULE_BREAKOUT)                         \
    X(NAV, "nav", RULES_BLOCK)                                                                    \
    X(NOBR, "nobr", RULE_FORMATTING | RULE_BREAKOUT)                                              \
    X(NOEMBED, "noembed", RULE_RAW | RULE_SPECIAL)                                                \
    X(NOFRAMES, "noframes", RULE_RAW | RULE_SPECIAL | RULE_HEAD)                                  \
    X(NOSCRIPT, "noscript", RULE_SPECIAL)                                                         \
    X(OBJECT, "object", RULE_SPECIAL | RULE_SCOPE | RULE_MARKER | RULE_BLOCK_END)                 \
    X(OL, "ol", RULES_BLOCK | RULE_BREAKOUT)                                                      \
    X(OPTGROUP, "optgroup", RULE_IMPLIED)                                                         \
    X(OPTION, "option", RULE_IMPLIED)                                                             \
    X(P, "p", RULE_CLOSES_P | RULE_SPECIAL | RULE_IMPLIED | RULE_BREAKOUT | RULE_BLOCK_END)       \
    X(PARAM, "param", RULE_VOID | RULE_SPECIAL)                                                   \
    X(PLAINTEXT, "plaintext", RULE_CLOSES_P | RULE_SPECIAL)                                       \
    X(PRE, "pre", RULES_BLOCK | RULE_BREAKOUT)                                                    \
    X(RB, "rb", RULE_IMPLIED)                                                                     \
    X(RP, "rp", RULE_IMPLIED)                                                                     \
    X(RT, "rt", RULE_IMPLIED)                                                                     \
    X(RTC, "rtc", RULE_IMPLIED)                                                                   \
    X(RUBY, "ruby", RULE_BREAKOUT)                                                                \
    X(S, "s", RULE_FORMATTING | RULE_BREAKOUT)                                                    \
    X(SCRIPT, "script", RULE_RAW | RULE_SPECIAL | RULE_HEAD)                                      \
    X(SEARCH, "search", RULES_BLOCK)                                                              \
    X(SECTION, "section", RULES_BLOCK)                                                            \
    X(SELECT, "select", RULE_SPECIAL | RULE_SCOPE | RULE_BLOCK_END)                               \
    X(SMALL, "small", RULE_FORMATTING | RULE_BREAKOUT)                                            \
    X(SOURCE, "source", RULE_VOID | RULE_SPECIAL)                                                 \
    X(SPAN, "span", RULE_BREAKOUT)                                                                \
    X(STRIKE, "strike", RULE_FORMATTING | RULE_BREAKOUT)                                          \
    X(STRONG, "strong", RULE_FORMATTING | RULE_BREAKOUT)                                          \
    X(STYLE, "style", RULE_RAW | RULE_SPECIAL | RULE_HEAD)                                        \
    X(SUB, "sub", RULE_BREAKOUT)                                                                  \
    X(SUMMARY, "summary", RULES_BLOCK)                                                            \
    X(SUP, "sup", RULE_BREAKOUT)                                                                  \
    X(SVG, "svg", 0)                                                                              \
    X(TABLE, "table", RULE_SPECIAL | RULE_SCOPE | RULE_BREAKOUT)                                  \
    X(TBODY, "tbody", RULE_SPECIAL)                                                               \
    X(TD, "td", RULE_SPECIAL | RULE_SCOPE | RULE_MARKER)                                          \
    X(TEMPLATE, "template", RULE_SPECIAL | RULE_SCOPE | RULE_MARKER | RULE_HEAD | RULE_BLOCK_END) \
    X(TEXTAREA, "textarea", RULE_RCDATA | RULE_SPECIAL)                                           \
    X(TFOOT, "tfoot", RULE_SPECIAL)                                                               \
    X(TH, "th", RULE_SPECIAL | RULE_SCOPE | RULE_MARKER)                                          \
    X(THEAD, "thead", RULE_SPECIAL)                                                               \
    X(TIME, "time", 0)                                                                            \
    X(TITLE, "title", RULE_RCDATA | RULE_SPECIAL | RULE_HEAD)                                     \
    X(TR, "tr", RULE_SPECIAL)                                                                     \
    X(TRACK, "track", RULE_VOID | RULE_SPECIAL)                                                   \
    X(TT, "tt", RULE_FORMATTING | RULE_BREAKOUT)                                                  \
    X(U, "u", RULE_FORMATTING | RULE_BREAKOUT)                                                    \
    X(UL, "ul", RULES_BLOCK | RULE_BREAKOUT)                                                      \
    X(VAR, "var", RULE_BREAKOUT)                                                                  \
    X(VIDEO, "video", 0)                                                                          \
    X(WBR, "wbr", RULE_VOID | RULE_SPECIAL)                                                       \
    X(XMP, "xmp", RULE_RAW | RULE_CLOSES_P | RULE_SPECIAL)

enum html_element {
    HTML_UNKNOWN = 0,
#define X(name, text, rules) HTML_##name,
    HTML_ELEMENT_MAP(X)
#undef X
        HTML_ELEMENT_COUNT
};

enum { HTML_NAME_MAXIMUM = 10 }; /* longest name of the table */

const char *html_element_name(enum html_element element); /* NULL for UNKNOWN */
uint32_t html_element_rules(enum html_element element);

/* name: any letter case. HTML_UNKNOWN for what the table has not. */
enum html_element html_element_of(struct slice name);

#endif
