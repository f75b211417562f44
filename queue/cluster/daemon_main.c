#include "queue/cluster/daemon_main.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/log.h"
#include "config/access.h"
#include "config/config.h"
#include "config/process_state.h"

void
daemon_tell_ready(int ready_descriptor)
{
    process_state_ready();
    if (ready_descriptor < 0) {
        return;
    }
    if (write(ready_descriptor, "\n", 1) != 1) {
        log_warning("ready_not_told", "descriptor=%d", ready_descriptor);
    }
    (void)close(ready_descriptor);
}

static enum status
configure_and_run(const struct program *program, daemon_run *run, struct daemon_setting *setting,
                  const struct flag_list *assignments, struct reason *why)
{
    struct opt_set *options = NULL;
    struct cluster *cluster = NULL;
    TRY(config_check_place(setting->directory, why));
    TRY(config_load(setting->directory, assignments, &options, why));
    config_open_log(options, program->name);
    access_restrict(options);
    enum status status = cluster_open(&cluster, setting->directory, options, why);
    if (status == STATUS_OK) {
        setting->options = options;
        setting->cluster = cluster;
        status = run(setting, why);
    }
    cluster_close(cluster);
    opt_set_free(options);
    return status;
}

int
daemon_main(const struct program *given, daemon_run *run, int argc, char **argv)
{
    struct daemon_setting setting = {.directory = "."};
    struct flag_list assignments = {.count = 0};
    int64_t ready_descriptor = -1;
    const struct flag flags[] = {
        {"dir", 'd', FLAG_STRING, "DIR", &setting.directory, "The data directory (default: here)."},
        {"set", 's', FLAG_REPEATED, "NAME=VALUE", &assignments,
         "Overrides an option of DIR/quadrille.conf; @FILE: those of the file's lines, so that "
         "what is secret stands in no list of processes."},
        {"ready-fd", 0, FLAG_INTEGER, "N", &ready_descriptor,
         "Writes a newline to this descriptor and closes it when requests are taken."},
        {.name = NULL}};
    struct program program = *given;
    struct reason why = {""};
    char **operands;
    int operand_count;
    program.synopsis = "[--dir DIR] [--set NAME=VALUE]... [--ready-fd N]";
    program.flags = flags;
    enum status status = program_parse(&program, argc, argv, &operands, &operand_count, &why);
    if (status == STATUS_OK && operand_count > 0) {
        status = status_fail(&why, STATUS_MISUSE, "takes no operands: %s", operands[0]);
    }
    if (status == STATUS_OK) {
        setting.ready_descriptor = (int)ready_descriptor;
        process_state_open(setting.directory, strchr(program.name, '-') + 1);
        status = configure_and_run(&program, run, &setting, &assignments, &why);
    }
    process_state_end(status, &why);
    if (status != STATUS_OK && status != STATUS_END) {
        fprintf(stderr, "%s: %s\n", program.name, why.text);
    }
    return status_exit_code(status);
}
