#include "cli/import/node_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"

enum { FINGERPRINT_DIGITS = 16, HASH_DIGITS = 32 };

/* Cuts n hexadecimal digits off. */
static bool
take_hexadecimal(struct slice *label, size_t n)
{
    if (label->length < n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const char c = label->at[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
    }
    *label = slice_of(label->at + n, label->length - n);
    return true;
}

/* Cuts off the letter and one digit or more. */
static bool
take_number(struct slice *label, char letter)
{
    size_t n = 1;
    if (label->length < 2 || label->at[0] != letter) {
        return false;
    }
    while (n < label->length && label->at[n] >= '0' && label->at[n] <= '9') {
        n++;
    }
    *label = slice_of(label->at + n, label->length - n);
    return n > 1;
}

/* d<fingerprint of the graph>n<number>, or p for n: rdf/canonical/canonical.h. */
static bool
is_of_document(struct slice label, struct slice graph)
{
    char own[FINGERPRINT_DIGITS + 1];
    const struct slice digits = label;
    if (!take_hexadecimal(&label, FINGERPRINT_DIGITS) || label.length < 2) {
        return false;
    }
    snprintf(own, sizeof own, "%016" PRIx64, fingerprint64(graph));
    return memcmp(own, digits.at, FINGERPRINT_DIGITS) == 0 &&
           take_number(&label, label.at[0] == 'p' ? 'p' : 'n') && label.length == 0;
}

/* h<hash of the component>n<number>, further copies of it h<hash>x<copy>n<number>. */
static bool
is_of_component(struct slice label)
{
    return take_hexadecimal(&label, HASH_DIGITS) &&
           (label.length == 0 || label.at[0] != 'x' || take_number(&label, 'x')) &&
           take_number(&label, 'n') && label.length == 0;
}

/* u<random>o<operation>x<solution>x<place>: index/query/run/update_run.c. */
static bool
is_of_update(struct slice label)
{
    return take_hexadecimal(&label, FINGERPRINT_DIGITS) && take_number(&label, 'o') &&
           take_number(&label, 'x') && take_number(&label, 'x') && label.length == 0;
}

/* f<fingerprint of a file>n<label in it>. */
static bool
is_of_file(struct slice label)
{
    return take_hexadecimal(&label, FINGERPRINT_DIGITS) && label.length > 1 && label.at[0] == 'n';
}

bool
node_name_is_given(struct slice label, struct slice graph)
{
    const struct slice rest = label.length > 0 ? slice_of(label.at + 1, label.length - 1) : label;
    switch (label.length > 0 ? label.at[0] : '\0') {
    case 'd':
        return is_of_document(rest, graph);
    case 'h':
        return is_of_component(rest);
    case 'u':
        return is_of_update(rest);
    case 'f':
        return is_of_file(rest);
    default:
        return false;
    }
}
