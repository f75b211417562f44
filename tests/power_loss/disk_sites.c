/* Which lines of the sources the syncs of a trace came from, by addr2line(1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "tests/power_loss/disk_trace.h"

enum { LINE = 4096, COMMAND_MAXIMUM = 1 << 20 };

struct call {
    char *module, *function, *source; /* the latter two are found later; NULL: unknown */
    unsigned long address;
};

struct calls {
    struct call *list;
    size_t count;
};

static struct call *
call_of(struct calls *calls, const char *module, unsigned long address)
{
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->list[i].address == address && strcmp(calls->list[i].module, module) == 0) {
            return &calls->list[i];
        }
    }
    calls->list = memory_resize(calls->list, ++calls->count, sizeof *calls->list);
    struct call *call = &calls->list[calls->count - 1];
    *call = (struct call){.module = memory_string(module), .address = address};
    return call;
}

/* The next line "module address" of a sync's calls. */
static bool
next_call(struct slice *rest, char module[LINE], unsigned long *address)
{
    const char *end = rest->length > 0 ? memchr(rest->at, '\n', rest->length) : NULL;
    if (end == NULL) {
        return false;
    }
    char line[LINE];
    snprintf(line, sizeof line, "%.*s", (int)(end - rest->at), rest->at);
    *rest = slice_of(end + 1, rest->length - (size_t)(end + 1 - rest->at));
    char *space = strrchr(line, ' ');
    if (space == NULL) {
        return false;
    }
    *space = '\0';
    snprintf(module, LINE, "%s", line);
    *address = strtoul(space + 1, NULL, 16);
    return true;
}

/* The path below the folder where the sources lie, which is where this runs; a compiler's cache may
 * have taken the object from another copy of them. NULL: it is none of them. */
static char *
short_source(const char *line)
{
    char *text = memory_string(line), *path = NULL;
    text[strcspn(text, " \n")] = '\0';
    text[strcspn(text, ":")] = '\0';
    for (char *at = text; at != NULL && path == NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (*at != '/' && access(at, F_OK) == 0) {
            path = memory_string(line + (at - text));
            path[strcspn(path, " \n")] = '\0';
        }
    }
    free(text);
    return path;
}

static void
look_up(struct calls *calls, const char *module)
{
    struct buf command;
    char function[LINE], source[LINE];
    buf_init(&command, COMMAND_MAXIMUM);
    (void)buf_printf(&command, "addr2line -f -e '%s'", module);
    for (size_t i = 0; i < calls->count; i++) {
        if (strcmp(calls->list[i].module, module) == 0) {
            (void)buf_printf(&command, " %lx", calls->list[i].address - 1);
        }
    }
    FILE *lines = command.overflowed ? NULL : popen(command.data, "r");
    for (size_t i = 0; lines != NULL && i < calls->count; i++) {
        if (strcmp(calls->list[i].module, module) != 0) {
            continue;
        }
        if (fgets(function, sizeof function, lines) == NULL ||
            fgets(source, sizeof source, lines) == NULL) {
            break;
        }
        function[strcspn(function, "\n")] = '\0';
        calls->list[i].function = memory_string(function);
        calls->list[i].source = short_source(source);
    }
    if (lines != NULL) {
        pclose(lines);
    }
    buf_release(&command);
}

/* Returns whether the function only passes the call on. */
static bool
is_between(const struct call *call)
{
    static const char *const names[] = {"counted_fsync",    "environment_sync_file",
                                        "file_sync_folder", "file_make_folder",
                                        "sync_parent",      "synced",
                                        "note_sync"};
    bool found = call->source == NULL || strstr(call->source, "power_loss/recorder") != NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        found = found || (call->function != NULL && strcmp(call->function, names[i]) == 0);
    }
    return found;
}

static const char *
kind_of(const struct disk_trace *trace, const struct operation *sync)
{
    if (sync->node != NONE && trace->nodes[sync->node].is_folder) {
        return "folder";
    }
    struct slice name = SLICE("");
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->operations[i].node == sync->node && trace->operations[i].kind == TRACE_CREATE) {
            name = trace->operations[i].name;
        }
    }
    return name.length > 4 && memcmp(name.at, "log.", 4) == 0                    ? "log"
           : name.length > 3 && memcmp(name.at + name.length - 3, ".db", 3) == 0 ? "tree"
                                                                                 : "file";
}

static void
number_site(struct disk_trace *trace, struct operation *sync, struct calls *calls)
{
    struct slice rest = sync->bytes;
    char module[LINE], name[2 * LINE] = "";
    unsigned long address;
    while (name[0] == '\0' && next_call(&rest, module, &address)) {
        const struct call *call = call_of(calls, module, address);
        if (!is_between(call)) {
            snprintf(name, sizeof name, "%s %s: %s", call->source, call->function,
                     kind_of(trace, sync));
        }
    }
    for (sync->site = 0; sync->site < trace->site_count; sync->site++) {
        if (strcmp(trace->sites[sync->site].name, name) == 0) {
            break;
        }
    }
    if (sync->site == trace->site_count) {
        trace->sites = memory_resize(trace->sites, ++trace->site_count, sizeof *trace->sites);
        trace->sites[sync->site] = (struct site){.name = memory_string(name)};
    }
    trace->sites[sync->site].syncs++;
}

void
disk_find_sites(struct disk_trace *trace)
{
    struct calls calls = {0};
    char module[LINE];
    unsigned long address;
    for (size_t i = 0; i < trace->count; i++) {
        struct slice rest = trace->operations[i].bytes;
        while (trace->operations[i].kind == TRACE_SYNC && next_call(&rest, module, &address)) {
            (void)call_of(&calls, module, address);
        }
    }
    for (size_t i = 0; i < calls.count; i++) {
        if (calls.list[i].function == NULL) {
            look_up(&calls, calls.list[i].module);
        }
    }
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->operations[i].kind == TRACE_SYNC) {
            number_site(trace, &trace->operations[i], &calls);
        }
    }
    for (size_t i = 0; i < calls.count; i++) {
        free(calls.list[i].module);
        free(calls.list[i].function);
        free(calls.list[i].source);
    }
    free(calls.list);
}

size_t
disk_sites(const struct disk_trace *trace)
{
    return trace->site_count;
}

const char *
disk_site_name(const struct disk_trace *trace, size_t site)
{
    return trace->sites[site].name;
}

size_t
disk_site_syncs(const struct disk_trace *trace, size_t site)
{
    return trace->sites[site].syncs;
}

size_t
disk_site_at(const struct disk_trace *trace, size_t site, size_t n)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->operations[i].kind == TRACE_SYNC && trace->operations[i].site == site &&
            n-- == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}
