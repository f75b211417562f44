#include "tests/power_loss/disk_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/file.h"

enum { TRACE_MAXIMUM = 1 << 30 };

static size_t
add_node(struct disk_trace *trace, uint64_t inode, bool is_folder)
{
    trace->nodes = memory_resize(trace->nodes, trace->node_count + 1, sizeof *trace->nodes);
    trace->nodes[trace->node_count] = (struct node){.inode = inode, .is_folder = is_folder};
    return trace->node_count++;
}

/* The latest of that number. */
static size_t
node_of(const struct disk_trace *trace, uint64_t inode)
{
    for (size_t i = trace->node_count; i-- > 0;) {
        if (trace->nodes[i].inode == inode) {
            return i;
        }
    }
    return NONE;
}

void
entries_set(struct entries *entries, struct slice name, size_t node)
{
    size_t i = 0;
    while (i < entries->count && !slice_equal(entries->list[i].name, name)) {
        i++;
    }
    if (node == NONE) {
        if (i < entries->count) {
            entries->list[i] = entries->list[--entries->count];
        }
        return;
    }
    if (i == entries->count) {
        entries->list = memory_resize(entries->list, ++entries->count, sizeof *entries->list);
    }
    entries->list[i] = (struct entry){name, node};
}

static size_t
entries_get(const struct entries *entries, struct slice name)
{
    for (size_t i = 0; i < entries->count; i++) {
        if (slice_equal(entries->list[i].name, name)) {
            return entries->list[i].node;
        }
    }
    return NONE;
}

/* Says of which nodes an operation is, and follows the names. */
static void
place_operation(struct disk_trace *trace, struct operation *o, const struct trace_record *record)
{
    switch (o->kind) {
    case TRACE_CREATE:
    case TRACE_MKDIR:
        o->folder = node_of(trace, record->folder);
        o->node = add_node(trace, record->inode, o->kind == TRACE_MKDIR);
        break;
    case TRACE_LINK:
        o->folder = node_of(trace, record->folder);
        o->node = node_of(trace, record->inode);
        break;
    case TRACE_UNLINK:
        o->folder = node_of(trace, record->folder);
        break;
    case TRACE_RENAME:
        o->folder = node_of(trace, record->folder2);
        o->folder_before = node_of(trace, record->folder);
        if (o->folder_before != NONE) {
            o->node = entries_get(&trace->nodes[o->folder_before].entries, o->name);
        }
        break;
    case TRACE_MARK:
        break;
    default:
        o->node = node_of(trace, record->inode);
        break;
    }
    if (o->folder == NONE) {
        return;
    }
    if (o->kind == TRACE_RENAME) {
        entries_set(&trace->nodes[o->folder_before].entries, o->name, NONE);
        entries_set(&trace->nodes[o->folder].entries, o->name2, o->node);
    } else {
        entries_set(&trace->nodes[o->folder].entries, o->name, o->node);
    }
}

static void
read_operations(struct disk_trace *trace)
{
    struct slice rest = buf_slice(&trace->bytes);
    size_t capacity = 0;
    struct trace_record record;
    while (rest.length >= sizeof record) {
        memcpy(&record, rest.at, sizeof record);
        const size_t names = (size_t)record.name_length + record.name2_length;
        if (rest.length - sizeof record < names + record.length) {
            break; /* killed while it was written */
        }
        const char *at = rest.at + sizeof record;
        if (trace->count == 0) {
            (void)add_node(trace, record.folder, true); /* the first folder is the whole */
        }
        if (trace->count == capacity) {
            capacity = 2 * capacity + 1024;
            trace->operations =
                memory_resize(trace->operations, capacity, sizeof(struct operation));
        }
        struct operation *o = &trace->operations[trace->count++];
        *o = (struct operation){
            .kind = (enum trace_kind)record.kind,
            .node = NONE,
            .folder = NONE,
            .folder_before = NONE,
            .site = NONE,
            .name = slice_of(at, record.name_length),
            .name2 = slice_of(at + record.name_length, record.name2_length),
            .bytes = slice_of(at + names, (size_t)record.length),
            .offset = record.offset,
        };
        place_operation(trace, o, &record);
        rest = slice_of(at + names + record.length,
                        rest.length - sizeof record - names - (size_t)record.length);
    }
}

struct disk_trace *
disk_trace_read(const char *path)
{
    struct disk_trace *trace = memory_new(sizeof *trace);
    struct reason why = {""};
    buf_init(&trace->bytes, TRACE_MAXIMUM);
    if (file_read(path, &trace->bytes, &why) != STATUS_OK) {
        fprintf(stderr, "%s\n", why.text);
        disk_trace_free(trace);
        return NULL;
    }
    read_operations(trace);
    return trace;
}

void
disk_trace_free(struct disk_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    for (size_t i = 0; i < trace->node_count; i++) {
        free(trace->nodes[i].entries.list);
    }
    for (size_t i = 0; i < trace->site_count; i++) {
        free(trace->sites[i].name);
    }
    free(trace->sites);
    free(trace->nodes);
    free(trace->operations);
    buf_release(&trace->bytes);
    free(trace);
}

size_t
disk_operations(const struct disk_trace *trace)
{
    return trace->count;
}

size_t
disk_marks(const struct disk_trace *trace, size_t at)
{
    size_t count = 0;
    for (size_t i = 0; i < at && i < trace->count; i++) {
        count += trace->operations[i].kind == TRACE_MARK;
    }
    return count;
}

bool
disk_mark(const struct disk_trace *trace, size_t n, struct slice *text, size_t *at)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->operations[i].kind == TRACE_MARK && n-- == 0) {
            *text = trace->operations[i].bytes;
            *at = i + 1;
            return true;
        }
    }
    return false;
}

bool
disk_is_database(struct slice name)
{
    return name.length > 3 && memcmp(name.at + name.length - 3, ".db", 3) == 0;
}

static bool
is_page_write(const struct disk_trace *trace, const struct operation *o)
{
    if (o->kind != TRACE_WRITE || o->node == NONE) {
        return false;
    }
    for (size_t i = 0; i < trace->node_count; i++) {
        for (size_t k = 0; k < trace->nodes[i].entries.count; k++) {
            const struct entry *entry = &trace->nodes[i].entries.list[k];
            if (entry->node == o->node) {
                return disk_is_database(entry->name);
            }
        }
    }
    return false;
}

size_t
disk_page_write(const struct disk_trace *trace, size_t n)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (is_page_write(trace, &trace->operations[i]) && n-- == 0) {
            return i + 1;
        }
    }
    return trace->count;
}

size_t
disk_page_writes(const struct disk_trace *trace)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->count; i++) {
        count += is_page_write(trace, &trace->operations[i]);
    }
    return count;
}
