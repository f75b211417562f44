#include "examples/site.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { RULES_MAXIMUM = 256, LINE_SIZE = 4096 };

enum rule_kind {
    RULE_TYPE,
    RULE_ENCODING,
    RULE_REDIRECT,
    RULE_STATUS,
    RULE_CALENDAR,
    RULE_MAZE,
    RULE_ENDLESS
};

struct rule {
    enum rule_kind kind;
    char *path;
    char *value;     /* TYPE, ENCODING, REDIRECT */
    unsigned status; /* REDIRECT, STATUS */
};

struct site {
    char *host;
    int folder;
    struct rule *rules;
    size_t rule_count;
};

struct sites {
    struct site *items; /* ascending by host */
    size_t count;
};

/* ---- .serve ---- */

static const struct {
    const char *word;
    enum rule_kind kind;
    bool has_status, has_value;
} rule_words[] = {
    {"type", RULE_TYPE, false, true},          {"encoding", RULE_ENCODING, false, true},
    {"redirect", RULE_REDIRECT, true, true},   {"status", RULE_STATUS, true, false},
    {"calendar", RULE_CALENDAR, false, false}, {"maze", RULE_MAZE, false, false},
    {"endless", RULE_ENDLESS, false, false}};

/* The next word; the value of a rule takes the rest of the line. */
static char *
next_word(char **line)
{
    char *word = *line + strspn(*line, " \t");
    char *end = word + strcspn(word, " \t");
    *line = end + (*end != 0);
    *end = 0;
    return word;
}

static bool
parse_rule(struct site *site, char *line)
{
    const char *word = next_word(&line);
    for (size_t i = 0; i < sizeof rule_words / sizeof rule_words[0]; i++) {
        if (strcmp(word, rule_words[i].word) != 0) {
            continue;
        }
        struct rule *rule = &site->rules[site->rule_count];
        const char *path = next_word(&line);
        const char *status = rule_words[i].has_status ? next_word(&line) : "200";
        const char *value = line + strspn(line, " \t");
        *rule = (struct rule){.kind = rule_words[i].kind,
                              .status = (unsigned)strtoul(status, NULL, 10)};
        if (path[0] != '/' || rule->status < 200 || rule->status > 599 ||
            (value[0] != 0) != rule_words[i].has_value) {
            return false;
        }
        rule->path = memory_string(path);
        rule->value = value[0] != 0 ? memory_string(value) : NULL;
        site->rule_count++;
        return true;
    }
    return false;
}

static enum status
read_rules(struct site *site, struct reason *why)
{
    site->rules = memory_zero(RULES_MAXIMUM, sizeof *site->rules);
    const int descriptor = openat(site->folder, ".serve", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return errno == ENOENT ? STATUS_OK
                               : status_fail_errno(why, "cannot open %s/.serve", site->host);
    }
    FILE *file = fdopen(descriptor, "r");
    char line[LINE_SIZE];
    enum status status = STATUS_OK;
    for (int number = 1; status == STATUS_OK && fgets(line, sizeof line, file) != NULL; number++) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] != 0 && line[0] != '#' &&
            (site->rule_count == RULES_MAXIMUM || !parse_rule(site, line))) {
            status =
                status_fail(why, STATUS_MISUSE, "%s/.serve:%d: not understood", site->host, number);
        }
    }
    (void)fclose(file);
    return status;
}

/* ---- open and close ---- */

static int
compare_sites(const void *a, const void *b)
{
    return strcmp(((const struct site *)a)->host, ((const struct site *)b)->host);
}

enum status
sites_open(struct sites **opened, const char *folder, struct reason *why)
{
    *opened = NULL;
    DIR *list = opendir(folder);
    if (list == NULL) {
        return status_fail_errno(why, "cannot read %s", folder);
    }
    struct sites *sites = memory_new(sizeof *sites);
    enum status status = STATUS_OK;
    const struct dirent *entry;
    while (status == STATUS_OK && (entry = readdir(list)) != NULL) {
        const int host = entry->d_name[0] == '.' ? -1
                                                 : openat(dirfd(list), entry->d_name,
                                                          O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (host < 0) {
            continue;
        }
        sites->items = memory_resize(sites->items, sites->count + 1, sizeof *sites->items);
        struct site *site = &sites->items[sites->count++];
        *site = (struct site){.host = memory_string(entry->d_name), .folder = host};
        status = read_rules(site, why);
    }
    (void)closedir(list);
    if (status == STATUS_OK && sites->count == 0) {
        status = status_fail(why, STATUS_MISUSE, "%s has no folders", folder);
    }
    if (status != STATUS_OK) {
        sites_close(sites);
        return status;
    }
    qsort(sites->items, sites->count, sizeof *sites->items, compare_sites);
    *opened = sites;
    return STATUS_OK;
}

void
sites_close(struct sites *sites)
{
    for (size_t i = 0; sites != NULL && i < sites->count; i++) {
        struct site *site = &sites->items[i];
        for (size_t r = 0; r < site->rule_count; r++) {
            free(site->rules[r].path);
            free(site->rules[r].value);
        }
        free(site->rules);
        free(site->host);
        (void)close(site->folder);
    }
    if (sites != NULL) {
        free(sites->items);
        free(sites);
    }
}

size_t
sites_count(const struct sites *sites)
{
    return sites->count;
}

/* ---- pages made here ---- */

/* PREFIX YYYY/MM links to the next month and to two of its days, PREFIX YYYY/MM/DD back. */
static bool
calendar(const char *prefix, const char *rest, struct buf *text)
{
    int year;
    int month;
    int day = 0;
    int used = 0;
    if (sscanf(rest, "%4d/%2d%n", &year, &month, &used) != 2 || month < 1 || month > 12 ||
        year < 1) {
        return false;
    }
    if (rest[used] == '/') {
        int more = 0;
        if (sscanf(rest + used, "/%2d%n", &day, &more) != 1 || day < 1 || day > 28) {
            return false;
        }
        used += more;
    }
    if (rest[used] != 0) {
        return false;
    }
    const int next_year = month == 12 ? year + 1 : year;
    const int next_month = month == 12 ? 1 : month + 1;
    (void)buf_printf(text, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Events, %04d-%02d",
                     year, month);
    if (day > 0) {
        (void)buf_printf(text, "-%02d", day);
    }
    (void)buf_printf(text, "</title></head><body>\n<p>Nothing happens here, ever.</p>\n");
    if (day > 0) {
        (void)buf_printf(text, "<p><a href=\"%s%04d/%02d\">The whole month</a></p>\n", prefix, year,
                         month);
    } else {
        (void)buf_printf(text,
                         "<p><a href=\"%s%04d/%02d/07\">The 7th</a> "
                         "<a href=\"%s%04d/%02d/21\">The 21st</a> "
                         "<a rel=\"next\" href=\"%s%04d/%02d\">Next month</a></p>\n",
                         prefix, year, month, prefix, year, month, prefix, next_year, next_month);
    }
    (void)buf_append_string(text, "</body></html>\n");
    return true;
}

static void
maze(struct buf *text)
{
    (void)buf_append_string(text, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>A maze</title>"
                                  "</head><body>\n<p>All passages look alike: "
                                  "<a href=\"deeper/\">deeper</a>.</p>\n</body></html>\n");
}

static int
compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void
append_escaped(struct buf *text, const char *name)
{
    for (; *name != 0; name++) {
        const char *escaped = *name == '&'   ? "&amp;"
                              : *name == '<' ? "&lt;"
                              : *name == '"' ? "&quot;"
                                             : NULL;
        if (escaped != NULL) {
            (void)buf_append_string(text, escaped);
        } else {
            (void)buf_append_char(text, *name);
        }
    }
}

static void
append_encoded(struct buf *text, const char *name)
{
    for (; *name != 0; name++) {
        if (strchr(" \"#%<>?[]^`{|}&", *name) != NULL || (unsigned char)*name >= 0x80) {
            (void)buf_printf(text, "%%%02X", (unsigned char)*name);
        } else {
            (void)buf_append_char(text, *name);
        }
    }
}

/* A folder without an index page. */
static enum site_kind
list_folder(const struct site *site, const char *relative, struct buf *text,
            struct site_answer *answer)
{
    struct dirent **names;
    const int count = scandirat(site->folder, relative, &names, NULL, compare_names);
    if (count < 0) {
        answer->status = 500;
        return SITE_STATUS;
    }
    (void)buf_append_string(text, "<!DOCTYPE html>\n<html><head><title>Index of /");
    append_escaped(text, strcmp(relative, ".") == 0 ? "" : relative);
    (void)buf_append_string(text, "</title></head><body><ul>\n");
    for (int i = 0; i < count; i++) {
        struct stat info;
        char path[SITE_PATH_SIZE * 2];
        snprintf(path, sizeof path, "%s/%s", relative, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && fstatat(site->folder, path, &info, 0) == 0) {
            const char *slash = S_ISDIR(info.st_mode) ? "/" : "";
            (void)buf_append_string(text, "<li><a href=\"");
            append_encoded(text, names[i]->d_name);
            (void)buf_printf(text, "%s\">", slash);
            append_escaped(text, names[i]->d_name);
            (void)buf_printf(text, "%s</a></li>\n", slash);
        }
        free(names[i]);
    }
    free(names);
    (void)buf_append_string(text, "</ul></body></html>\n");
    return SITE_TEXT;
}

/* ---- files ---- */

static const char *
type_of(const char *name)
{
    static const char *const types[][2] = {
        {"html", "text/html; charset=utf-8"},
        {"htm", "text/html"},
        {"xhtml", "application/xhtml+xml"},
        {"xht", "application/xhtml+xml"},
        {"rdf", "application/rdf+xml"},
        {"owl", "application/rdf+xml"},
        {"ttl", "text/turtle"},
        {"n3", "text/n3"},
        {"nt", "application/n-triples"},
        {"nq", "application/n-quads"},
        {"trig", "application/trig"},
        {"jsonld", "application/ld+json"},
        {"json", "application/json"},
        {"rss", "application/rss+xml"},
        {"atom", "application/atom+xml"},
        {"xml", "text/xml"},
        {"xsl", "text/xml"},
        {"xsd", "text/xml"},
        {"wsdl", "text/xml"},
        {"txt", "text/plain"},
        {"md", "text/plain"},
        {"css", "text/css"},
        {"js", "application/javascript"},
        {"csv", "text/csv"},
        {"opml", "text/x-opml"},
        {"ics", "text/calendar"},
        {"vcf", "text/vcard"},
        {"png", "image/png"},
        {"gif", "image/gif"},
        {"jpg", "image/jpeg"},
        {"jpeg", "image/jpeg"},
        {"svg", "image/svg+xml"},
        {"ico", "image/x-icon"},
        {"pdf", "application/pdf"},
        {"gz", "application/gzip"},
        {"zip", "application/zip"},
        {"bz2", "application/x-bzip2"},
    };
    const char *dot = strrchr(name, '.');
    const char *slash = strrchr(name, '/');
    for (size_t i = 0;
         dot != NULL && (slash == NULL || dot > slash) && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(dot + 1, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return "application/octet-stream";
}

/* The file, if it is a regular one. */
static bool
open_file(const struct site *site, const char *relative, struct site_answer *answer)
{
    struct stat info;
    const int file = openat(site->folder, relative, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(file);
        return false;
    }
    *answer = (struct site_answer){.file = file,
                                   .size = (uint64_t)info.st_size,
                                   .modified = info.st_mtime,
                                   .type = type_of(relative)};
    return true;
}

static bool
is_folder(const struct site *site, const char *relative)
{
    struct stat info;
    return fstatat(site->folder, relative, &info, 0) == 0 && S_ISDIR(info.st_mode);
}

/* "/a//b/" to "a/b"; false for segments that begin with a dot, and for what is too long. */
static bool
relative_path(const char *path, char relative[SITE_PATH_SIZE])
{
    size_t length = 0;
    while (*path != 0) {
        path += strspn(path, "/");
        const size_t segment = strcspn(path, "/");
        if (segment == 0) {
            break;
        }
        if (path[0] == '.' || length + segment + 2 > SITE_PATH_SIZE) {
            return false;
        }
        if (length > 0) {
            relative[length++] = '/';
        }
        memcpy(relative + length, path, segment);
        length += segment;
        path += segment;
    }
    if (length == 0) {
        relative[length++] = '.';
    }
    relative[length] = 0;
    return true;
}

static enum site_kind
find_in_folder(const struct site *site, const char *relative, struct site_answer *answer,
               struct buf *text)
{
    static const char *const pages[] = {"index.html", "index.htm", "index.xhtml"};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        char page[SITE_PATH_SIZE + 16];
        snprintf(page, sizeof page, "%s/%s", relative, pages[i]);
        if (open_file(site, page, answer)) {
            return SITE_FILE;
        }
    }
    return list_folder(site, relative, text, answer);
}

static enum site_kind
find_file(const struct site *site, const char *path, struct site_answer *answer, struct buf *text)
{
    char relative[SITE_PATH_SIZE];
    char page[SITE_PATH_SIZE + 16];
    answer->status = 404;
    if (!relative_path(path, relative)) {
        return SITE_STATUS;
    }
    const bool slash = path[0] != 0 && path[strlen(path) - 1] == '/';
    if (is_folder(site, relative)) {
        if (slash) {
            return find_in_folder(site, relative, answer, text);
        }
        (void)buf_printf(text, "http://%s/", site->host);
        append_encoded(text, relative);
        (void)buf_append_char(text, '/');
        answer->status = 301;
        return SITE_REDIRECT;
    }
    snprintf(page, sizeof page, "%s.html", relative);
    if (!slash && (open_file(site, relative, answer) || open_file(site, page, answer))) {
        return SITE_FILE;
    }
    return SITE_STATUS;
}

/* ---- rules ---- */

static bool
rule_matches(const struct rule *rule, const char *path)
{
    if (rule->kind == RULE_CALENDAR || rule->kind == RULE_MAZE) {
        return strncmp(path, rule->path, strlen(rule->path)) == 0;
    }
    return strcmp(path, rule->path) == 0;
}

/* True when the rule answers by itself. */
static bool
apply_rule(const struct rule *rule, const char *path, struct site_answer *answer, struct buf *text,
           enum site_kind *kind)
{
    answer->status = rule->status;
    switch (rule->kind) {
    case RULE_REDIRECT:
        (void)buf_append_string(text, rule->value);
        *kind = SITE_REDIRECT;
        return true;
    case RULE_STATUS:
        *kind = SITE_STATUS;
        return true;
    case RULE_CALENDAR:
        *kind = SITE_TEXT;
        return calendar(rule->path, path + strlen(rule->path), text);
    case RULE_MAZE:
        maze(text);
        *kind = SITE_TEXT;
        return true;
    case RULE_ENDLESS:
        *kind = SITE_ENDLESS;
        return true;
    case RULE_TYPE:
    case RULE_ENCODING:
        break;
    }
    return false;
}

enum site_kind
site_find(const struct sites *sites, const char *host, const char *path, struct site_answer *answer,
          struct buf *text)
{
    const struct site wanted = {.host = (char *)(uintptr_t)host};
    const struct site *site =
        bsearch(&wanted, sites->items, sites->count, sizeof *sites->items, compare_sites);
    enum site_kind kind = SITE_STATUS;
    const char *type = NULL, *encoding = NULL;
    answer->file = -1;
    answer->encoding = NULL;
    if (site == NULL) {
        answer->status = 421;
        return SITE_STATUS;
    }
    for (size_t i = 0; i < site->rule_count; i++) {
        const struct rule *rule = &site->rules[i];
        if (!rule_matches(rule, path)) {
            continue;
        }
        if (rule->kind == RULE_TYPE) {
            type = rule->value;
        } else if (rule->kind == RULE_ENCODING) {
            encoding = rule->value;
        } else if (apply_rule(rule, path, answer, text, &kind)) {
            return kind;
        }
    }
    kind = find_file(site, path, answer, text);
    if (kind == SITE_FILE && type != NULL) {
        answer->type = strcmp(type, "none") == 0 ? NULL : type;
    }
    answer->encoding = kind == SITE_FILE ? encoding : NULL;
    return kind;
}
