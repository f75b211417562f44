#include "tests/power_loss/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "tests/power_loss/disk_trace.h"

enum { SECTOR = 512, DATABASE_PAGE = 4096 };

/* ---- what survives ---- */

struct state {
    const struct disk_trace *trace;
    const struct disk_cut *cut;
    struct history {
        size_t *operations; /* of the node, in their order */
        size_t count, synced;
    } * histories; /* by node */
    size_t victim; /* a node */
};

static uint64_t
chance(const struct state *state, uint64_t node, uint64_t unit)
{
    uint64_t x = state->cut->seed + 0x9e3779b97f4a7c15u * (node + 1) + 0xd1b54a32d192ed03u * unit;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void
add_history(struct state *state, size_t node, size_t operation)
{
    if (node == NONE) {
        return;
    }
    struct history *h = &state->histories[node];
    if ((h->count & (h->count - 1)) == 0) {
        h->operations =
            memory_resize(h->operations, h->count > 0 ? 2 * h->count : 1, sizeof(size_t));
    }
    h->operations[h->count++] = operation;
}

static void
read_histories(struct state *state)
{
    for (size_t i = 0; i < state->cut->at && i < state->trace->count; i++) {
        const struct operation *o = &state->trace->operations[i];
        switch (o->kind) {
        case TRACE_WRITE:
        case TRACE_CONTENT:
        case TRACE_TRUNCATE:
            add_history(state, o->node, i);
            break;
        case TRACE_SYNC:
            if (o->node != NONE &&
                (state->cut->without == SIZE_MAX || o->site != state->cut->without)) {
                state->histories[o->node].synced = state->histories[o->node].count;
            }
            break;
        case TRACE_MARK:
            break;
        default:
            add_history(state, o->folder, i);
            break;
        }
    }
}

/* Among the node's operations that were not synced those survive that come before `names` (its size
 * or its names) and, of a unit's bytes, those before what survives_unit says. */
enum how { HOW_LOST, HOW_LONG, HOW_KEPT, HOW_EARLIER, HOW_MIXED, HOW_COUNT };

static enum how
how_of(const struct state *state, size_t node)
{
    const bool victim = node == state->victim;
    switch (state->cut->fate) {
    case DISK_LOST:
        return HOW_LOST;
    case DISK_LOST_LONG:
        return HOW_LONG;
    case DISK_KEPT:
        return HOW_KEPT;
    case DISK_EARLIER:
        return HOW_EARLIER;
    case DISK_ONE_LOST:
        return victim ? HOW_LOST : HOW_KEPT;
    case DISK_ONE_LONG:
        return victim ? HOW_LONG : HOW_KEPT;
    case DISK_ONE_KEPT:
        return victim ? HOW_KEPT : HOW_LOST;
    case DISK_MIXED:
        return HOW_MIXED;
    case DISK_CHANCE:
    case DISK_FATES:
        break;
    }
    return (enum how)(chance(state, node, 0) % HOW_COUNT);
}

static size_t
before_time(const struct state *state, const struct history *h)
{
    const size_t earlier =
        state->cut->at -
        (size_t)(chance(state, NONE, 1) % (state->cut->at < 200 ? state->cut->at + 1 : 200));
    size_t n = h->synced;
    while (n < h->count && h->operations[n] < earlier) {
        n++;
    }
    return n;
}

static size_t
names_of(const struct state *state, size_t node, enum how how)
{
    const struct history *h = &state->histories[node];
    const size_t pending = h->count - h->synced;
    switch (how) {
    case HOW_LOST:
        return h->synced;
    case HOW_EARLIER:
        return before_time(state, h);
    case HOW_MIXED:
        return h->synced + (size_t)(chance(state, node, 2) % (pending + 1));
    case HOW_LONG:
    case HOW_KEPT:
    case HOW_COUNT:
        break;
    }
    return h->count;
}

static size_t
survives_unit(const struct state *state, size_t node, enum how how, size_t names, uint64_t unit)
{
    const struct history *h = &state->histories[node];
    if (how == HOW_LONG) {
        return h->synced;
    }
    if (how != HOW_MIXED) {
        return names;
    }
    const uint64_t x = chance(state, node, 3 + unit);
    return x % 3 == 0   ? h->synced
           : x % 3 == 1 ? h->count
                        : h->synced + (size_t)((x >> 8) % (h->count - h->synced + 1));
}

/* ---- files ---- */

struct image {
    char *bytes;
    uint64_t size, most;
};

static void
set_size(struct image *image, uint64_t size)
{
    if (size < image->size) {
        memset(image->bytes + size, 0, image->most - size);
    }
    image->size = size;
}

static void
apply_write(const struct state *state, struct image *image, size_t node, size_t number,
            uint64_t unit, enum how how, size_t names)
{
    const struct history *h = &state->histories[node];
    const struct operation *o = &state->trace->operations[h->operations[number]];
    for (uint64_t done = 0; done < o->bytes.length;) {
        const uint64_t at = o->offset + done, to_end = unit - at % unit;
        const uint64_t n = to_end < o->bytes.length - done ? to_end : o->bytes.length - done;
        if (number < h->synced || number < survives_unit(state, node, how, names, at / unit)) {
            memcpy(image->bytes + at, o->bytes.at + done, n);
        }
        done += n;
    }
    const uint64_t end = o->offset + o->bytes.length;
    if (number < names && (o->kind == TRACE_CONTENT || end > image->size)) {
        set_size(image, end);
    }
}

static bool
write_image(const struct image *image, const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool written =
        file >= 0 && file_write_all(file, slice_of(image->bytes, (size_t)image->size));
    if (!written) {
        fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
    }
    if (file >= 0) {
        close(file);
    }
    return written;
}

static bool
build_file(const struct state *state, size_t node, struct slice name, const char *path)
{
    const struct history *h = &state->histories[node];
    struct image image = {0};
    for (size_t i = 0; i < h->count; i++) {
        const struct operation *o = &state->trace->operations[h->operations[i]];
        const uint64_t end = o->offset + o->bytes.length;
        image.most = end > image.most ? end : image.most;
    }
    image.bytes = memory_new(image.most + 1);
    const enum how how = how_of(state, node);
    const size_t names = names_of(state, node, how);
    const uint64_t unit = disk_is_database(name) && !state->cut->torn ? DATABASE_PAGE : SECTOR;
    for (size_t i = 0; i < h->count; i++) {
        const struct operation *o = &state->trace->operations[h->operations[i]];
        if (o->kind != TRACE_TRUNCATE) {
            apply_write(state, &image, node, i, unit, how, names);
        } else if (i < names) {
            set_size(&image, o->offset);
        }
    }
    const bool written = write_image(&image, path);
    free(image.bytes);
    return written;
}

/* ---- folders ---- */

static struct entries
entries_of(const struct state *state, size_t node)
{
    const struct history *h = &state->histories[node];
    const enum how how = how_of(state, node);
    const size_t names = names_of(state, node, how);
    struct entries entries = {0};
    for (size_t i = 0; i < h->count; i++) {
        const struct operation *o = &state->trace->operations[h->operations[i]];
        const bool happened =
            i < h->synced || (how == HOW_MIXED ? chance(state, node, 3 + i) % 2 == 0 : i < names);
        if (!happened) {
            continue;
        }
        if (o->kind == TRACE_RENAME) {
            entries_set(&entries, o->name, NONE); /* a rename is within one folder */
            entries_set(&entries, o->name2, o->node);
        } else {
            entries_set(&entries, o->name, o->node);
        }
    }
    return entries;
}

static bool
build_folder(const struct state *state, size_t node, const char *path)
{
    struct entries entries = entries_of(state, node);
    bool good = mkdir(path, 0700) == 0 || errno == EEXIST;
    for (size_t i = 0; i < entries.count && good; i++) {
        char below[4096];
        const struct entry *entry = &entries.list[i];
        snprintf(below, sizeof below, "%s/%.*s", path, SLICE_PRINT(entry->name));
        good = state->trace->nodes[entry->node].is_folder
                   ? build_folder(state, entry->node, below)
                   : build_file(state, entry->node, entry->name, below);
    }
    free(entries.list);
    return good;
}

bool
disk_build(const struct disk_trace *trace, const struct disk_cut *cut, const char *folder)
{
    struct state state = {.trace = trace, .cut = cut, .victim = NONE};
    state.histories = memory_zero(trace->node_count + 1, sizeof *state.histories);
    read_histories(&state);
    if (cut->victim < trace->count) {
        const struct operation *o = &trace->operations[cut->victim];
        state.victim = o->node != NONE ? o->node : o->folder;
    } else {
        size_t pending = 0; /* one of those with something to lose */
        for (size_t i = 0; i < trace->node_count; i++) {
            pending += state.histories[i].synced < state.histories[i].count;
        }
        size_t left = pending > 0 ? (size_t)(chance(&state, NONE, 3) % pending) : 0;
        for (size_t i = 0; i < trace->node_count && state.victim == NONE; i++) {
            if (state.histories[i].synced < state.histories[i].count && left-- == 0) {
                state.victim = i;
            }
        }
    }
    const bool good = build_folder(&state, 0, folder);
    for (size_t i = 0; i < trace->node_count; i++) {
        free(state.histories[i].operations);
    }
    free(state.histories);
    return good;
}
