#include "config/web_address.h"

#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "config/run_lock.h"

static const char NAME[] = "web.address";

int
web_address_claim(const char *directory)
{
    const int claim = run_lock_open(directory, NAME);
    if (claim >= 0 && !run_lock_try(claim, LOCK_EX)) {
        (void)close(claim);
        return -1;
    }
    if (claim >= 0) {
        run_lock_sign(claim, "");
    }
    return claim;
}

/* An address that stands for all of this machine's is shown as one that a browser takes. */
void
web_address_tell(int claim, const char *listen, unsigned port)
{
    static const char *const wildcards[] = {"", "0.0.0.0", "[::]", "*"};
    char url[WEB_ADDRESS_SIZE];
    const char *colon = strrchr(listen, ':');
    int length = colon != NULL ? (int)(colon - listen) : (int)strlen(listen);
    for (size_t i = 0; i < sizeof wildcards / sizeof wildcards[0]; i++) {
        if ((int)strlen(wildcards[i]) == length && strncmp(listen, wildcards[i], length) == 0) {
            listen = "localhost";
            length = (int)strlen(listen);
            break;
        }
    }
    snprintf(url, sizeof url, "http://%.*s:%u/", length, listen, port);
    if (claim >= 0) {
        run_lock_sign(claim, url);
    }
}

enum status
web_address_read(const char *directory, char url[WEB_ADDRESS_SIZE], struct reason *why)
{
    const int lock = run_lock_open(directory, NAME);
    url[0] = '\0';
    if (lock < 0) {
        return status_fail_errno(why, "cannot open %s/run/%s", directory, NAME);
    }
    const bool lives = !run_lock_try(lock, LOCK_SH);
    const ssize_t n = pread(lock, url, WEB_ADDRESS_SIZE - 1, 0);
    (void)close(lock);
    url[n > 0 ? n : 0] = '\0';
    return lives && url[0] != '\0'
               ? STATUS_OK
               : status_fail(why, STATUS_NOT_FOUND, "no web service of %s runs", directory);
}
