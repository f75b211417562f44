#include "cli/cluster/root_settings.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/digest.h"
#include "base/system/file.h"
#include "base/system/log.h"

enum { FILES_MAXIMUM = 64 << 20 };

uint64_t
root_settings_version(const char *root, struct reason *why)
{
    static const char *const names[] = {"quadrille.conf", "cluster.conf"};
    char path[ROOT_SETTINGS_PATH_SIZE];
    struct buf text;
    enum status status = STATUS_OK;
    buf_init(&text, FILES_MAXIMUM);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == STATUS_OK; i++) {
        snprintf(path, sizeof path, "%s/%s", root, names[i]);
        status = file_read(path, &text, why);
    }
    const uint64_t version = status == STATUS_OK ? fingerprint64(buf_slice(&text)) : 0;
    buf_release(&text);
    return version;
}

enum status
root_settings_open(struct root_settings *settings, const char *root, const struct flag_list *own,
                   struct reason *why)
{
    struct flag_list *all = &settings->common.assignments;
    *settings =
        (struct root_settings){.root = root, .common = {.directory = root, .takes_root = true}};
    snprintf(settings->option, sizeof settings->option, "@%s/quadrille.conf", root);
    all->items[all->count++] = "processes.web=0";
    all->items[all->count++] = settings->option;
    for (size_t i = 0; i < own->count; i++) {
        if (all->count == FLAG_LIST_MAXIMUM) {
            return status_fail(why, STATUS_MISUSE, "too many --set");
        }
        all->items[all->count++] = own->items[i];
    }
    return STATUS_OK;
}

void
root_settings_close(struct root_settings *settings)
{
    cli_close(&settings->cli);
}

void
root_settings_look(struct root_settings *settings)
{
    struct reason why = {""};
    const uint64_t version = root_settings_version(settings->root, &why);
    if (version == 0) {
        settings->wrong = why;
        return;
    }
    if (version == settings->version && settings->cli.options != NULL) {
        settings->wrong = (struct reason){""};
        return;
    }
    cli_close(&settings->cli);
    settings->version = version;
    settings->wrong = (struct reason){""};
    if (cli_open(&settings->cli, &settings->common, &why) != STATUS_OK) {
        settings->wrong = why;
        cli_close(&settings->cli);
    }
    log_open("quadrille", LOG_LEVEL_INFO, false);
}

void
root_settings_tell(const struct root_settings *settings, struct buf *text)
{
    buf_printf(text, "settings %016" PRIx64 "\n", settings->version);
    if (settings->wrong.text[0] != '\0') {
        buf_printf(text, "refused %s\n", settings->wrong.text);
    }
}
