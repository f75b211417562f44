#include "index/read/quad_text.h"

#include "rdf/core/writer.h"

enum { LINE_MAXIMUM = 1 << 30 };

struct writing {
    struct buf text;
    uint64_t left; /* lines */
    quad_line *line;
    void *context;
};

static enum status
write_line(void *context, const struct quad *quad, struct reason *why)
{
    struct writing *writing = context;
    buf_reset(&writing->text);
    if (nquads_write(&writing->text, quad) != STATUS_OK) {
        return status_fail(why, STATUS_LIMIT, "a quad of more than %d bytes", LINE_MAXIMUM);
    }
    TRY(writing->line(writing->context, buf_slice(&writing->text), why));
    return --writing->left > 0 ? STATUS_OK : STATUS_END;
}

enum status
quad_lines(const struct quad_source *source, const struct quad_oids *pattern, enum quad_order order,
           uint64_t limit, quad_line *line, void *context, struct reason *why)
{
    struct writing writing = {
        .left = limit > 0 ? limit : UINT64_MAX, .line = line, .context = context};
    const struct quad_sink sink = {write_line, &writing};
    buf_init(&writing.text, LINE_MAXIMUM);
    const enum status status = quad_walk(source, pattern, order, &sink, why);
    buf_release(&writing.text);
    return status;
}
