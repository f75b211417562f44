#include "base/options/opt.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/options/nearest.h"
#include "base/system/file.h"

enum { FILE_MAXIMUM = 64 << 20 };

/* One option with its present value. */
struct opt_value {
    const struct opt *opt;
    char *text; /* as written */
    bool changed;
    bool boolean;
    int64_t integer;   /* INTEGER, SIZE */
    uint64_t duration; /* ms */
    char *item_bytes;  /* LIST: the items, each NUL-terminated */
    const char **items;
    size_t item_count;
};

struct opt_set {
    struct opt_value *values; /* sorted by name */
    size_t count;
    const struct opt *const *tables; /* for printing in the tables' order */
};

/* ---- reading values ---- */

static const char *const type_examples[] = {
    [OPT_BOOL] = "yes or no",
    [OPT_INTEGER] = "a whole number",
    [OPT_SIZE] = "a size such as 4096, 64K or 1.5G",
    [OPT_DURATION] = "a duration such as 1.5, 200ms, 5m or 1d",
    [OPT_STRING] = "text",
    [OPT_LIST] = "words separated by commas or blanks",
    [OPT_CHOICE] = "one of the choices",
};

struct unit {
    const char *suffix;
    double factor;
};

static const struct unit size_units[] = {
    {"", 1},  {"K", 1024.0}, {"M", 1048576.0}, {"G", 1073741824.0}, {"T", 1099511627776.0},
    {NULL, 0}};
/* factors in milliseconds */
static const struct unit duration_units[] = {{"", 1000},     {"ms", 1},        {"s", 1000},
                                             {"m", 60000.0}, {"h", 3600000.0}, {"d", 86400000.0},
                                             {NULL, 0}};
static const struct unit no_units[] = {{"", 1}, {NULL, 0}};

/* A decimal number and a unit; false for anything else, hexadecimal and "inf" included. */
static bool
number_read(const char *text, const struct unit *units, double *number)
{
    char *end;
    const char *digits = text + (*text == '-');
    const bool hexadecimal = digits[0] == '0' && tolower((unsigned char)digits[1]) == 'x';
    if (!isdigit((unsigned char)*digits) || hexadecimal) {
        return false;
    }
    errno = 0;
    *number = strtod(text, &end);
    if (errno == ERANGE || !isfinite(*number)) {
        return false;
    }
    for (const struct unit *unit = units; unit->suffix; unit++) {
        if (strcmp(end, unit->suffix) == 0) {
            *number *= unit->factor;
            return true;
        }
    }
    return false;
}

static bool
bool_read(const char *text, bool *value)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"yes", true},    {"no", false}, {"true", true},
                 {"false", false}, {"1", true},   {"0", false}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i].word) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    return false;
}

static bool
choice_has(const char *choices, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = choices; *at; at += *at == '|') {
        const size_t size = strcspn(at, "|");
        if (size == length && memcmp(at, word, length) == 0) {
            return true;
        }
        at += size;
    }
    return false;
}

static void
list_read(const char *text, struct opt_value *value)
{
    static const char separators[] = ", \t";
    char *state = NULL;
    value->item_bytes = memory_string(text);
    value->items = memory_zero(strlen(text) / 2 + 1, sizeof *value->items);
    value->item_count = 0;
    for (char *item = strtok_r(value->item_bytes, separators, &state); item;
         item = strtok_r(NULL, separators, &state)) {
        value->items[value->item_count++] = item;
    }
}

static enum status
number_assign(struct opt_value *value, const char *text, struct reason *why)
{
    const struct opt *opt = value->opt;
    const bool duration = opt->type == OPT_DURATION;
    const struct unit *units = duration                ? duration_units
                               : opt->type == OPT_SIZE ? size_units
                                                       : no_units;
    const double largest = 9007199254740992.0; /* 2^53: beyond it doubles skip integers */
    double number;
    if (!number_read(text, units, &number) || fabs(number) > largest ||
        (opt->type == OPT_INTEGER && number != floor(number)) || (duration && number < 0)) {
        return status_fail(why, STATUS_MISUSE, "%s: \"%s\" is not %s", opt->name, text,
                           type_examples[opt->type]);
    }
    const double plain = duration ? number / 1000 : number; /* bounds of durations are seconds */
    const char *unit = duration ? " seconds" : "";
    if (plain < opt->minimum) {
        return status_fail(why, STATUS_MISUSE, "%s: %s is less than %.15g%s", opt->name, text,
                           opt->minimum, unit);
    }
    if (opt->maximum != 0 && plain > opt->maximum) {
        return status_fail(why, STATUS_MISUSE, "%s: %s is more than %.15g%s", opt->name, text,
                           opt->maximum, unit);
    }
    if (duration) {
        value->duration = (uint64_t)llround(number);
    } else {
        value->integer = llround(number);
    }
    return STATUS_OK;
}

/* Reads text into *value; on failure *value is as before. */
static enum status
value_assign(struct opt_value *value, const char *text, struct reason *why)
{
    const struct opt *opt = value->opt;
    struct opt_value made = {.opt = opt};
    switch (opt->type) {
    case OPT_INTEGER:
    case OPT_SIZE:
    case OPT_DURATION:
        TRY(number_assign(&made, text, why));
        break;
    case OPT_BOOL:
        if (!bool_read(text, &made.boolean)) {
            return status_fail(why, STATUS_MISUSE, "%s: \"%s\" is not %s", opt->name, text,
                               type_examples[OPT_BOOL]);
        }
        break;
    case OPT_CHOICE:
        if (!choice_has(opt->choices, text)) {
            return status_fail(why, STATUS_MISUSE, "%s: \"%s\" is not one of %s", opt->name, text,
                               opt->choices);
        }
        break;
    case OPT_LIST:
        list_read(text, &made);
        break;
    case OPT_STRING:
        break;
    }
    made.text = memory_string(text);
    made.changed = strcmp(text, opt->default_value) != 0;
    free(value->text);
    free(value->item_bytes);
    free(value->items);
    *value = made;
    return STATUS_OK;
}

/* ---- the set ---- */

static int
value_compare(const void *a, const void *b)
{
    const struct opt_value *left = a, *right = b;
    return strcmp(left->opt->name, right->opt->name);
}

/* A table that contradicts itself is a bug of this program. */
static _Noreturn void
table_is_wrong(const char *text)
{
    (void)fprintf(stderr, "option table: %s\n", text);
    abort();
}

struct opt_set *
opt_set_new(const struct opt *const *tables)
{
    struct opt_set *set = memory_new(sizeof *set);
    struct reason why;
    set->tables = tables;
    for (const struct opt *const *table = tables; *table; table++) {
        for (const struct opt *opt = *table; opt->name; opt++) {
            set->values = memory_resize(set->values, set->count + 1, sizeof *set->values);
            set->values[set->count] = (struct opt_value){.opt = opt};
            if (value_assign(&set->values[set->count++], opt->default_value, &why) != STATUS_OK) {
                table_is_wrong(why.text);
            }
        }
    }
    qsort(set->values, set->count, sizeof *set->values, value_compare);
    for (size_t i = 1; i < set->count; i++) {
        if (value_compare(&set->values[i - 1], &set->values[i]) == 0) {
            table_is_wrong(set->values[i].opt->name);
        }
    }
    return set;
}

const struct opt *const *
opt_set_tables(const struct opt_set *set)
{
    return set->tables;
}

void
opt_set_free(struct opt_set *set)
{
    if (!set) {
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        free(set->values[i].text);
        free(set->values[i].item_bytes);
        free(set->values[i].items);
    }
    free(set->values);
    free(set);
}

/* Returns the value of an option; NULL when the name is unknown. */
static struct opt_value *
opt_find(const struct opt_set *set, struct slice name)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = slice_compare(name, slice_string(set->values[middle].opt->name));
        if (order == 0) {
            return &set->values[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

static enum status
pair_assign(struct opt_set *set, struct slice pair, struct reason *why)
{
    const size_t equals = slice_find(pair, '=');
    if (equals == pair.length) {
        return status_fail(why, STATUS_MISUSE, "\"%.*s\" is not \"name = value\"",
                           SLICE_PRINT(pair));
    }
    const struct slice name = slice_trim(slice_of(pair.at, equals));
    const struct slice text = slice_trim(slice_of(pair.at + equals + 1, pair.length - equals - 1));
    struct opt_value *value = opt_find(set, name);
    if (!value) {
        struct nearest nearest = nearest_to(name);
        char near[NEAREST_TEXT_SIZE];
        for (size_t i = 0; i < set->count; i++) {
            nearest_offer(&nearest, set->values[i].opt->name);
        }
        return status_fail(why, STATUS_MISUSE, "no option is named \"%.*s\"%s", SLICE_PRINT(name),
                           nearest_text(&nearest, "", near));
    }
    if (memchr(text.at, '\0', text.length)) {
        return status_fail(why, STATUS_MISUSE, "%s: a value must not hold a NUL byte",
                           value->opt->name);
    }
    char *copy = memory_string_n(text.at, text.length);
    const enum status status = value_assign(value, copy, why);
    free(copy);
    return status;
}

enum status
opt_set_assign(struct opt_set *set, const char *assignment, struct reason *why)
{
    const enum status status = pair_assign(set, slice_string(assignment), why);
    return status == STATUS_OK ? status : status_prefix(why, status, "--set");
}

enum status
opt_set_load_text(struct opt_set *set, struct slice text, const char *name, struct reason *why)
{
    for (unsigned long number = 1; text.length > 0; number++) {
        const size_t length = slice_find(text, '\n');
        const struct slice line = slice_trim(slice_of(text.at, length));
        enum status status = STATUS_OK;
        if (line.length > 0 && line.at[0] != '#') {
            status = pair_assign(set, line, why);
        }
        if (status != STATUS_OK) {
            return status_prefix(why, status, "%s:%lu", name, number);
        }
        const size_t taken = length < text.length ? length + 1 : length;
        text = slice_of(text.at + taken, text.length - taken);
    }
    return STATUS_OK;
}

enum status
opt_set_load_file(struct opt_set *set, const char *path, struct reason *why)
{
    struct buf text;
    buf_init(&text, FILE_MAXIMUM);
    enum status status = file_read(path, &text, why);
    if (status == STATUS_OK) {
        status = opt_set_load_text(set, buf_slice(&text), path, why);
    }
    buf_release(&text);
    return status;
}

/* ---- getters ---- */

static const struct opt_value *
value_get(const struct opt_set *set, const char *name, unsigned types)
{
    const struct opt_value *value = opt_find(set, slice_string(name));
    if (!value || !(types & 1U << value->opt->type)) {
        table_is_wrong(name);
    }
    return value;
}

bool
opt_bool(const struct opt_set *set, const char *name)
{
    return value_get(set, name, 1U << OPT_BOOL)->boolean;
}

int64_t
opt_integer(const struct opt_set *set, const char *name)
{
    return value_get(set, name, 1U << OPT_INTEGER | 1U << OPT_SIZE)->integer;
}

uint64_t
opt_duration_ms(const struct opt_set *set, const char *name)
{
    return value_get(set, name, 1U << OPT_DURATION)->duration;
}

const char *
opt_string(const struct opt_set *set, const char *name)
{
    return value_get(set, name, 1U << OPT_STRING | 1U << OPT_CHOICE)->text;
}

size_t
opt_list(const struct opt_set *set, const char *name, const char *const **items)
{
    const struct opt_value *value = value_get(set, name, 1U << OPT_LIST);
    *items = value->items;
    return value->item_count;
}

const char *
opt_text(const struct opt_set *set, const char *name, bool *changed)
{
    const struct opt_value *value = value_get(set, name, ~0U);
    if (changed) {
        *changed = value->changed;
    }
    return value->text;
}
