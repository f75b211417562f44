/* Functions on terms and digests: sections 17.4.2 and 17.4.6. */
#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <stdio.h>

#include "base/url/url.h"
#include "index/query/functions/functions.h"
#include "rdf/core/lexical.h"
#include "rdf/core/vocabulary.h"

bool
apply_str(struct evaluation *evaluation, const struct value *arguments, size_t count,
          struct value *out)
{
    struct term term;
    (void)count;
    if (arguments[0].kind == VALUE_BLANK ||
        !value_term(&arguments[0], &evaluation->scratch, &term)) {
        return false;
    }
    *out = value_string(term.value);
    return true;
}

/* The datatype of a variable's value, as its identifier says it. */
static bool
said_datatype(const struct evaluation *evaluation, const struct expression *argument,
              const oid *row, struct slice *iri)
{
    const struct quad_source *source = evaluation->dictionary->source;
    return argument->kind == EXPRESSION_VARIABLE && source->datatype &&
           oid_is_of_source(row[argument->number]) && source->datatype(row[argument->number], iri);
}

bool
form_lang(struct evaluation *evaluation, const struct expression *call, const oid *row,
          struct value *out)
{
    struct value value;
    struct slice datatype;
    if (said_datatype(evaluation, call->arguments[0], row, &datatype) &&
        !slice_is(datatype, RDF_LANG_STRING)) {
        *out = value_string(SLICE(""));
        return true;
    }
    if (!expression_value(evaluation, call->arguments[0], row, &value)) {
        return false;
    }
    *out = value_string(value.kind == VALUE_LANGUAGE ? value.term.language : SLICE(""));
    return value.kind > VALUE_IRI;
}

bool
apply_lang_matches(struct evaluation *evaluation, const struct value *arguments, size_t count,
                   struct value *out)
{
    (void)evaluation, (void)count;
    if (arguments[0].kind != VALUE_STRING || arguments[1].kind != VALUE_STRING) {
        return false;
    }
    const struct slice tag = arguments[0].term.value, range = arguments[1].term.value;
    bool matches = tag.length > 0;
    if (!slice_is(range, "*")) {
        matches = tag.length >= range.length &&
                  slice_equal_nocase(slice_of(tag.at, range.length), range) &&
                  (tag.length == range.length || tag.at[range.length] == '-') && range.length;
    }
    *out = value_boolean(matches);
    return true;
}

static struct value
value_iri(struct slice iri)
{
    return (struct value){.kind = VALUE_IRI, .has_term = true, .term = term_iri(iri)};
}

bool
form_datatype(struct evaluation *evaluation, const struct expression *call, const oid *row,
              struct value *out)
{
    struct value value;
    struct slice datatype;
    if (said_datatype(evaluation, call->arguments[0], row, &datatype)) {
        *out = value_iri(datatype);
        return true;
    }
    if (!expression_value(evaluation, call->arguments[0], row, &value)) {
        return false;
    }
    *out = value_iri(value_datatype(&value));
    return value.kind > VALUE_IRI;
}

bool
apply_iri(struct evaluation *evaluation, const struct value *arguments, size_t count,
          struct value *out)
{
    (void)count;
    if (arguments[0].kind != VALUE_IRI && arguments[0].kind != VALUE_STRING) {
        return false;
    }
    struct slice iri = arguments[0].term.value;
    if (arguments[0].kind == VALUE_STRING && !lexical_has_scheme(iri) &&
        evaluation->query->base.length) {
        struct buf buf;
        buf_init(&buf, QUERY_TEXT_MAXIMUM);
        if (iri_resolve(evaluation->query->base, iri, &buf, NULL) == STATUS_OK) {
            iri = arena_copy(&evaluation->scratch, buf_slice(&buf));
        }
        buf_release(&buf);
    }
    for (size_t i = 0; i < iri.length; i++) {
        if (lexical_is(iri.at[i], LEXICAL_IRI_STOP)) {
            return false;
        }
    }
    *out = value_iri(iri);
    return iri.at != NULL;
}

/* Returns the blank node's number: the same label within one solution is the same blank node. */
static bool
blank_number(struct evaluation *evaluation, struct slice label, uint64_t *number)
{
    for (size_t i = 0; i < evaluation->label_count; i++) {
        if (slice_equal(evaluation->labels[i].label, label)) {
            *number = evaluation->labels[i].number;
            return true;
        }
    }
    if (evaluation->label_count == BLANK_LABELS) {
        return false;
    }
    label = arena_copy(&evaluation->scratch, label);
    *number = evaluation->blanks++;
    evaluation->labels[evaluation->label_count].label = label;
    evaluation->labels[evaluation->label_count++].number = *number;
    return label.at != NULL;
}

bool
apply_bnode(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    uint64_t number;
    if (count == 0) {
        number = evaluation->blanks++;
    } else if (arguments[0].kind != VALUE_STRING ||
               !blank_number(evaluation, arguments[0].term.value, &number)) {
        return false;
    }
    const struct slice label =
        arena_printf(&evaluation->scratch, "query%llu", (unsigned long long)number);
    *out = (struct value){.kind = VALUE_BLANK, .has_term = true, .term = term_blank(label)};
    return label.at != NULL;
}

bool
apply_same_term(struct evaluation *evaluation, const struct value *arguments, size_t count,
                struct value *out)
{
    struct term a, b;
    (void)count;
    if (!value_term(&arguments[0], &evaluation->scratch, &a) ||
        !value_term(&arguments[1], &evaluation->scratch, &b)) {
        return false;
    }
    *out = value_boolean(term_equal(&a, &b));
    return true;
}

/* What the argument is; the source may tell a variable's from the identifier alone, which takes no
 * look at the term. False: an error. */
static bool
term_kind_of(struct evaluation *evaluation, const struct expression *argument, const oid *row,
             enum term_kind *kind)
{
    const struct quad_source *source = evaluation->dictionary->source;
    struct value value;
    if (argument->kind == EXPRESSION_VARIABLE && source->kind &&
        oid_is_of_source(row[argument->number])) {
        *kind = source->kind(row[argument->number]);
        return true;
    }
    if (!expression_value(evaluation, argument, row, &value)) {
        return false;
    }
    *kind = value.kind == VALUE_IRI     ? TERM_IRI
            : value.kind == VALUE_BLANK ? TERM_BLANK
                                        : TERM_LITERAL;
    return true;
}

static bool
is_of_kind(struct evaluation *evaluation, const struct expression *call, const oid *row,
           enum term_kind wanted, struct value *out)
{
    enum term_kind kind = TERM_NONE;
    const bool known = term_kind_of(evaluation, call->arguments[0], row, &kind);
    *out = value_boolean(kind == wanted);
    return known;
}

bool
form_is_iri(struct evaluation *evaluation, const struct expression *call, const oid *row,
            struct value *out)
{
    return is_of_kind(evaluation, call, row, TERM_IRI, out);
}

bool
form_is_blank(struct evaluation *evaluation, const struct expression *call, const oid *row,
              struct value *out)
{
    return is_of_kind(evaluation, call, row, TERM_BLANK, out);
}

bool
form_is_literal(struct evaluation *evaluation, const struct expression *call, const oid *row,
                struct value *out)
{
    return is_of_kind(evaluation, call, row, TERM_LITERAL, out);
}

bool
apply_is_numeric(struct evaluation *evaluation, const struct value *arguments, size_t count,
                 struct value *out)
{
    (void)evaluation, (void)count;
    *out = value_boolean(value_is_number(&arguments[0]));
    return true;
}

bool
apply_strlang(struct evaluation *evaluation, const struct value *arguments, size_t count,
              struct value *out)
{
    (void)count;
    if (arguments[0].kind != VALUE_STRING || arguments[1].kind != VALUE_STRING ||
        !lexical_language_valid(arguments[1].term.value)) {
        return false;
    }
    const struct slice tag = arguments[1].term.value;
    char *lower = arena_alloc(&evaluation->scratch, tag.length + 1);
    if (!lower) {
        return false;
    }
    lexical_lower(tag, lower);
    *out = value_string(arguments[0].term.value);
    out->kind = VALUE_LANGUAGE;
    out->term.language = slice_of(lower, tag.length);
    return true;
}

bool
apply_strdt(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    (void)evaluation, (void)count;
    if (arguments[0].kind != VALUE_STRING || arguments[1].kind != VALUE_IRI) {
        return false;
    }
    struct term term = term_literal(arguments[0].term.value);
    if (!slice_is(arguments[1].term.value, XSD "string")) {
        term.datatype = arguments[1].term.value;
    }
    value_of_term(&term, out);
    return true;
}

/* ---- random names ---- */

/* xorshift128+, see Vigna, "Further scramblings of Marsaglia's xorshift generators". */
static uint64_t
random_bits(struct evaluation *evaluation)
{
    uint64_t a = evaluation->random[0];
    const uint64_t b = evaluation->random[1];
    evaluation->random[0] = b;
    a ^= a << 23;
    evaluation->random[1] = a ^ b ^ (a >> 18) ^ (b >> 5);
    return evaluation->random[1] + b;
}

bool
apply_rand(struct evaluation *evaluation, const struct value *arguments, size_t count,
           struct value *out)
{
    (void)arguments, (void)count;
    *out = value_double((double)(random_bits(evaluation) >> 11) * 0x1p-53);
    return true;
}

/* RFC 9562 version 4. */
static struct slice
uuid(struct evaluation *evaluation, const char *prefix)
{
    const uint64_t a = (random_bits(evaluation) & ~UINT64_C(0xF000)) | 0x4000;
    const uint64_t b = random_bits(evaluation) >> 2 | UINT64_C(1) << 63;
    return arena_printf(&evaluation->scratch, "%s%08x-%04x-%04x-%04x-%012llx", prefix,
                        (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xFFFF), (unsigned)(a & 0xFFFF),
                        (unsigned)(b >> 48), (unsigned long long)(b & 0xFFFFFFFFFFFF));
}

bool
apply_uuid(struct evaluation *evaluation, const struct value *arguments, size_t count,
           struct value *out)
{
    (void)arguments, (void)count;
    const struct slice name = uuid(evaluation, "urn:uuid:");
    *out = value_iri(name);
    return name.at != NULL;
}

bool
apply_struuid(struct evaluation *evaluation, const struct value *arguments, size_t count,
              struct value *out)
{
    (void)arguments, (void)count;
    const struct slice name = uuid(evaluation, "");
    *out = value_string(name);
    return name.at != NULL;
}

/* ---- digests ---- */

static bool
hexadecimal(struct evaluation *evaluation, const uint8_t *digest, size_t size, struct value *out)
{
    char text[2 * SHA512_DIGEST_SIZE + 1];
    for (size_t i = 0; i < size; i++) {
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    }
    return evaluation_text(evaluation, slice_of(text, 2 * size), out);
}

/* One function a digest: they differ in names and sizes only. */
#define DIGEST_FUNCTION(name, SIZE)                                                               \
    bool apply_##name(struct evaluation *evaluation, const struct value *arguments, size_t count, \
                      struct value *out)                                                          \
    {                                                                                             \
        struct name##_ctx context;                                                                \
        uint8_t digest[SIZE];                                                                     \
        (void)count;                                                                              \
        if (arguments[0].kind != VALUE_STRING) {                                                  \
            return false;                                                                         \
        }                                                                                         \
        name##_init(&context);                                                                    \
        name##_update(&context, arguments[0].term.value.length,                                   \
                      (const uint8_t *)arguments[0].term.value.at);                               \
        name##_digest(&context, SIZE, digest);                                                    \
        return hexadecimal(evaluation, digest, SIZE, out);                                        \
    }

DIGEST_FUNCTION(md5, MD5_DIGEST_SIZE)
DIGEST_FUNCTION(sha1, SHA1_DIGEST_SIZE)
DIGEST_FUNCTION(sha256, SHA256_DIGEST_SIZE)
DIGEST_FUNCTION(sha384, SHA384_DIGEST_SIZE)
DIGEST_FUNCTION(sha512, SHA512_DIGEST_SIZE)
