/* The functions that the table in function.c names; see index/query/functions/function.h. */
#ifndef INDEX_QUERY_FUNCTIONS_FUNCTIONS_H
#define INDEX_QUERY_FUNCTIONS_FUNCTIONS_H

#include "index/query/functions/expression.h"

/* function_form.c: operators and forms */
function_form form_and, form_or, form_in, form_not_in, form_if, form_coalesce, form_bound,
    form_unknown;
function_id id_if, id_coalesce;
function_apply apply_not, apply_equal, apply_different, apply_less, apply_greater, apply_less_equal,
    apply_greater_equal, apply_add, apply_subtract, apply_multiply, apply_divide, apply_minus,
    apply_plus;

/* function_term.c */
function_form form_lang, form_datatype, form_is_iri, form_is_blank, form_is_literal;
function_apply apply_str, apply_lang_matches, apply_iri, apply_bnode, apply_same_term,
    apply_is_numeric, apply_strlang, apply_strdt, apply_uuid, apply_struuid, apply_md5, apply_sha1,
    apply_sha256, apply_sha384, apply_sha512;

/* function_text.c */
function_apply apply_strlen, apply_substr, apply_ucase, apply_lcase, apply_strstarts, apply_strends,
    apply_contains, apply_strbefore, apply_strafter, apply_encode_for_uri, apply_concat,
    apply_regex, apply_replace;

/* function_number.c */
function_apply apply_abs, apply_ceil, apply_floor, apply_round, apply_rand, apply_now, apply_year,
    apply_month, apply_day, apply_hours, apply_minutes, apply_seconds, apply_timezone, apply_tz;
function_id id_part;

/* function_cast.c */
function_apply apply_to_boolean, apply_to_double, apply_to_float, apply_to_decimal,
    apply_to_integer, apply_to_date_time, apply_to_date, apply_to_time, apply_to_string;

#endif
