#include "tests/support/nquads_writer.h"

#include "base/system/file.h"
#include "rdf/core/writer.h"

enum { WRITER_BUFFER = 128 << 10 };

void
nquads_writer_init(struct nquads_writer *writer, int descriptor)
{
    *writer = (struct nquads_writer){.descriptor = descriptor};
    buf_init(&writer->buf, SIZE_MAX / 2);
}

enum status
nquads_writer_flush(struct nquads_writer *writer, struct reason *why)
{
    if (!file_write_all(writer->descriptor, buf_slice(&writer->buf))) {
        return status_fail_errno(why, "cannot write quads");
    }
    writer->bytes += writer->buf.length;
    buf_reset(&writer->buf);
    return STATUS_OK;
}

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct nquads_writer *writer = context;
    if (nquads_write(&writer->buf, quad) != STATUS_OK) {
        return status_fail(why, STATUS_LIMIT, "a quad is too large to be written");
    }
    writer->quads++;
    return writer->buf.length < WRITER_BUFFER ? STATUS_OK : nquads_writer_flush(writer, why);
}

struct quad_sink
nquads_writer_sink(struct nquads_writer *writer)
{
    return (struct quad_sink){.quad = take_quad, .context = writer};
}

void
nquads_writer_release(struct nquads_writer *writer)
{
    buf_release(&writer->buf);
}
