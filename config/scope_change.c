#include "config/scope_change.h"

#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/map.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "config/config.h"
#include "config/run_lock.h"
#include "config/scope_file.h"

enum { PATH_BYTES = 1 << 16, TEXT_BYTES = 4 * SCOPE_TEXT_MAXIMUM };
static const char TOLD[] = "scope.told";

static const struct {
    const char *name;
    bool list;
} rules[] = {{"scope.hosts", true},   {"scope.domains", true}, {"scope.prefixes", true},
             {"scope.include", true}, {"scope.exclude", true}, {"scope.depth", false}};
enum { RULES = sizeof rules / sizeof rules[0] };

/* ---- texts ---- */

static bool
next_line(struct slice *text, struct slice *line)
{
    if (text->length == 0) {
        return false;
    }
    *line = slice_trim(slice_take(text, '\n'));
    return true;
}

/* The value that the text gives the option: of its last line for it. */
static bool
find_value(struct slice text, const char *name, struct slice *value)
{
    struct slice line;
    bool found = false;
    while (next_line(&text, &line)) {
        const size_t equals = slice_find(line, '=');
        if (equals < line.length && slice_is(slice_trim(slice_of(line.at, equals)), name)) {
            *value = slice_trim(slice_of(line.at + equals + 1, line.length - equals - 1));
            found = true;
        }
    }
    return found;
}

static bool
next_item(struct slice *list, struct slice *item)
{
    while (list->length > 0 && memchr(", \t", list->at[0], 3) != NULL) {
        *list = slice_of(list->at + 1, list->length - 1);
    }
    size_t end = 0;
    while (end < list->length && memchr(", \t", list->at[end], 3) == NULL) {
        end++;
    }
    *item = slice_of(list->at, end);
    *list = slice_of(list->at + end, list->length - end);
    return end > 0;
}

static void
add_items(struct map *set, struct slice list)
{
    struct slice item;
    while (next_item(&list, &item)) {
        (void)map_add(set, fingerprint64(item));
    }
}

/* ---- what changed ---- */

/* Returns whether one line of a change holds the item: with its sign, name, "=" and end. */
static bool
fits_line(const char *name, struct slice item)
{
    const bool fits = item.length + strlen(name) + 3 <= SCOPE_CHANGE_LINE;
    if (!fits) {
        log_warning("scope_entry", "option=%s bytes=%zu reason=%s", name, item.length,
                    "too long to be told to other nodes");
    }
    return fits;
}

/* The entries of one list that the other lacks, in lines that are not too long. */
static void
put_lacking(char sign, const char *name, struct slice list, struct slice other, struct buf *change)
{
    struct map known = {0};
    struct slice item;
    size_t begin = change->length;
    bool open = false;
    add_items(&known, other);
    while (next_item(&list, &item)) {
        if (!map_add(&known, fingerprint64(item)) || !fits_line(name, item)) {
            continue;
        }
        if (open && change->length - begin + item.length + 2 > SCOPE_CHANGE_LINE) {
            buf_append_char(change, '\n');
            open = false;
        }
        if (!open) {
            begin = change->length;
            buf_printf(change, "%c%s=", sign, name);
        } else {
            buf_append_char(change, ',');
        }
        buf_append_slice(change, item);
        open = true;
    }
    if (open) {
        buf_append_char(change, '\n');
    }
    map_release(&known);
}

void
scope_change_between(struct slice before, struct slice after, struct buf *change)
{
    for (size_t i = 0; i < RULES; i++) {
        struct slice old = {"", 0}, new;
        const bool known = find_value(before, rules[i].name, &old);
        if (!find_value(after, rules[i].name, &new)) {
            continue;
        }
        if (rules[i].list) {
            /* In this order a list is never empty between the two: that would be everywhere. */
            put_lacking('+', rules[i].name, new, old, change);
            put_lacking('-', rules[i].name, old, new, change);
        } else if ((!known || !slice_equal(old, new)) && fits_line(rules[i].name, new)) {
            buf_printf(change, "=%s=%.*s\n", rules[i].name, SLICE_PRINT(new));
        }
    }
}

/* ---- applying it ---- */

/* The operand of a line of the change that has this sign and option. */
static bool
is_about(struct slice line, char sign, const char *name, struct slice *operand)
{
    const size_t n = strlen(name);
    if (line.length < n + 2 || line.at[0] != sign || memcmp(line.at + 1, name, n) != 0 ||
        line.at[n + 1] != '=') {
        return false;
    }
    *operand = slice_of(line.at + n + 2, line.length - n - 2);
    return true;
}

/* Fills the set with the entries that went, by the last that the change says of each. */
static void
find_gone(const char *name, struct slice change, struct map *gone)
{
    struct map decided = {0};
    struct slice operand, item;
    while (change.length > 0) { /* from the last line back */
        const char *const end = memrchr(change.at, '\n', change.length - 1);
        const size_t begin = end != NULL ? (size_t)(end + 1 - change.at) : 0;
        const struct slice line = slice_trim(slice_of(change.at + begin, change.length - begin));
        const bool went = is_about(line, '-', name, &operand);
        if (went || is_about(line, '+', name, &operand)) {
            while (next_item(&operand, &item)) {
                const uint64_t print = fingerprint64(item);
                if (map_add(&decided, print) && went) {
                    (void)map_add(gone, print);
                }
            }
        }
        change.length = begin;
    }
    map_release(&decided);
}

/* Those that were not met yet. How many. */
static size_t
put_items(struct slice list, struct map *met, struct buf *value)
{
    struct slice item;
    size_t count = 0;
    while (next_item(&list, &item)) {
        if (map_add(met, fingerprint64(item))) {
            buf_printf(value, "%s%.*s", value->length > 0 ? "," : "", SLICE_PRINT(item));
            count++;
        }
    }
    return count;
}

static size_t
count_items(struct slice list)
{
    struct slice item;
    size_t count = 0;
    while (next_item(&list, &item)) {
        count++;
    }
    return count;
}

/* False: the list is as it was. */
static bool
change_list(const char *name, struct slice list, struct slice change, struct buf *value)
{
    struct map met = {0};
    struct slice line, operand;
    size_t came = 0;
    find_gone(name, change, &met);
    const size_t kept = put_items(list, &met, value);
    while (next_line(&change, &line)) {
        if (is_about(line, '+', name, &operand)) {
            came += put_items(operand, &met, value);
        }
    }
    map_release(&met);
    return came > 0 || kept < count_items(list);
}

static bool
change_number(const char *name, struct slice number, struct slice change, struct buf *value)
{
    struct slice line, operand = number;
    while (next_line(&change, &line)) {
        (void)is_about(line, '=', name, &operand);
    }
    buf_append_slice(value, operand);
    return !slice_equal(operand, number);
}

enum status
scope_change_apply(struct slice text, const struct opt_set *configured, struct slice change,
                   struct buf *out, struct reason *why)
{
    struct buf assignments[RULES];
    const char *changed[RULES];
    size_t n = 0;
    for (size_t i = 0; i < RULES; i++) {
        struct slice old = {"", 0};
        struct buf value;
        buf_init(&value, SCOPE_TEXT_MAXIMUM);
        buf_init(&assignments[i], SCOPE_TEXT_MAXIMUM);
        if (!find_value(text, rules[i].name, &old) && configured != NULL) {
            old = slice_string(opt_text(configured, rules[i].name, NULL));
        }
        if ((rules[i].list ? change_list : change_number)(rules[i].name, old, change, &value)) {
            buf_printf(&assignments[i], "%s=%.*s", rules[i].name, SLICE_PRINT(buf_slice(&value)));
            changed[n++] = assignments[i].data;
        }
        out->overflowed |= value.overflowed || assignments[i].overflowed;
        buf_release(&value);
    }
    scope_text_set(text, changed, n, out);
    for (size_t i = 0; i < RULES; i++) {
        buf_release(&assignments[i]);
    }
    return out->overflowed ? status_fail(why, STATUS_LIMIT, "the scope would be too long")
                           : STATUS_OK;
}

/* ---- files ---- */

enum status
scope_told_read(const char *directory, struct buf *text, struct reason *why)
{
    struct buf path;
    buf_init(&path, PATH_BYTES);
    config_scope_folder(directory, &path);
    (void)buf_printf(&path, "/%s", TOLD);
    const enum status status = file_read(path.data, text, why);
    buf_release(&path);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status
scope_told_write(const char *directory, struct slice text, struct reason *why)
{
    return scope_file_replace(directory, TOLD, text, why);
}

/* First scope.told: were it second, and this the last that happens, the node would tell the others
 * as news what they have told it. */
static enum status
take(const char *directory, const struct opt_set *configured, struct slice change,
     struct reason *why)
{
    struct buf told, rules_text, out;
    bool whole = true;
    buf_init(&told, TEXT_BYTES);
    buf_init(&rules_text, TEXT_BYTES);
    buf_init(&out, TEXT_BYTES);
    enum status status = scope_file_read(directory, &rules_text, &whole, why);
    status = status == STATUS_NOT_FOUND ? STATUS_OK : status;
    if (status == STATUS_OK && !whole) {
        status = status_fail(why, STATUS_AGAIN, "%s/scope.conf is being written", directory);
    }
    if (status == STATUS_OK) {
        status = scope_told_read(directory, &told, why);
    }
    if (status == STATUS_OK) {
        status = scope_change_apply(buf_slice(&told), NULL, change, &out, why);
    }
    if (status == STATUS_OK && !slice_equal(buf_slice(&told), buf_slice(&out))) {
        status = scope_told_write(directory, buf_slice(&out), why);
    }
    buf_reset(&out);
    if (status == STATUS_OK) {
        status = scope_change_apply(buf_slice(&rules_text), configured, change, &out, why);
    }
    if (status == STATUS_OK && !slice_equal(buf_slice(&rules_text), buf_slice(&out))) {
        status = scope_file_replace(directory, SCOPE_RULES_FILE, buf_slice(&out), why);
    }
    if (status == STATUS_OK) {
        status = scope_file_settle(directory, NULL, why);
    }
    buf_release(&told);
    buf_release(&rules_text);
    buf_release(&out);
    return status;
}

enum status
scope_change_take(const char *directory, const struct opt_set *configured, struct slice change,
                  struct reason *why)
{
    const int lock = run_lock_open(directory, SCOPE_LOCK_FILE);
    if (lock < 0) {
        return status_fail_errno(why, "cannot open %s/run/%s", directory, SCOPE_LOCK_FILE);
    }
    const enum status status =
        run_lock_try(lock, LOCK_EX)
            ? take(directory, configured, change, why)
            : status_fail(why, STATUS_AGAIN, "somebody is changing %s/scope.conf", directory);
    close(lock);
    return status;
}
