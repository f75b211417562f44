#include "crawl/scope.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "crawl/traps.h"

const struct opt scope_options[] = {
    {"scope.hosts", OPT_LIST, "", 0, 0, NULL,
     "Host names that are in scope, for example example.org; * stands for every host."},
    {"scope.domains", OPT_LIST, "", 0, 0, NULL,
     "Domains that are in scope with all hosts below them, for example example.org."},
    {"scope.prefixes", OPT_LIST, "", 0, 0, NULL,
     "URI prefixes that are in scope, for example https://example.org/data/."},
    {"scope.include", OPT_LIST, "", 0, 0, NULL,
     "Regular expressions (PCRE2); a URI in which one of them matches is in scope."},
    {"scope.exclude", OPT_LIST, "", 0, 0, NULL,
     "Regular expressions (PCRE2); a URI in which one of them matches is never in scope."},
    {"scope.depth", OPT_INTEGER, "32", 0, 65534, NULL,
     "The largest number of links between a seed and a document. A redirect is not a link."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};

enum {
    PATTERN_COUNT = 2,
    SEGMENT_MAXIMUM = 256,
    MATCH_LIMIT = 100000, /* steps; a URI that takes more is taken for what keeps it out */
    HEAP_KIBIBYTES = 4096
};

struct pattern_list {
    pcre2_code **compiled;
    size_t count;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

/* Names without case, sorted, so that a crawl of a million seeds finds a link's host at once. */
struct name_list {
    const char **sorted;
    size_t count;
};

/* The rules as loaded at one moment. */
struct rules {
    struct opt_set *options; /* holds the lists' strings */
    struct name_list hosts, domains;
    const char *const *prefixes;
    size_t prefix_count;
    struct pattern_list include, exclude;
    uint32_t depth;
    struct trap_rules traps;
    bool everywhere, every_host;
};

struct scope {
    const struct opt_set *configured;
    char *directory, *path; /* DIR, DIR/scope.conf */
    struct timespec modified;
    off_t size;
    uint64_t version;
    struct rules *rules;
};

static void
patterns_release(struct pattern_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        pcre2_code_free(list->compiled[i]);
    }
    pcre2_match_data_free(list->match);
    pcre2_match_context_free(list->limits);
    free(list->compiled);
}

static enum status
patterns_compile(struct pattern_list *list, const struct opt_set *options, const char *name,
                 struct reason *why)
{
    const char *const *texts;
    const size_t n = opt_list(options, name, &texts);
    list->compiled = memory_zero(n + 1, sizeof *list->compiled);
    list->match = pcre2_match_data_create(1, NULL);
    list->limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(list->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(list->limits, HEAP_KIBIBYTES);
    for (size_t i = 0; i < n; i++) {
        int error;
        size_t offset;
        list->compiled[i] = pcre2_compile((PCRE2_SPTR)texts[i], PCRE2_ZERO_TERMINATED,
                                          PCRE2_NEVER_BACKSLASH_C, &error, &offset, NULL);
        if (list->compiled[i] == NULL) {
            PCRE2_UCHAR text[200] = "";
            pcre2_get_error_message(error, text, sizeof text);
            return status_fail(why, STATUS_MISUSE,
                               "%s: regular expression \"%s\": %s, at character %zu", name,
                               texts[i], (const char *)text, offset + 1);
        }
        list->count++;
    }
    return STATUS_OK;
}

static int
by_name(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

static void
names_sort(struct name_list *list, const struct opt_set *options, const char *name)
{
    const char *const *names;
    list->count = opt_list(options, name, &names);
    list->sorted = memory_zero(list->count + 1, sizeof *list->sorted);
    memcpy(list->sorted, names, list->count * sizeof *names);
    qsort(list->sorted, list->count, sizeof *list->sorted, by_name);
}

static int
compare_name(const void *key, const void *item)
{
    const struct slice *name = key;
    const char *other = *(const char *const *)item;
    const int order = strncasecmp(name->at, other, name->length);
    return order != 0 ? order : -(other[name->length] != '\0');
}

static bool
names_hold(const struct name_list *list, struct slice name)
{
    return bsearch(&name, list->sorted, list->count, sizeof *list->sorted, compare_name) != NULL;
}

static void
rules_free(struct rules *rules)
{
    if (rules == NULL) {
        return;
    }
    patterns_release(&rules->include);
    patterns_release(&rules->exclude);
    free(rules->hosts.sorted);
    free(rules->domains.sorted);
    opt_set_free(rules->options);
    free(rules);
}

/* Configured values first, then those of the file on top. */
static struct opt_set *
rules_options(const struct opt_set *configured, struct reason *why)
{
    static const struct opt *const tables[] = {scope_options, NULL};
    struct opt_set *options = opt_set_new(tables);
    struct buf assignment;
    buf_init(&assignment, SCOPE_TEXT_MAXIMUM);
    for (const struct opt *o = scope_options; o->name != NULL; o++) {
        bool changed;
        const char *text = opt_text(configured, o->name, &changed);
        if (!changed) {
            continue;
        }
        buf_reset(&assignment);
        if (buf_printf(&assignment, "%s=%s", o->name, text) != STATUS_OK ||
            opt_set_assign(options, assignment.data, why) != STATUS_OK) {
            opt_set_free(options);
            options = NULL;
            break;
        }
    }
    buf_release(&assignment);
    return options;
}

/* The lines of the file; *whole: an editor is not at work on it. */
static enum status
rules_read(struct scope *scope, struct rules *rules, bool *whole, struct reason *why)
{
    struct stat file;
    struct buf text;
    *whole = true;
    if (stat(scope->path, &file) != 0) {
        return STATUS_OK;
    }
    buf_init(&text, 4 * SCOPE_TEXT_MAXIMUM);
    enum status status = scope_file_read(scope->directory, &text, whole, why);
    if (status == STATUS_OK) {
        status = opt_set_load_text(rules->options, buf_slice(&text), scope->path, why);
    }
    if (status == STATUS_OK) {
        scope->modified = file.st_mtim;
        scope->size = file.st_size;
    }
    buf_release(&text);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* only_whole: AGAIN when an editor may be at work on the file. */
static enum status
rules_load(struct scope *scope, struct rules **out, bool only_whole, struct reason *why)
{
    struct rules *rules = memory_new(sizeof *rules);
    enum status status = STATUS_MISUSE;
    bool whole;
    rules->options = rules_options(scope->configured, why);
    if (rules->options == NULL) {
        goto fail;
    }
    status = rules_read(scope, rules, &whole, why);
    if (only_whole && !whole) {
        scope->size = -1; /* to be looked at again */
        status = status_fail(why, STATUS_AGAIN, "%s is being written", scope->path);
    }
    if (status != STATUS_OK) {
        goto fail;
    }
    status = patterns_compile(&rules->include, rules->options, "scope.include", why);
    if (status == STATUS_OK) {
        status = patterns_compile(&rules->exclude, rules->options, "scope.exclude", why);
    }
    if (status != STATUS_OK) {
        goto fail;
    }
    names_sort(&rules->hosts, rules->options, "scope.hosts");
    names_sort(&rules->domains, rules->options, "scope.domains");
    rules->every_host = names_hold(&rules->hosts, slice_string("*"));
    rules->prefix_count = opt_list(rules->options, "scope.prefixes", &rules->prefixes);
    rules->depth = (uint32_t)opt_integer(rules->options, "scope.depth");
    trap_rules_from(&rules->traps, scope->configured);
    rules->everywhere =
        rules->hosts.count + rules->domains.count + rules->prefix_count + rules->include.count == 0;
    *out = rules;
    return STATUS_OK;
fail:
    rules_free(rules);
    return status;
}

enum status
scope_open(struct scope **out, const struct opt_set *options, const char *directory,
           struct reason *why)
{
    struct scope *scope = memory_new(sizeof *scope);
    struct scope_edition edition;
    struct buf path;
    buf_init(&path, 1 << 16);
    scope_file_path(directory, &path);
    scope->path = memory_string(path.data);
    scope->directory = memory_string(directory);
    buf_release(&path);
    scope->configured = options;
    (void)scope_edition_read(directory, &edition);
    scope->version = edition.version;
    const enum status status = rules_load(scope, &scope->rules, false, why);
    if (status != STATUS_OK) {
        scope_close(scope);
        return status;
    }
    *out = scope;
    return STATUS_OK;
}

void
scope_close(struct scope *scope)
{
    if (scope == NULL) {
        return;
    }
    rules_free(scope->rules);
    free(scope->directory);
    free(scope->path);
    free(scope);
}

static bool
file_is_as_read(const struct scope *scope)
{
    struct stat file;
    return stat(scope->path, &file) != 0 ||
           (file.st_mtim.tv_sec == scope->modified.tv_sec &&
            file.st_mtim.tv_nsec == scope->modified.tv_nsec && file.st_size == scope->size);
}

void
scope_refresh(struct scope *scope)
{
    struct scope_edition edition;
    struct rules *rules;
    struct reason why;
    (void)scope_edition_read(scope->directory, &edition);
    if (!file_is_as_read(scope)) {
        const enum status status = rules_load(scope, &rules, true, &why);
        if (status == STATUS_AGAIN) {
            return;
        }
        if (status != STATUS_OK) {
            struct stat file;
            if (stat(scope->path, &file) == 0) {
                scope->modified = file.st_mtim;
                scope->size = file.st_size;
            }
            log_warning("scope_kept", "file=%s reason=%s", scope->path, why.text);
        } else {
            rules_free(scope->rules);
            scope->rules = rules;
            log_info("scope_changed", "file=%s version=%lu", scope->path,
                     (unsigned long)edition.version);
        }
    }
    scope->version = edition.version; /* also of a broken file: until it is mended these hold */
}

uint64_t
scope_at_least(struct scope *scope, uint64_t least)
{
    if (scope->version < least) {
        scope_refresh(scope);
    }
    return scope->version;
}

bool
scope_is_said(const struct scope *scope)
{
    return !scope->rules->everywhere;
}

static bool
host_is_local(struct slice host)
{
    return slice_equal_nocase(host, SLICE("localhost")) || slice_starts(host, SLICE("127.")) ||
           slice_is(host, "::1") || slice_is(host, "[::1]");
}

bool
scope_is_local(const struct scope *scope)
{
    const struct rules *rules = scope->rules;
    bool local = rules->hosts.count > 0;
    for (size_t i = 0; i < rules->hosts.count && local; i++) {
        local = host_is_local(slice_string(rules->hosts.sorted[i]));
    }
    return local && rules->domains.count + rules->prefix_count + rules->include.count == 0;
}

/* The host itself, or a domain it is in: what follows each of its dots. */
static bool
host_matches(const struct rules *rules, struct slice host)
{
    if (rules->every_host || names_hold(&rules->hosts, host)) {
        return true;
    }
    while (rules->domains.count > 0 && host.length > 0) {
        if (names_hold(&rules->domains, host)) {
            return true;
        }
        const size_t dot = slice_find(host, '.');
        const size_t step = dot < host.length ? dot + 1 : dot;
        host = slice_of(host.at + step, host.length - step);
    }
    return false;
}

/* too_hard: the answer for a URI that takes more than MATCH_LIMIT steps. */
static bool
patterns_match(const struct pattern_list *list, const char *uri, bool too_hard)
{
    for (size_t i = 0; i < list->count; i++) {
        const int found = pcre2_match(list->compiled[i], (PCRE2_SPTR)uri, PCRE2_ZERO_TERMINATED, 0,
                                      0, list->match, list->limits);
        if (found >= 0 || (found != PCRE2_ERROR_NOMATCH && too_hard)) {
            return true;
        }
    }
    return false;
}

static bool
path_repeats(struct slice path, uint32_t most)
{
    struct slice segments[SEGMENT_MAXIMUM];
    size_t n = 0;
    path.length = slice_find(path, '?');
    while (path.length > 0) {
        const size_t end = slice_find(path, '/');
        const struct slice segment = slice_of(path.at, end);
        if (segment.length > 0) {
            uint32_t same = 1;
            for (size_t i = 0; i < n; i++) {
                same += slice_equal(segments[i], segment);
            }
            if (same > most || n == SEGMENT_MAXIMUM) {
                return true;
            }
            segments[n++] = segment;
        }
        const size_t step = end < path.length ? end + 1 : end;
        path = slice_of(path.at + step, path.length - step);
    }
    return false;
}

static const char *
refusal(const struct rules *rules, struct slice key, uint32_t depth)
{
    if (depth > rules->depth) {
        return "scope.depth";
    }
    const uint32_t most = rules->traps.cycles;
    if (most > 0 && path_repeats(url_path_query(key), most)) {
        return "traps.cycles: a segment stands too often";
    }
    const char *trap = trap_refusal(&rules->traps, key);
    if (trap != NULL) {
        return trap;
    }
    char uri[URL_MAXIMUM + 1] = "";
    if (rules->include.count + rules->exclude.count > 0) {
        if (key.length > URL_MAXIMUM) {
            return "length";
        }
        memcpy(uri, key.at, key.length);
        uri[key.length] = '\0';
        if (patterns_match(&rules->exclude, uri, true)) {
            return "scope.exclude";
        }
    }
    if (rules->everywhere || host_matches(rules, url_host(key)) ||
        patterns_match(&rules->include, uri, false)) {
        return NULL;
    }
    for (size_t i = 0; i < rules->prefix_count; i++) {
        if (slice_starts(key, slice_string(rules->prefixes[i]))) {
            return NULL;
        }
    }
    return "outside of scope.hosts, scope.domains, scope.prefixes and scope.include";
}

bool
scope_allows(struct scope *scope, struct slice key, uint32_t depth, const char **because)
{
    const char *refused = refusal(scope->rules, key, depth);
    if (because != NULL) {
        *because = refused;
    }
    return refused == NULL;
}

/* ---- writing DIR/scope.conf ---- */

/* Tells whether the assignments are right. */
static enum status
scope_check(const char *const *assignments, size_t n, struct reason *why)
{
    static const struct opt *const tables[] = {scope_options, NULL};
    struct opt_set *check = opt_set_new(tables);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        status = opt_set_assign(check, assignments[i], why);
    }
    for (int i = 0; i < PATTERN_COUNT && status == STATUS_OK; i++) {
        struct pattern_list list = {NULL, 0};
        status = patterns_compile(&list, check, i == 0 ? "scope.include" : "scope.exclude", why);
        patterns_release(&list);
    }
    opt_set_free(check);
    return status;
}

enum status
scope_save(const char *directory, const char *const *assignments, size_t n, struct reason *why)
{
    int lock;
    TRY(scope_check(assignments, n, why));
    TRY(scope_file_lock(directory, &lock, why));
    enum status status = scope_file_set(directory, assignments, n, why);
    if (status == STATUS_OK) {
        status = scope_file_settle(directory, NULL, why);
    }
    close(lock);
    return status;
}
