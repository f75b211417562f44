/* A whole crawl of the example web, all programs recorded together: begun again after the cut it
 * ends with the dump of a crawl in peace. */
#include "tests/power_loss/scenarios.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/system/file.h"
#include "tests/power_loss/commands.h"

#define HOSTS "examples/web/hosts"
#define PORT "QUADRILLE_POWER_PORT"   /* of the web */
#define PEACE "QUADRILLE_POWER_PEACE" /* the dump of a crawl in peace */

enum { PATH_SIZE = 4096, WEB_TRIES = 600, WEB_TRY_US = 50000, CHECK_S = 900, TEXT_MAXIMUM = 4096 };

static int
crawl(const char *folder)
{
    return run("for h in " HOSTS "/*/; do echo http://$(basename $h)/; done | " quadrille
               " crawl --dir %s --seeds - --quiet --set fetch.connect_to=127.0.0.1:$" PORT
               " --set fetch.allow_address=127.0.0.0/8 --set fetch.delay=0 --set processes.web=0"
               " >%s.out 2>&1",
               folder, folder);
}

/* False: it does not say so in time. */
static bool
read_port(const char *path)
{
    static const char before[] = "127.0.0.1:";
    struct buf text;
    const char *port = NULL;
    buf_init(&text, TEXT_MAXIMUM);
    for (int i = 0; i < WEB_TRIES && port == NULL; i++) {
        struct reason why;
        buf_reset(&text);
        if (file_read(path, &text, &why) == STATUS_OK && buf_append(&text, "", 1) == STATUS_OK &&
            strchr(text.data, '\n') != NULL) {
            port = strstr(text.data, before);
        } else {
            (void)usleep(WEB_TRY_US);
        }
    }
    if (port != NULL) {
        char digits[8];
        snprintf(digits, sizeof digits, "%.*s", (int)strspn(port + strlen(before), "0123456789"),
                 port + strlen(before));
        (void)setenv(PORT, digits, 1);
    }
    buf_release(&text);
    return port != NULL;
}

static bool
begin(const char *base)
{
    char out[PATH_SIZE], log[PATH_SIZE], folder[PATH_SIZE], dump[PATH_SIZE];
    snprintf(out, sizeof out, "%s/web.out", base);
    snprintf(log, sizeof log, "%s/web.log", base);
    snprintf(folder, sizeof folder, "%s/peace", base);
    snprintf(dump, sizeof dump, "%s/peace.nq", base);
    const pid_t parent = getpid();
    if (fork() == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent && freopen(out, "w", stdout) != NULL) {
            execl("build/bin/quadrille-example-web", "quadrille-example-web", "--hosts", HOSTS,
                  "--port", "0", "--log", log, (char *)NULL);
        }
        _exit(127);
    }
    if (!read_port(out)) {
        return complain("the example web does not start");
    }
    (void)setenv(PEACE, dump, 1);
    return (crawl(folder) == 0 && run(quadrille " dump --dir %s --output %s", folder, dump) == 0) ||
           complain("a crawl in peace fails");
}

static void
act(const char *folder)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/data", folder);
    must_run(crawl(path), "a crawl under the recorder");
    acknowledge("crawl");
}

static bool
check(const char *folder, const struct disk_trace *trace, size_t marks)
{
    char path[PATH_SIZE];
    (void)trace;
    (void)alarm(CHECK_S);
    snprintf(path, sizeof path, "%s/data", folder);
    if (marks == 0 && crawl(path) != 0) {
        (void)run("tail -n 5 %s.out >&2", path);
        return complain("the crawl does not go on");
    }
    if (run(quadrille " dump --dir %s --output %s.nq >&2 && cmp %s.nq $" PEACE " >&2", path, folder,
            folder) != 0) {
        return complain(marks > 0 ? "a crawl that had ended has lost something"
                                  : "the dump is not that of a crawl in peace");
    }
    return run(quadrille " verify --dir %s >&2", path) == 0 || complain("verify finds faults");
}

const struct scenario scenario_crawl = {"crawl", act, check, 3, 0, begin};
