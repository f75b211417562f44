#include "transforms/core/registry.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum { LINE_MAXIMUM = 4096, WORDS_MAXIMUM = 64 };

/* One line: all conditions given must hold. NULL: any. */
struct match {
    char *type, *root, *namespace, *profile, *header;
    size_t chain[REGISTRY_CHAIN];
    size_t count;
};

struct registry {
    struct transform transforms[REGISTRY_TRANSFORMS];
    size_t transform_count;
    struct match matches[REGISTRY_MATCHES];
    size_t match_count;
    char *folder;
};

struct place {
    const char *path;
    unsigned line;
};

struct registry *
registry_new(void)
{
    return memory_new(sizeof(struct registry));
}

void
registry_free(struct registry *registry)
{
    for (size_t i = 0; registry && i < registry->transform_count; i++) {
        free(registry->transforms[i].argument);
        free(registry->transforms[i].version);
        free(registry->transforms[i].folder);
    }
    for (size_t i = 0; registry && i < registry->match_count; i++) {
        struct match *match = &registry->matches[i];
        free(match->type);
        free(match->root);
        free(match->namespace);
        free(match->profile);
        free(match->header);
    }
    if (registry) {
        free(registry->folder);
    }
    free(registry);
}

const char *
registry_folder(const struct registry *registry)
{
    return registry->folder;
}

size_t
registry_count(const struct registry *registry)
{
    return registry->transform_count;
}

struct transform *
registry_transform(struct registry *registry, size_t index)
{
    return &registry->transforms[index];
}

struct transform *
registry_find(struct registry *registry, struct slice name)
{
    for (size_t i = 0; i < registry->transform_count; i++) {
        if (slice_is(name, registry->transforms[i].name)) {
            return &registry->transforms[i];
        }
    }
    return NULL;
}

/* ---- reading ---- */

static enum status
fault(const struct place *place, struct reason *why, const char *text, const char *word)
{
    return status_fail(why, STATUS_MISUSE, "%s:%u: %s%s%s", place->path, place->line, text,
                       word ? " " : "", word ? word : "");
}

static char *
beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    if (name[0] == '/' || !slash) {
        return memory_string(name);
    }
    struct buf joined;
    buf_init(&joined, PATH_MAX);
    buf_printf(&joined, "%.*s/%s", (int)(slash - path), path, name);
    char *result = memory_string(joined.data ? joined.data : name);
    buf_release(&joined);
    return result;
}

/* The one of this name, or a new one; NULL: there are too many. */
static struct transform *
transform_for(struct registry *registry, struct slice name)
{
    struct transform *known = registry_find(registry, name);
    if (known || registry->transform_count == REGISTRY_TRANSFORMS) {
        return known;
    }
    return &registry->transforms[registry->transform_count++];
}

/* Takes "repair=tidy" off the end of a stylesheet's line. */
static enum status
read_repair(const struct place *place, enum transform_kind kind, char **words, size_t *count,
            bool *tidy, struct reason *why)
{
    const char *last = words[*count - 1];
    *tidy = false;
    if (strncmp(last, "repair=", strlen("repair=")) != 0) {
        return STATUS_OK;
    }
    if (kind != TRANSFORM_XSLT || *count < 6) {
        return fault(place, why, "repair= is for pages that a stylesheet reads:", words[1]);
    }
    if (strcmp(last, "repair=tidy") != 0) {
        return fault(place, why, "no repair is known but repair=tidy:", last);
    }
    *tidy = true;
    --*count;
    return STATUS_OK;
}

/* "transform NAME VERSION KIND ARGUMENT... [repair=tidy]" */
static enum status
read_transform(struct registry *registry, const struct place *place, char **words, size_t count,
               struct reason *why)
{
    static const char *const kinds[] = {"builtin", "rdf", "xslt", "program"};
    if (count < 5) {
        return fault(place, why, "a transform needs name, version, kind and argument", NULL);
    }
    if (strlen(words[1]) >= REGISTRY_NAME) {
        return fault(place, why, "name is too long:", words[1]);
    }
    size_t kind = 0;
    while (kind < 4 && strcmp(kinds[kind], words[3]) != 0) {
        kind++;
    }
    if (kind == 4) {
        return fault(place, why, "kind is none of builtin, rdf, xslt, program:", words[3]);
    }
    bool tidy;
    TRY(read_repair(place, (enum transform_kind)kind, words, &count, &tidy, why));
    struct transform *transform = transform_for(registry, slice_string(words[1]));
    if (!transform) {
        return fault(place, why, "too many transforms", NULL);
    }
    struct buf argument;
    buf_init(&argument, LINE_MAXIMUM);
    for (size_t i = 4; i < count; i++) {
        buf_printf(&argument, "%s%s", i > 4 ? " " : "", words[i]);
    }
    free(transform->argument);
    free(transform->version);
    free(transform->folder);
    *transform = (struct transform){.kind = (enum transform_kind)kind, .tidy = tidy};
    transform->folder = beside(place->path, ".");
    memcpy(transform->name, words[1], strlen(words[1]));
    transform->version = memory_string(words[2]);
    transform->argument =
        kind == TRANSFORM_XSLT ? beside(place->path, argument.data) : memory_string(argument.data);
    buf_release(&argument);
    return STATUS_OK;
}

static bool
condition(char *word, const char *key, char **value)
{
    const size_t n = strlen(key);
    if (strncmp(word, key, n) != 0) {
        return false;
    }
    free(*value);
    *value = memory_string(word + n);
    return true;
}

/* "match TYPE [root=NAME] [namespace=IRI] [profile=IRI] [header=link] -> NAME..." */
static enum status
read_match(struct registry *registry, const struct place *place, char **words, size_t count,
           struct reason *why)
{
    if (registry->match_count == REGISTRY_MATCHES) {
        return fault(place, why, "too many matches", NULL);
    }
    if (count < 4) {
        return fault(place, why, "a match needs a type, -> and transforms", NULL);
    }
    struct match *match = &registry->matches[registry->match_count++];
    *match = (struct match){0};
    match->type = strcmp(words[1], "*") == 0 ? NULL : memory_string(words[1]);
    size_t i = 2;
    for (; i < count && strcmp(words[i], "->") != 0; i++) {
        if (!condition(words[i], "root=", &match->root) &&
            !condition(words[i], "namespace=", &match->namespace) &&
            !condition(words[i], "profile=", &match->profile) &&
            !condition(words[i], "header=", &match->header)) {
            return fault(place, why,
                         "neither root=, namespace=, profile=, header= nor ->:", words[i]);
        }
    }
    if (match->header && strcmp(match->header, "link") != 0) {
        return fault(place, why, "no header but link is looked at:", match->header);
    }
    if (!match->type && !match->root && !match->namespace && !match->profile && !match->header) {
        return fault(place, why, "a match of any type needs another condition", NULL);
    }
    for (i++; i < count; i++) {
        const struct transform *transform = registry_find(registry, slice_string(words[i]));
        if (!transform) {
            return fault(place, why, "no transform of this name stands above:", words[i]);
        }
        if (match->count == REGISTRY_CHAIN) {
            return fault(place, why, "too many transforms in one match", NULL);
        }
        match->chain[match->count++] = (size_t)(transform - registry->transforms);
    }
    return match->count > 0 ? STATUS_OK : fault(place, why, "nothing stands after ->", NULL);
}

static enum status
read_off(struct registry *registry, const struct place *place, char **words, size_t count,
         struct reason *why)
{
    for (size_t i = 1; i < count; i++) {
        struct transform *transform = registry_find(registry, slice_string(words[i]));
        if (!transform) {
            return fault(place, why, "no transform of this name stands above:", words[i]);
        }
        transform->off = true;
    }
    return STATUS_OK;
}

static enum status
read_line(struct registry *registry, const struct place *place, char *line, struct reason *why)
{
    char *words[WORDS_MAXIMUM], *save = NULL;
    size_t count = 0;
    for (char *word = strtok_r(line, " \t\r\n", &save); word && count < WORDS_MAXIMUM;
         word = strtok_r(NULL, " \t\r\n", &save)) {
        words[count++] = word;
    }
    if (count == 0 || words[0][0] == '#') {
        return STATUS_OK;
    }
    if (strcmp(words[0], "transform") == 0) {
        return read_transform(registry, place, words, count, why);
    }
    if (strcmp(words[0], "match") == 0) {
        return read_match(registry, place, words, count, why);
    }
    if (strcmp(words[0], "off") == 0) {
        return read_off(registry, place, words, count, why);
    }
    return fault(place, why, "a line begins with transform, match or off, not", words[0]);
}

enum status
registry_read(struct registry *registry, const char *path, struct reason *why)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        return status_fail_errno(why, "cannot open the registry %s", path);
    }
    struct place place = {path, 0};
    char line[LINE_MAXIMUM];
    enum status status = STATUS_OK;
    while (status == STATUS_OK && fgets(line, sizeof line, file)) {
        place.line++;
        if (!strchr(line, '\n') && !feof(file)) {
            status = fault(&place, why, "the line is too long", NULL);
        } else {
            status = read_line(registry, &place, line, why);
        }
    }
    fclose(file);
    return status;
}

enum status
registry_read_default(struct registry *registry, struct reason *why)
{
    /* The folder is found from build/bin, build/tests and build/asan/bin, and from PREFIX/bin. */
    static const char *const places[] = {"../share/quadrille", "../../transforms/data",
                                         "../../../transforms/data"};
    char executable[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    if (length <= 0) {
        return status_fail_errno(why, "cannot tell where this program lies");
    }
    executable[length] = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *folder = beside(executable, places[i]);
        struct buf path;
        buf_init(&path, PATH_MAX);
        buf_printf(&path, "%s/registry", folder);
        const bool found = path.data && access(path.data, R_OK) == 0;
        enum status status = STATUS_OK;
        if (found) {
            free(registry->folder);
            registry->folder = memory_string(folder);
            status = registry_read(registry, path.data, why);
        }
        free(folder);
        buf_release(&path);
        if (found) {
            return status;
        }
    }
    return status_fail(why, STATUS_NOT_FOUND,
                       "no registry of transforms: neither ../share/quadrille/registry nor "
                       "../../transforms/data/registry beside %s",
                       executable);
}

/* ---- matching ---- */

static bool
holds(const char *wanted, struct slice value)
{
    return !wanted || slice_is(value, wanted);
}

static bool
holds_word(const char *wanted, struct slice list)
{
    struct slice word = {NULL, 0};
    while (wanted && (word = slice_next_word(&list)).length > 0 && !slice_is(word, wanted)) {
    }
    return !wanted || word.length > 0;
}

bool
registry_wants_profile(const struct registry *registry)
{
    for (size_t i = 0; i < registry->match_count; i++) {
        if (registry->matches[i].profile) {
            return true;
        }
    }
    return false;
}

size_t
registry_match(struct registry *registry, const struct registry_subject *subject,
               struct transform *chain[REGISTRY_CHAIN])
{
    size_t count = 0;
    bool taken[REGISTRY_TRANSFORMS] = {false};
    for (size_t i = 0; i < registry->match_count; i++) {
        const struct match *match = &registry->matches[i];
        if (!holds(match->type, subject->type) || !holds(match->root, subject->root) ||
            !holds(match->namespace, subject->namespace) ||
            !holds_word(match->profile, subject->profile) ||
            !holds(match->header, subject->header)) {
            continue;
        }
        for (size_t n = 0; n < match->count && count < REGISTRY_CHAIN; n++) {
            struct transform *transform = &registry->transforms[match->chain[n]];
            if (!transform->off && !taken[match->chain[n]]) {
                taken[match->chain[n]] = true;
                if (chain) {
                    chain[count] = transform;
                }
                count++;
            }
        }
    }
    return count;
}

/* ---- for people ---- */

static bool
leads_to(const struct match *match, size_t index)
{
    for (size_t k = 0; k < match->count; k++) {
        if (match->chain[k] == index) {
            return true;
        }
    }
    return false;
}

bool
registry_may_match(const struct registry *registry, const struct transform *transform,
                   struct slice type)
{
    const size_t index = (size_t)(transform - registry->transforms);
    for (size_t i = 0; i < registry->match_count; i++) {
        const struct match *match = &registry->matches[i];
        if (leads_to(match, index) && (!match->type || slice_is(type, match->type))) {
            return !transform->off;
        }
    }
    return false;
}

static void
condition_text(struct buf *text, const char *name, const char *value)
{
    if (value) {
        buf_printf(text, " %s=%s", name, value);
    }
}

void
registry_matches_text(const struct registry *registry, const struct transform *transform,
                      struct buf *text)
{
    const size_t index = (size_t)(transform - registry->transforms);
    for (size_t i = 0; i < registry->match_count; i++) {
        const struct match *match = &registry->matches[i];
        if (leads_to(match, index)) {
            buf_printf(text, "%s%s", text->length > 0 ? ", " : "", match->type ? match->type : "*");
            condition_text(text, "root", match->root);
            condition_text(text, "namespace", match->namespace);
            condition_text(text, "profile", match->profile);
            condition_text(text, "header", match->header);
        }
    }
}

const char *
transform_kind_name(enum transform_kind kind)
{
    static const char *const names[] = {"builtin", "rdf", "xslt", "program"};
    return names[kind];
}
