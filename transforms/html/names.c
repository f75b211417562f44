#include "transforms/html/names.h"

#include "base/ascii.h"

#include <stddef.h>

#define NAME_TEXT(name, text, rules) [HTML_##name] = text,
#define NAME_RULES(name, text, rules) [HTML_##name] = (rules),

static const char *const names[HTML_ELEMENT_COUNT] = {HTML_ELEMENT_MAP(NAME_TEXT)};
static const uint32_t rules_of[HTML_ELEMENT_COUNT] = {HTML_ELEMENT_MAP(NAME_RULES)};

const char *
html_element_name(enum html_element element)
{
    return names[element];
}

uint32_t
html_element_rules(enum html_element element)
{
    return rules_of[element];
}

/* Names are sorted, so those with one first letter are neighbours: first_of['a' + n] is where
 * they begin. Filled by the compiler from the same table. */
#define FIRST(letter, element) [letter - 'a'] = HTML_##element
static const uint8_t first_of[27] = {FIRST('a', A),
                                     FIRST('b', B),
                                     FIRST('c', CAPTION),
                                     FIRST('d', DATA),
                                     FIRST('e', EM),
                                     FIRST('f', FIELDSET),
                                     FIRST('g', H1),
                                     FIRST('h', H1),
                                     FIRST('i', I),
                                     FIRST('j', KEYGEN),
                                     FIRST('k', KEYGEN),
                                     FIRST('l', LI),
                                     FIRST('m', MAIN),
                                     FIRST('n', NAV),
                                     FIRST('o', OBJECT),
                                     FIRST('p', P),
                                     FIRST('q', RB),
                                     FIRST('r', RB),
                                     FIRST('s', S),
                                     FIRST('t', TABLE),
                                     FIRST('u', U),
                                     FIRST('v', VAR),
                                     FIRST('w', WBR),
                                     FIRST('x', XMP),
                                     FIRST('y', ELEMENT_COUNT),
                                     FIRST('z', ELEMENT_COUNT),
                                     [26] = HTML_ELEMENT_COUNT};
#undef FIRST

enum html_element
html_element_of(struct slice name)
{
    if (name.length == 0 || name.length > HTML_NAME_MAXIMUM) {
        return HTML_UNKNOWN;
    }
    const unsigned letter = (unsigned)(ascii_lower(name.at[0]) - 'a');
    if (letter >= 26) {
        return HTML_UNKNOWN;
    }
    for (unsigned i = first_of[letter]; i < first_of[letter + 1]; i++) {
        const char *known = names[i];
        size_t n = 1;
        while (n < name.length && known[n] != 0 && known[n] == ascii_lower(name.at[n])) {
            n++;
        }
        if (n == name.length && known[n] == 0) {
            return (enum html_element)i;
        }
    }
    return HTML_UNKNOWN;
}
