#include "cli/shared/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/url/url.h"
#include "crawl/url_rules.h"

enum { PUT_BATCH = 1000 };

void
seeds_release(struct seeds *seeds)
{
    for (size_t i = 0; i < seeds->count; i++) {
        free(seeds->keys[i]);
    }
    free(seeds->keys);
    *seeds = (struct seeds){0};
}

enum status
seeds_add(struct seeds *seeds, const char *text, struct reason *why)
{
    struct buf key;
    buf_init(&key, 2 * URL_MAXIMUM);
    const enum status status = cli_document_key(text, &key, why);
    if (status == STATUS_OK) {
        if (seeds->count == seeds->capacity) {
            seeds->capacity = seeds->capacity * 2 + 16;
            seeds->keys = memory_resize(seeds->keys, seeds->capacity, sizeof *seeds->keys);
        }
        seeds->keys[seeds->count++] = memory_string(key.data);
    }
    buf_release(&key);
    return status;
}

enum status
seeds_add_file(struct seeds *seeds, const char *path, struct reason *why)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    enum status status = STATUS_OK;
    char *line = NULL;
    size_t capacity = 0, number = 0;
    ssize_t length;
    if (in == NULL) {
        status = status_fail_errno(why, "cannot read %s", path);
        return status;
    }
    while (status == STATUS_OK && (length = getline(&line, &capacity, in)) >= 0) {
        const struct slice text = slice_trim(slice_of(line, (size_t)length));
        number++;
        if (text.length > 0 && text.at[0] != '#') {
            char *copy = memory_string_n(text.at, text.length);
            status = seeds_add(seeds, copy, why);
            free(copy);
            status_prefix(why, status, "%s:%zu", path, number);
        }
    }
    if (status == STATUS_OK && ferror(in) != 0) { /* a folder, too, can be opened */
        status = status_fail_errno(why, "cannot read %s", path);
    }
    free(line);
    if (in != stdin) {
        fclose(in);
    }
    return status;
}

enum status
seeds_apply_rules(struct seeds *seeds, const struct opt_set *options, struct reason *why)
{
    struct url_rules rules = {0};
    struct buf key;
    buf_init(&key, 2 * URL_MAXIMUM);
    enum status status = url_rules_open(&rules, options, why);
    for (size_t i = 0; status == STATUS_OK && i < seeds->count; i++) {
        buf_reset(&key);
        status = url_rules_key(&rules, slice_string(seeds->keys[i]), (struct slice){0}, &key, why);
        if (status == STATUS_OK) {
            free(seeds->keys[i]);
            seeds->keys[i] = memory_string_n(key.data, key.length);
        }
    }
    url_rules_close(&rules);
    buf_release(&key);
    return status;
}

static int
by_bytes(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

enum status
seeds_scope(const struct seeds *seeds, const char *const *hosts, size_t host_count,
            struct buf *assignment, struct reason *why)
{
    struct slice *all = memory_zero(seeds->count + host_count + 1, sizeof *all);
    size_t n = 0, written = 0;
    for (size_t i = 0; i < seeds->count; i++) {
        all[n++] = url_host(slice_string(seeds->keys[i]));
    }
    for (size_t i = 0; i < host_count; i++) {
        all[n++] = slice_string(hosts[i]);
    }
    qsort(all, n, sizeof *all, by_bytes);
    buf_append_string(assignment, "scope.hosts=");
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !slice_equal(all[i], all[i - 1])) {
            buf_printf(assignment, "%s%.*s", written++ > 0 ? "," : "", SLICE_PRINT(all[i]));
        }
    }
    free(all);
    if (assignment->overflowed) {
        return status_fail(why, STATUS_LIMIT,
                           "too many hosts to be a scope; set scope.hosts=* or another scope");
    }
    return STATUS_OK;
}

enum status
seeds_put(const struct seeds *seeds, struct queue_client *queue, uint8_t flags,
          struct cli_patience *patience, struct reason *why)
{
    struct job *jobs = memory_zero(PUT_BATCH, sizeof *jobs);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < seeds->count && status == STATUS_OK;) {
        size_t n = 0;
        for (; n < PUT_BATCH && i < seeds->count; n++, i++) {
            const struct slice key = slice_string(seeds->keys[i]);
            jobs[n] = (struct job){.key.stage = STAGE_FETCH,
                                   .uri = key,
                                   .lane_name = url_origin(key),
                                   .priority = 128,
                                   .flags = flags};
        }
        status = patience != NULL ? cli_put_patiently(queue, jobs, n, patience, why)
                                  : cli_put_and_wait(queue, jobs, n, why);
    }
    free(jobs);
    return status;
}
