#include "config/pass_settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/system/file.h"

enum { SETTINGS_BYTES = 1 << 20 };
static const char descriptors[] = "/proc/self/fd/";

enum status
settings_text(const struct flag_list *assignments, struct buf *text, struct reason *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; assignments != NULL && i < assignments->count && status == STATUS_OK; i++) {
        const char *item = assignments->items[i];
        if (item[0] == '@') {
            status = file_read(item + 1, text, why);
        } else if (strchr(item, '\n') != NULL) {
            status = status_fail(why, STATUS_MISUSE, "--set: a value of more than one line");
        } else {
            (void)buf_append_string(text, item);
        }
        (void)buf_append_char(text, '\n');
    }
    return status == STATUS_OK && text->overflowed
               ? status_fail(why, STATUS_LIMIT, "--set: more than %zu bytes", text->maximum)
               : status;
}

enum status
settings_pass(const struct flag_list *assignments, char argument[SETTINGS_ARGUMENT_SIZE],
              struct reason *why)
{
    struct buf text;
    buf_init(&text, SETTINGS_BYTES);
    enum status status = settings_text(assignments, &text, why);
    if (status == STATUS_OK) {
        const int file = memfd_create("settings", 0);
        snprintf(argument, SETTINGS_ARGUMENT_SIZE, "@%s%d", descriptors, file);
        if (file < 0 || !file_write_all(file, buf_slice(&text))) {
            status = status_fail_errno(why, "cannot hand settings on");
        }
    }
    buf_release(&text);
    return status;
}

enum status
settings_take(struct opt_set *options, const char *assignment, struct reason *why)
{
    if (assignment[0] != '@') {
        return opt_set_assign(options, assignment, why);
    }
    const char *path = assignment + 1;
    const enum status status = opt_set_load_file(options, path, why);
    if (strncmp(path, descriptors, strlen(descriptors)) == 0) {
        (void)fcntl(atoi(path + strlen(descriptors)), F_SETFD, FD_CLOEXEC);
    }
    return status == STATUS_NOT_FOUND ? status_prefix(why, STATUS_MISUSE, "--set") : status;
}
