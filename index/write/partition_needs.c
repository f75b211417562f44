/* Keeps what answers that are cached rest on, and when that last changed. */
#include "index/write/partition_state.h"

/* Passed by every commit that changes quads. */
static const uint64_t any_commit = 1;

static uint64_t
thing_of(enum partition_place place, oid id)
{
    return (id + 1) * 0x9E3779B97F4A7C15u + (uint64_t)place;
}

void
partition_mark(struct partition *partition, const struct change_set *set)
{
    struct change_marks *marks = partition->marks;
    if (set->count > CHANGE_MARKS_MOST) {
        change_marks_set_all(marks, set->version);
        return;
    }
    change_marks_set(marks, any_commit, set->version);
    for (size_t i = 0; i < set->count; i++) {
        const struct quad_oids *quad = &set->changes[i].quad;
        change_marks_set(marks, thing_of(PARTITION_SUBJECT, quad->subject), set->version);
        change_marks_set(marks, thing_of(PARTITION_OBJECT, quad->object), set->version);
        change_marks_set(marks, thing_of(PARTITION_GRAPH, quad->graph), set->version);
    }
}

void
partition_marks(const struct partition *partition, const struct change_marks **commits,
                const struct change_marks **words)
{
    *commits = partition->marks;
    *words = literals_marks(partition->literals);
}

void
partition_needs_init(struct partition_needs *needs)
{
    enum { NEEDS_BYTES = 1 << 20 };
    buf_init(&needs->commits, NEEDS_BYTES);
    buf_init(&needs->words, NEEDS_BYTES);
}

void
partition_needs_release(struct partition_needs *needs)
{
    buf_release(&needs->commits);
    buf_release(&needs->words);
}

void
partition_need(struct partition_needs *needs, enum partition_place place, oid id)
{
    change_needs_add(&needs->commits, id == OID_NONE ? any_commit : thing_of(place, id));
}
