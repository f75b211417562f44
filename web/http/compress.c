#include "web/http/compress.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"
#include "web/http/accept.h"

struct web_gzip {
    z_stream stream;
};

bool
web_gzip_is_wanted(const char *accept_encoding)
{
    /* A coding is no media type, but has the same weights. */
    static const char *const codings[] = {"identity", "gzip"};
    if (accept_encoding == NULL || accept_encoding[0] == '\0') {
        return false;
    }
    return web_accept_choose(accept_encoding, codings, 2) == 1;
}

struct web_gzip *
web_gzip_open(void)
{
    enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8, LEVEL = 4 };
    struct web_gzip *gzip = memory_new(sizeof *gzip);
    if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return NULL;
    }
    return gzip;
}

void
web_gzip_close(struct web_gzip *gzip)
{
    if (gzip != NULL) {
        (void)deflateEnd(&gzip->stream);
        free(gzip);
    }
}

bool
web_gzip_pack(struct web_gzip *gzip, struct slice bytes, bool end, struct buf *out)
{
    enum { ROOM = 64 << 10 };
    z_stream *stream = &gzip->stream;
    stream->next_in = (Bytef *)(uintptr_t)bytes.at;
    stream->avail_in = (uInt)bytes.length;
    do {
        char *room = buf_reserve(out, ROOM);
        if (room == NULL) {
            return false;
        }
        stream->next_out = (Bytef *)room;
        stream->avail_out = ROOM;
        (void)deflate(stream, end ? Z_FINISH : Z_SYNC_FLUSH);
        buf_commit(out, ROOM - stream->avail_out);
    } while (stream->avail_out == 0);
    return true;
}
