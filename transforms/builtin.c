/* The names of the transforms in C. */
#include "transforms/core/builtins.h"

#include <string.h>

static const struct builtin {
    const char *name;
    builtin_function *run;
} builtins[] = {
    {"calendar", builtin_calendar},
    {"csv", builtin_csv},
    {"grddl", builtin_grddl},
    {"html", builtin_html},
    {"image", builtin_image},
    {"microdata", builtin_microdata},
    {"microformats", builtin_microformats},
    {"jsonld", builtin_jsonld},
    {"links", builtin_links},
    {"pdf", builtin_pdf},
    {"recording", builtin_recording},
    {"vcard", builtin_vcard},
    {"rdfa", builtin_rdfa},
    {"rdfa-expand", builtin_rdfa_expand},
    {"rdfxml-islands", builtin_rdfxml_islands},
};

static const struct builtin *
builtin_find(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (strcmp(builtins[i].name, name) == 0) {
            return &builtins[i];
        }
    }
    return NULL;
}

bool
builtin_exists(const char *name)
{
    return builtin_find(name) != NULL;
}

enum status
builtin_run(struct transformation *transformation, const char *name, struct reason *why)
{
    const struct builtin *builtin = builtin_find(name);
    if (!builtin) {
        return status_fail(why, STATUS_MISUSE, "no builtin transform is called %s", name);
    }
    return builtin->run(transformation, why);
}
