#include "cli/cluster/disks/share_nodes.h"

#include <stdio.h>
#include <string.h>

#include "base/system/file.h"
#include "shares/share_records.h"

enum { NAME_SIZE = 64, CONF_MAXIMUM = 1 << 20 };

static void
replace_all(struct slice text, const char *old, const char *new, struct buf *out)
{
    const size_t length = strlen(old);
    for (size_t i = 0; i < text.length;) {
        if (text.length - i >= length && memcmp(text.at + i, old, length) == 0) {
            buf_append_string(out, new);
            i += length;
        } else {
            buf_append_char(out, text.at[i++]);
        }
    }
}

enum status
share_nodes_read(const char *root, size_t share, const char *prefix, struct buf *out,
                 struct reason *why)
{
    char path[ROOT_PATH_SIZE + NAME_SIZE];
    struct buf text;
    buf_init(&text, CONF_MAXIMUM);
    snprintf(path, sizeof path, "%s/shares/%zu/cluster.conf", root, share);
    enum status status = file_read(path, &text, why);
    if (status == STATUS_NOT_FOUND) {
        status = status_fail(why, STATUS_MISUSE,
                             "its folder in ROOT has no cluster.conf: it is not mounted here");
    }
    replace_all(buf_slice(&text), SHARE_NODES_PREFIX, prefix, out);
    buf_release(&text);
    return status;
}
