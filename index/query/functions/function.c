#include "index/query/functions/functions.h"

static const struct function functions[] = {
    {"||", 2, FUNCTION_ANY, false, NULL, form_or},
    {"&&", 2, FUNCTION_ANY, false, NULL, form_and},
    {"!", 1, 1, false, apply_not, NULL},
    {"=", 2, 2, false, apply_equal, NULL},
    {"!=", 2, 2, false, apply_different, NULL},
    {"<", 2, 2, false, apply_less, NULL},
    {">", 2, 2, false, apply_greater, NULL},
    {"<=", 2, 2, false, apply_less_equal, NULL},
    {">=", 2, 2, false, apply_greater_equal, NULL},
    {"+", 2, 2, false, apply_add, NULL},
    {"-", 2, 2, false, apply_subtract, NULL},
    {"*", 2, 2, false, apply_multiply, NULL},
    {"/", 2, 2, false, apply_divide, NULL},
    {"unary -", 1, 1, false, apply_minus, NULL},
    {"unary +", 1, 1, false, apply_plus, NULL},
    {"in list", 1, FUNCTION_ANY, false, NULL, form_in},
    {"not in list", 1, FUNCTION_ANY, false, NULL, form_not_in},
    {"unknown function", 0, FUNCTION_ANY, false, NULL, form_unknown},
    {"STR", 1, 1, false, apply_str, NULL},
    {"LANG", 1, 1, false, apply_lang, NULL},
    {"LANGMATCHES", 2, 2, false, apply_lang_matches, NULL},
    {"DATATYPE", 1, 1, false, apply_datatype, NULL},
    {"BOUND", 1, 1, false, NULL, form_bound},
    {"IRI", 1, 1, false, apply_iri, NULL},
    {"URI", 1, 1, false, apply_iri, NULL},
    {"BNODE", 0, 1, true, apply_bnode, NULL},
    {"RAND", 0, 0, true, apply_rand, NULL},
    {"ABS", 1, 1, false, apply_abs, NULL},
    {"CEIL", 1, 1, false, apply_ceil, NULL},
    {"FLOOR", 1, 1, false, apply_floor, NULL},
    {"ROUND", 1, 1, false, apply_round, NULL},
    {"CONCAT", 0, FUNCTION_ANY, false, apply_concat, NULL},
    {"STRLEN", 1, 1, false, apply_strlen, NULL},
    {"UCASE", 1, 1, false, apply_ucase, NULL},
    {"LCASE", 1, 1, false, apply_lcase, NULL},
    {"ENCODE_FOR_URI", 1, 1, false, apply_encode_for_uri, NULL},
    {"CONTAINS", 2, 2, false, apply_contains, NULL},
    {"STRSTARTS", 2, 2, false, apply_strstarts, NULL},
    {"STRENDS", 2, 2, false, apply_strends, NULL},
    {"STRBEFORE", 2, 2, false, apply_strbefore, NULL},
    {"STRAFTER", 2, 2, false, apply_strafter, NULL},
    {"YEAR", 1, 1, false, apply_year, NULL},
    {"MONTH", 1, 1, false, apply_month, NULL},
    {"DAY", 1, 1, false, apply_day, NULL},
    {"HOURS", 1, 1, false, apply_hours, NULL},
    {"MINUTES", 1, 1, false, apply_minutes, NULL},
    {"SECONDS", 1, 1, false, apply_seconds, NULL},
    {"TIMEZONE", 1, 1, false, apply_timezone, NULL},
    {"TZ", 1, 1, false, apply_tz, NULL},
    {"NOW", 0, 0, false, apply_now, NULL},
    {"UUID", 0, 0, true, apply_uuid, NULL},
    {"STRUUID", 0, 0, true, apply_struuid, NULL},
    {"MD5", 1, 1, false, apply_md5, NULL},
    {"SHA1", 1, 1, false, apply_sha1, NULL},
    {"SHA256", 1, 1, false, apply_sha256, NULL},
    {"SHA384", 1, 1, false, apply_sha384, NULL},
    {"SHA512", 1, 1, false, apply_sha512, NULL},
    {"COALESCE", 0, FUNCTION_ANY, false, NULL, form_coalesce},
    {"IF", 3, 3, false, NULL, form_if},
    {"STRLANG", 2, 2, false, apply_strlang, NULL},
    {"STRDT", 2, 2, false, apply_strdt, NULL},
    {"SAMETERM", 2, 2, false, apply_same_term, NULL},
    {"ISIRI", 1, 1, false, NULL, form_is_iri},
    {"ISURI", 1, 1, false, NULL, form_is_iri},
    {"ISBLANK", 1, 1, false, NULL, form_is_blank},
    {"ISLITERAL", 1, 1, false, NULL, form_is_literal},
    {"ISNUMERIC", 1, 1, false, apply_is_numeric, NULL},
    {"REGEX", 2, 3, false, apply_regex, NULL},
    {"SUBSTR", 2, 3, false, apply_substr, NULL},
    {"REPLACE", 3, 4, false, apply_replace, NULL},
};

static const struct function casts[] = {
    {XSD "boolean", 1, 1, false, apply_to_boolean, NULL},
    {XSD "double", 1, 1, false, apply_to_double, NULL},
    {XSD "float", 1, 1, false, apply_to_float, NULL},
    {XSD "decimal", 1, 1, false, apply_to_decimal, NULL},
    {XSD "integer", 1, 1, false, apply_to_integer, NULL},
    {XSD "dateTime", 1, 1, false, apply_to_date_time, NULL},
    {XSD "date", 1, 1, false, apply_to_date, NULL},
    {XSD "time", 1, 1, false, apply_to_time, NULL},
    {XSD "string", 1, 1, false, apply_to_string, NULL},
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
