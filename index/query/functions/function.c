#include "index/query/functions/functions.h"

static const struct function functions[] = {
    {"||", 2, FUNCTION_ANY, false, false, NULL, form_or, NULL},
    {"&&", 2, FUNCTION_ANY, false, false, NULL, form_and, NULL},
    {"!", 1, 1, false, false, apply_not, NULL, NULL},
    {"=", 2, 2, false, true, apply_equal, NULL, NULL},
    {"!=", 2, 2, false, true, apply_different, NULL, NULL},
    {"<", 2, 2, false, true, apply_less, NULL, NULL},
    {">", 2, 2, false, true, apply_greater, NULL, NULL},
    {"<=", 2, 2, false, true, apply_less_equal, NULL, NULL},
    {">=", 2, 2, false, true, apply_greater_equal, NULL, NULL},
    {"+", 2, 2, false, true, apply_add, NULL, NULL},
    {"-", 2, 2, false, true, apply_subtract, NULL, NULL},
    {"*", 2, 2, false, true, apply_multiply, NULL, NULL},
    {"/", 2, 2, false, true, apply_divide, NULL, NULL},
    {"unary -", 1, 1, false, true, apply_minus, NULL, NULL},
    {"unary +", 1, 1, false, false, apply_plus, NULL, NULL},
    {"in list", 1, FUNCTION_ANY, false, false, NULL, form_in, NULL},
    {"not in list", 1, FUNCTION_ANY, false, false, NULL, form_not_in, NULL},
    {"unknown function", 0, FUNCTION_ANY, false, false, NULL, form_unknown, NULL},
    {"STR", 1, 1, false, false, apply_str, NULL, NULL},
    {"LANG", 1, 1, false, false, apply_lang, NULL, NULL},
    {"LANGMATCHES", 2, 2, false, false, apply_lang_matches, NULL, NULL},
    {"DATATYPE", 1, 1, false, false, apply_datatype, NULL, NULL},
    {"BOUND", 1, 1, false, false, NULL, form_bound, NULL},
    {"IRI", 1, 1, false, false, apply_iri, NULL, NULL},
    {"URI", 1, 1, false, false, apply_iri, NULL, NULL},
    {"BNODE", 0, 1, true, false, apply_bnode, NULL, NULL},
    {"RAND", 0, 0, true, false, apply_rand, NULL, NULL},
    {"ABS", 1, 1, false, true, apply_abs, NULL, NULL},
    {"CEIL", 1, 1, false, true, apply_ceil, NULL, NULL},
    {"FLOOR", 1, 1, false, true, apply_floor, NULL, NULL},
    {"ROUND", 1, 1, false, true, apply_round, NULL, NULL},
    {"CONCAT", 0, FUNCTION_ANY, false, false, apply_concat, NULL, NULL},
    {"STRLEN", 1, 1, false, false, apply_strlen, NULL, NULL},
    {"UCASE", 1, 1, false, false, apply_ucase, NULL, NULL},
    {"LCASE", 1, 1, false, false, apply_lcase, NULL, NULL},
    {"ENCODE_FOR_URI", 1, 1, false, false, apply_encode_for_uri, NULL, NULL},
    {"CONTAINS", 2, 2, false, false, apply_contains, NULL, NULL},
    {"STRSTARTS", 2, 2, false, false, apply_strstarts, NULL, NULL},
    {"STRENDS", 2, 2, false, false, apply_strends, NULL, NULL},
    {"STRBEFORE", 2, 2, false, false, apply_strbefore, NULL, NULL},
    {"STRAFTER", 2, 2, false, false, apply_strafter, NULL, NULL},
    {"YEAR", 1, 1, false, true, apply_year, NULL, NULL},
    {"MONTH", 1, 1, false, true, apply_month, NULL, NULL},
    {"DAY", 1, 1, false, true, apply_day, NULL, NULL},
    {"HOURS", 1, 1, false, true, apply_hours, NULL, NULL},
    {"MINUTES", 1, 1, false, true, apply_minutes, NULL, NULL},
    {"SECONDS", 1, 1, false, true, apply_seconds, NULL, NULL},
    {"TIMEZONE", 1, 1, false, true, apply_timezone, NULL, NULL},
    {"TZ", 1, 1, false, false, apply_tz, NULL, NULL},
    {"NOW", 0, 0, false, false, apply_now, NULL, NULL},
    {"UUID", 0, 0, true, false, apply_uuid, NULL, NULL},
    {"STRUUID", 0, 0, true, false, apply_struuid, NULL, NULL},
    {"MD5", 1, 1, false, false, apply_md5, NULL, NULL},
    {"SHA1", 1, 1, false, false, apply_sha1, NULL, NULL},
    {"SHA256", 1, 1, false, false, apply_sha256, NULL, NULL},
    {"SHA384", 1, 1, false, false, apply_sha384, NULL, NULL},
    {"SHA512", 1, 1, false, false, apply_sha512, NULL, NULL},
    {"COALESCE", 0, FUNCTION_ANY, false, false, NULL, form_coalesce, id_coalesce},
    {"IF", 3, 3, false, false, NULL, form_if, id_if},
    {"STRLANG", 2, 2, false, false, apply_strlang, NULL, NULL},
    {"STRDT", 2, 2, false, false, apply_strdt, NULL, NULL},
    {"SAMETERM", 2, 2, false, false, apply_same_term, NULL, NULL},
    {"ISIRI", 1, 1, false, false, NULL, form_is_iri, NULL},
    {"ISURI", 1, 1, false, false, NULL, form_is_iri, NULL},
    {"ISBLANK", 1, 1, false, false, NULL, form_is_blank, NULL},
    {"ISLITERAL", 1, 1, false, false, NULL, form_is_literal, NULL},
    {"ISNUMERIC", 1, 1, false, false, apply_is_numeric, NULL, NULL},
    {"REGEX", 2, 3, false, false, apply_regex, NULL, NULL},
    {"SUBSTR", 2, 3, false, false, apply_substr, NULL, NULL},
    {"REPLACE", 3, 4, false, false, apply_replace, NULL, NULL},
};

static const struct function casts[] = {
    {XSD "boolean", 1, 1, false, false, apply_to_boolean, NULL, NULL},
    {XSD "double", 1, 1, false, false, apply_to_double, NULL, NULL},
    {XSD "float", 1, 1, false, false, apply_to_float, NULL, NULL},
    {XSD "decimal", 1, 1, false, false, apply_to_decimal, NULL, NULL},
    {XSD "integer", 1, 1, false, false, apply_to_integer, NULL, NULL},
    {XSD "dateTime", 1, 1, false, false, apply_to_date_time, NULL, NULL},
    {XSD "date", 1, 1, false, false, apply_to_date, NULL, NULL},
    {XSD "time", 1, 1, false, false, apply_to_time, NULL, NULL},
    {XSD "string", 1, 1, false, false, apply_to_string, NULL, NULL},
};

const struct function *
function_find(struct slice name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (slice_equal_nocase(name, slice_string(functions[i].name))) {
            return &functions[i];
        }
    }
    return NULL;
}

const struct function *
function_find_iri(struct slice iri)
{
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++) {
        if (slice_is(iri, casts[i].name)) {
            return &casts[i];
        }
    }
    return NULL;
}
