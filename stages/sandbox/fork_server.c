/* The fork server and the workers it forks: what runs on the other side of worker.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "stages/sandbox/worker.h"

enum { SLOTS = 1024, CONFIGURATION_MAXIMUM = 64 << 10 };

struct fork_server {
    int control;
    pid_t process;
};

int
fork_server_control(const struct fork_server *server)
{
    return server->control;
}

/* Descriptors that only this process should have are closed; the three standard ones lead
 * nowhere. */
static void
close_all_but(int kept)
{
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3; i++) {
        dup2(nowhere, i);
    }
    if (kept > 3) {
        close_range(3, (unsigned)kept - 1, 0);
    }
    close_range((unsigned)kept + 1, ~0U, 0);
}

/* ---- a worker ---- */

static uint64_t
cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* SIGPROF, which ends the process, after so much processor time; 0: never. */
static void
set_cpu_timer(uint64_t ms)
{
    const struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000)}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

struct serving {
    const struct worker_program *program;
    void *context;
    const struct worker_message *spawn;
    char *memory;
    struct buf reply; /* the one being made */
};

/* Does the order's requests until one's reply finds no room. The number of those done. */
static size_t
serve_order(struct serving *serving, const struct worker_order *order,
            struct worker_report reports[WORKER_ORDER])
{
    const uint64_t room = serving->spawn->reply + REASON_SIZE;
    const char *in = serving->memory;
    char *out = serving->memory + serving->spawn->request;
    uint64_t used = 0, before = cpu_us();
    size_t done = 0;
    for (; done < order->count; done++) {
        struct worker_request request;
        struct reason why = {""};
        memcpy(&request, in, sizeof request);
        in += sizeof request;
        buf_reset(&serving->reply);
        set_cpu_timer(order->cpu_ms);
        const enum status status =
            serving->program->handle(serving->context, (uint8_t)request.verb,
                                     slice_of(in, request.length), &serving->reply, &why);
        const uint64_t after = cpu_us();
        const struct worker_report report = {.status = status,
                                             .length = serving->reply.length,
                                             .reason_length = strlen(why.text),
                                             .cpu_us = after - before};
        if (report.length + report.reason_length > room - used) {
            break; /* it is given again, and then comes first */
        }
        if (report.length > 0) {
            memcpy(out + used, serving->reply.data, report.length);
        }
        memcpy(out + used + report.length, why.text, report.reason_length);
        used += report.length + report.reason_length;
        in += request.length;
        before = after;
        reports[done] = report;
    }
    set_cpu_timer(0);
    return done;
}

static void
serve(const struct worker_program *program, void *context, int socket, char *memory,
      const struct worker_message *spawn)
{
    struct serving serving = {program, context, spawn, memory, {0}};
    struct worker_order order;
    struct worker_report reports[WORKER_ORDER];
    buf_init(&serving.reply, spawn->reply);
    while (recv(socket, &order, sizeof order, 0) == (ssize_t)sizeof order &&
           order.count <= WORKER_ORDER) {
        const size_t bytes = serve_order(&serving, &order, reports) * sizeof *reports;
        if (send(socket, reports, bytes, MSG_NOSIGNAL) != (ssize_t)bytes) {
            break;
        }
        if (serving.reply.capacity > 4 << 20) {
            buf_release(&serving.reply);
        }
    }
    buf_release(&serving.reply);
}

static _Noreturn void
become_worker(const struct worker_program *program, void *context, int socket, int shared,
              const struct worker_message *spawn)
{
    struct reason why;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const size_t size = spawn->request + spawn->reply + REASON_SIZE;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    close_all_but(socket);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (memory == MAP_FAILED ||
        sandbox_enter((enum sandbox_policy)spawn->policy, spawn->memory, &why) != STATUS_OK) {
        _exit(EXIT_MISUSE);
    }
    serve(program, context, socket, memory, spawn);
    _exit(0);
}

/* ---- the fork server ---- */

struct server {
    const struct worker_program *program;
    void *context;
    int control;
    pid_t children[SLOTS];
    bool has_programs; /* a worker was started that starts programs */
};

/* A message and up to two descriptors. The number of bytes; 0: the other side is gone. */
static ssize_t
receive(int control, void *bytes, size_t size, int descriptors[2])
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } ancillary;
    struct iovec piece = {bytes, size};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary};
    descriptors[0] = descriptors[1] = -1;
    const ssize_t n = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(2 * sizeof(int))) {
        memcpy(descriptors, CMSG_DATA(header), 2 * sizeof(int));
    }
    return n;
}

static void
send_message(struct server *server, const struct worker_message *message)
{
    if (send(server->control, message, sizeof *message, MSG_NOSIGNAL) < 0) {
        _exit(0);
    }
}

static void
spawn(struct server *server, const struct worker_message *message, const int descriptors[2])
{
    const pid_t child = fork();
    if (child == 0) {
        become_worker(server->program, server->context, descriptors[0], descriptors[1], message);
    }
    close(descriptors[0]);
    close(descriptors[1]);
    struct worker_message told = {
        .kind = WORKER_ENDED, .slot = message->slot, .wait_status = SIGKILL};
    if (child > 0) {
        server->children[message->slot] = child;
        server->has_programs |= message->policy == SANDBOX_PROGRAM;
        told.kind = WORKER_STARTED;
        told.process = child;
    }
    send_message(server, &told);
}

static bool
is_worker(const struct server *server, pid_t process)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (server->children[slot] == process) {
            return true;
        }
    }
    return false;
}

/* Ends the programs that a worker which died has left behind: they are children of this process
 * now. They are in groups that they cannot leave, so that a group ends as one. */
static void
end_left_behind(const struct server *server)
{
    int process;
    FILE *children = fopen("/proc/thread-self/children", "re");
    while (children && fscanf(children, "%d", &process) == 1) {
        const pid_t group = is_worker(server, process) ? 0 : getpgid(process);
        if (group > 0) {
            kill(group != getpgrp() ? -group : process, SIGKILL);
        }
    }
    if (children) {
        fclose(children);
    }
}

static void
reap(struct server *server)
{
    int status;
    pid_t child;
    while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            if (server->children[slot] == child) {
                const struct worker_message ended = {
                    .kind = WORKER_ENDED, .slot = slot, .wait_status = status};
                server->children[slot] = 0;
                send_message(server, &ended);
            }
        }
    }
    if (server->has_programs) {
        end_left_behind(server);
    }
}

static void
configure(struct server *server, struct slice text)
{
    struct worker_message ready = {.kind = WORKER_READY};
    ready.status = server->context
                       ? STATUS_OK
                       : (int32_t)server->program->prepare(text, &server->context, &ready.why);
    send_message(server, &ready);
}

static void
obey(struct server *server)
{
    static char bytes[sizeof(struct worker_message) + CONFIGURATION_MAXIMUM];
    struct worker_message message;
    int descriptors[2];
    const ssize_t n = receive(server->control, bytes, sizeof bytes, descriptors);
    if (n < (ssize_t)sizeof message) {
        _exit(0);
    }
    memcpy(&message, bytes, sizeof message);
    if (message.kind == WORKER_CONFIGURE) {
        configure(server, slice_of(bytes + sizeof message, (size_t)n - sizeof message));
    } else if (message.kind == WORKER_SPAWN && message.slot < SLOTS && descriptors[1] >= 0) {
        spawn(server, &message, descriptors);
    } else if (message.kind == WORKER_KILL && message.slot < SLOTS &&
               server->children[message.slot] > 0) {
        kill(server->children[message.slot], SIGKILL);
    }
}

static _Noreturn void
become_fork_server(const struct worker_program *program, int control, pid_t parent)
{
    struct server server = {.program = program, .control = control};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, program->name);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (getppid() != parent) {
        _exit(0);
    }
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL); /* whatever the caller catches, a crash here is a death */
    }
    /* Ctrl-C reaches the whole group; the parent decides what it means. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    const int ended = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd wait[2] = {{.fd = control, .events = POLLIN}, {.fd = ended, .events = POLLIN}};
    for (;;) {
        if (poll(wait, 2, -1) < 0 && errno != EINTR) {
            _exit(EXIT_SYSTEM);
        }
        struct signalfd_siginfo signal_info;
        if (wait[1].revents && read(ended, &signal_info, sizeof signal_info) > 0) {
            reap(&server);
        }
        if (wait[0].revents) {
            obey(&server);
        }
    }
}

struct fork_server *
fork_server_start(const struct worker_program *program)
{
    struct fork_server *server = memory_new(sizeof *server);
    int pair[2];
    const pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        perror("cannot make a socket pair");
        exit(EXIT_SYSTEM);
    }
    fflush(NULL);
    server->process = fork();
    if (server->process == 0) {
        close(pair[0]);
        become_fork_server(program, pair[1], parent);
    }
    close(pair[1]);
    server->control = pair[0];
    if (server->process < 0) {
        perror("cannot fork");
        exit(EXIT_SYSTEM);
    }
    return server;
}

void
fork_server_close(struct fork_server *server)
{
    if (!server) {
        return;
    }
    close(server->control);
    while (waitpid(server->process, NULL, 0) < 0 && errno == EINTR) {
    }
    free(server);
}
