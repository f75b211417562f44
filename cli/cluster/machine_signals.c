#include "cli/cluster/machine_signals.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/cluster/share_guard.h"

int
machine_signals_take(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool
machine_signals_pause(int signals, uint64_t time, bool *told)
{
    const uint64_t now = share_clock_ms(NULL);
    struct pollfd polled = {.fd = signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&polled, 1, now < time ? (int)(time - now) : 0) <= 0) {
        return true;
    }
    while (read(signals, &info, sizeof info) == sizeof info) {
        *told = *told || info.ssi_signo != SIGCHLD;
    }
    return false;
}
