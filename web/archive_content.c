/* Bytes of this node's WARC files, for stages on other nodes. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "warc/remote.h"
#include "web/http/range.h"
#include "web/web_service.h"

enum { PATH_BYTES = 4096 };

/* DIR/warc, which fetch makes with its first file; -1 before. */
static int
folder(struct web_service *service)
{
    (void)pthread_mutex_lock(&service->lock);
    if (service->archive < 0) {
        struct buf path;
        buf_init(&path, PATH_BYTES);
        config_path(service->directory, "warc", &path);
        service->archive = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        buf_release(&path);
    }
    const int descriptor = service->archive;
    (void)pthread_mutex_unlock(&service->lock);
    return descriptor;
}

/* A regular file of that name in DIR/warc itself, or -1. */
static int
open_file(struct web_service *service, struct slice name, struct stat *info)
{
    if (!warc_file_name_valid(name)) {
        return -1;
    }
    const int file =
        openat(folder(service), name.at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && (fstat(file, info) != 0 || !S_ISREG(info->st_mode))) {
        (void)close(file);
        return -1;
    }
    return file;
}

bool
web_gives_archive(const struct web_service *service)
{
    return cluster_keys(service->cluster) == NULL && opt_bool(service->options, "web.archive");
}

void
web_archive(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct stat info;
    if (!web_gives_archive(service)) {
        web_reply_error(reply, 403, "The archive is not served here.");
        return;
    }
    const int file = open_file(service, slice_string(request->path + strlen("/warc/")), &info);
    if (file < 0) {
        web_reply_error(reply, 404, "There is no such WARC file on this node.");
        return;
    }
    const uint64_t size = (uint64_t)info.st_size;
    const char *range = web_header(request, "Range");
    struct web_range found = {0, size};
    const enum web_range_kind kind =
        range == NULL ? WEB_RANGE_NONE : web_range_parse(range, size, &found);
    if (kind == WEB_RANGE_OUTSIDE) {
        (void)close(file);
        web_reply_error(reply, 416, "The file has %lu bytes.", (unsigned long)size);
        web_reply_header(reply, "Content-Range", "bytes */%lu", (unsigned long)size);
        return;
    }
    reply->content_type = "application/warc";
    reply->descriptor = file;
    reply->offset = found.offset;
    reply->length = found.length;
    web_reply_header(reply, "Accept-Ranges", "bytes");
    if (kind == WEB_RANGE_PART) {
        reply->status = 206;
        web_reply_header(reply, "Content-Range", "bytes %lu-%lu/%lu", (unsigned long)found.offset,
                         (unsigned long)(found.offset + found.length - 1), (unsigned long)size);
    }
}
