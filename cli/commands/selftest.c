/* quadrille selftest: proves the sandbox by trying what it forbids. */
#include "cli/shared/cli.h"
#include "stages/sandbox/landlock.h"
#include "stages/sandbox/sandbox.h"

static void
print_trial(void *context, const char *trial, bool stopped, const char *how)
{
    (void)context;
    printf("%-8s %s: %s\n", stopped ? "stopped" : "ALLOWED", trial, how);
}

int
command_selftest(int argc, char **argv)
{
    static const struct program program = {
        .name = "quadrille selftest",
        .synopsis = "",
        .summary = "prove that the sandbox of the workers holds",
        .description = "Starts a process in the sandbox in which documents are parsed, lets it "
                       "try forbidden things (opening files, connecting, starting programs, "
                       "taking memory, ...), and prints what stopped each; then the same for "
                       "external programs of a registry, with what those could try (changing "
                       "files, killing, connecting, leaving their group, ...). Exit code 0: all "
                       "were stopped; 111: some were not.",
        .examples = "quadrille selftest",
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK) {
        const int version = landlock_version();
        if (version == LANDLOCK_NONE) {
            printf("Landlock: not in this kernel\n");
        } else {
            printf("Landlock: version %d%s\n", version,
                   version < LANDLOCK_SCOPES ? "; what it lacks seccomp alone forbids" : "");
        }
        printf("parsers:\n");
        unsigned allowed = sandbox_selftest(print_trial, NULL);
        printf("external programs:\n");
        allowed += sandbox_selftest_program(print_trial, NULL);
        if (allowed > 0) {
            status = status_fail(&why, STATUS_SYSTEM, "%u things were not stopped", allowed);
        }
    }
    return cli_end(&program, status, &why);
}
