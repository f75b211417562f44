#include "index/query/functions/functions.h"

static const struct function functions[] = {
    {"||", 2, FUNCTION_ANY, .form = form_or},
    {"&&", 2, FUNCTION_ANY, .form = form_and},
    {"!", 1, 1, .apply = apply_not},
    {"=", 2, 2, .numbers = true, .relation = RELATION_EQUAL, .apply = apply_equal},
    {"!=", 2, 2, .numbers = true, .relation = RELATION_UNEQUAL, .apply = apply_different},
    {"<", 2, 2, .numbers = true, .relation = RELATION_LESS, .apply = apply_less},
    {">", 2, 2, .numbers = true, .relation = RELATION_GREATER, .apply = apply_greater},
    {"<=", 2, 2, .numbers = true, .relation = RELATION_LESS + RELATION_EQUAL,
     .apply = apply_less_equal},
    {">=", 2, 2, .numbers = true, .relation = RELATION_GREATER + RELATION_EQUAL,
     .apply = apply_greater_equal},
    {"+", 2, 2, .numbers = true, .apply = apply_add},
    {"-", 2, 2, .numbers = true, .apply = apply_subtract},
    {"*", 2, 2, .numbers = true, .apply = apply_multiply},
    {"/", 2, 2, .numbers = true, .apply = apply_divide},
    {"unary -", 1, 1, .numbers = true, .apply = apply_minus},
    {"unary +", 1, 1, .apply = apply_plus},
    {"in list", 1, FUNCTION_ANY, .form = form_in},
    {"not in list", 1, FUNCTION_ANY, .form = form_not_in},
    {"unknown function", 0, FUNCTION_ANY, .form = form_unknown},
    {"STR", 1, 1, .apply = apply_str},
    {"LANG", 1, 1, .form = form_lang},
    {"LANGMATCHES", 2, 2, .apply = apply_lang_matches},
    {"DATATYPE", 1, 1, .form = form_datatype},
    {"BOUND", 1, 1, .form = form_bound},
    {"IRI", 1, 1, .apply = apply_iri},
    {"URI", 1, 1, .apply = apply_iri},
    {"BNODE", 0, 1, .volatile_value = true, .apply = apply_bnode},
    {"RAND", 0, 0, .volatile_value = true, .apply = apply_rand},
    {"ABS", 1, 1, .numbers = true, .apply = apply_abs},
    {"CEIL", 1, 1, .numbers = true, .apply = apply_ceil},
    {"FLOOR", 1, 1, .numbers = true, .apply = apply_floor},
    {"ROUND", 1, 1, .numbers = true, .apply = apply_round},
    {"CONCAT", 0, FUNCTION_ANY, .apply = apply_concat},
    {"STRLEN", 1, 1, .apply = apply_strlen},
    {"UCASE", 1, 1, .apply = apply_ucase},
    {"LCASE", 1, 1, .apply = apply_lcase},
    {"ENCODE_FOR_URI", 1, 1, .apply = apply_encode_for_uri},
    {"CONTAINS", 2, 2, .apply = apply_contains},
    {"STRSTARTS", 2, 2, .apply = apply_strstarts},
    {"STRENDS", 2, 2, .apply = apply_strends},
    {"STRBEFORE", 2, 2, .apply = apply_strbefore},
    {"STRAFTER", 2, 2, .apply = apply_strafter},
    {"YEAR", 1, 1, .numbers = true, .apply = apply_year, .id = id_part},
    {"MONTH", 1, 1, .numbers = true, .apply = apply_month, .id = id_part},
    {"DAY", 1, 1, .numbers = true, .apply = apply_day, .id = id_part},
    {"HOURS", 1, 1, .numbers = true, .apply = apply_hours, .id = id_part},
    {"MINUTES", 1, 1, .numbers = true, .apply = apply_minutes, .id = id_part},
    {"SECONDS", 1, 1, .numbers = true, .apply = apply_seconds},
    {"TIMEZONE", 1, 1, .numbers = true, .apply = apply_timezone},
    {"TZ", 1, 1, .apply = apply_tz},
    {"NOW", 0, 0, .apply = apply_now},
    {"UUID", 0, 0, .volatile_value = true, .apply = apply_uuid},
    {"STRUUID", 0, 0, .volatile_value = true, .apply = apply_struuid},
    {"MD5", 1, 1, .apply = apply_md5},
    {"SHA1", 1, 1, .apply = apply_sha1},
    {"SHA256", 1, 1, .apply = apply_sha256},
    {"SHA384", 1, 1, .apply = apply_sha384},
    {"SHA512", 1, 1, .apply = apply_sha512},
    {"COALESCE", 0, FUNCTION_ANY, .form = form_coalesce, .id = id_coalesce},
    {"IF", 3, 3, .form = form_if, .id = id_if},
    {"STRLANG", 2, 2, .apply = apply_strlang},
    {"STRDT", 2, 2, .apply = apply_strdt},
    {"SAMETERM", 2, 2, .apply = apply_same_term},
    {"ISIRI", 1, 1, .form = form_is_iri},
    {"ISURI", 1, 1, .form = form_is_iri},
    {"ISBLANK", 1, 1, .form = form_is_blank},
    {"ISLITERAL", 1, 1, .form = form_is_literal},
    {"ISNUMERIC", 1, 1, .apply = apply_is_numeric},
    {"REGEX", 2, 3, .apply = apply_regex},
    {"SUBSTR", 2, 3, .apply = apply_substr},
    {"REPLACE", 3, 4, .apply = apply_replace},
};

static const struct function casts[] = {
    {XSD "boolean", 1, 1, .apply = apply_to_boolean},
    {XSD "double", 1, 1, .apply = apply_to_double},
    {XSD "float", 1, 1, .apply = apply_to_float},
    {XSD "decimal", 1, 1, .apply = apply_to_decimal},
    {XSD "integer", 1, 1, .apply = apply_to_integer},
    {XSD "dateTime", 1, 1, .apply = apply_to_date_time},
    {XSD "date", 1, 1, .apply = apply_to_date},
    {XSD "time", 1, 1, .apply = apply_to_time},
    {XSD "string", 1, 1, .apply = apply_to_string},
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
