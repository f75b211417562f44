#include "tests/unit/query/plan_case.h"

struct memory_source *
plan_source(void)
{
    struct buf trig;
    buf_init(&trig, 16 << 20);
    (void)buf_append_string(&trig, "@prefix : <http://example.org/> .\n:g1 {\n");
    for (int i = 0; i < PLAN_SUBJECTS; i++) {
        (void)buf_printf(&trig, ":s%d a :C%d ; :label \"%d\" .\n", i, i % 3, i);
        if (i % 2 == 0) {
            (void)buf_printf(&trig, ":s%d :description \"d%d\" , \"e%d\" .\n", i, i, i);
        }
        if (i % 3 == 0) {
            (void)buf_printf(&trig, ":s%d :knows :s%d , :hub .\n", i, i + 2);
        }
    }
    for (int i = 0; i < PLAN_VALUES; i++) {
        (void)buf_printf(&trig, ":hub :a %d ; :b %d ; :c %d .\n", i, i, i);
    }
    (void)buf_append_string(&trig, ":s1 :self :s1 . :s1 :self :s2 . :s1 :self :g1 .\n}\n_:b {\n");
    for (int i = 0; i < PLAN_SUBJECTS; i += 2) {
        (void)buf_printf(&trig, ":s%d a :C%d ; :label \"%d\" .\n", i, i % 3, i);
    }
    (void)buf_append_string(&trig, ":s1 :self :g1 .\n}\n");
    struct memory_source *source = query_case_source(trig.data);
    buf_release(&trig);
    return source;
}

enum status
plan_take_row(void *context, const struct term *terms, size_t n, struct reason *why)
{
    struct counted_answer *answer = context;
    (void)why;
    answer->rows++;
    answer->number = 0;
    if (n > 0 && terms[n - 1].kind == TERM_LITERAL) {
        char text[32];
        snprintf(text, sizeof text, "%.*s", SLICE_PRINT(terms[n - 1].value));
        answer->number = atoll(text);
    }
    return STATUS_OK;
}
