/* The way in which query and search ask: Ctrl-C ends the work in all partitions, and an answer that
 * lacks a partition's share says so. */
#include <signal.h>
#include <string.h>

#include "cli/shared/cli.h"

static atomic_bool interrupted;

static void
interrupt(int signal)
{
    (void)signal;
    atomic_store(&interrupted, true);
}

enum status
cli_interruptible(const char *partial, struct index_client *index, struct reason *why)
{
    /* Once: whoever cannot wait for the end presses Ctrl-C again. */
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    if (partial == NULL) {
        partial = "error";
    }
    const bool warn = strcmp(partial, "warn") == 0;
    if (!warn && strcmp(partial, "error") != 0) {
        return status_fail(why, STATUS_MISUSE, "--partial is error or warn, not %.40s", partial);
    }
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    index_client_manner(index, warn ? INDEX_PARTIAL_WARN : INDEX_PARTIAL_ERROR, &interrupted);
    return STATUS_OK;
}

int
cli_answered(const struct program *program, const struct index_client *index, enum status status,
             const struct reason *why)
{
    const int code = cli_end(program, status, why);
    struct reason which;
    size_t partition = 0;
    bool partial = false;
    while (index != NULL && index_client_missing(index, &partition, &which)) {
        fprintf(stderr, "%s: the answer is partial: %s\n", program->name, which.text);
        partial = true;
    }
    if (status == STATUS_CANCELLED && atomic_load(&interrupted)) {
        return CLI_EXIT_INTERRUPTED;
    }
    return partial && code == EXIT_DONE ? CLI_EXIT_PARTIAL : code;
}
