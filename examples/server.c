/* quadrille-example-web: a static web server for tests and examples, on loopback only.
 *
 * Every folder HOSTS/<hostname> is a virtual host; what is not one of them gets 421. Folders are
 * answered by their index page, else by a listing. `.serve` in a host's folder changes what files
 * alone cannot say; names that begin with a dot are never served. Its lines:
 *
 *   type PATH MEDIA_TYPE         another Content-Type ("none": no such header)
 *   encoding PATH CODING         a Content-Encoding that the file already has
 *   redirect PATH STATUS TARGET  a redirect
 *   status PATH STATUS           an empty answer of that status
 *   calendar PREFIX              months without end, each linking to the next
 *   maze PREFIX                  every path below it is a page that links one folder deeper
 *   endless PATH                 a page that never ends
 *
 * Each answer is a line of the log: time, host, method, URI as sent, status, bytes, scheme, user
 * agent, Accept, If-Modified-Since, If-None-Match, separated by tabs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/options/opt.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "examples/site.h"

enum {
    CONNECTIONS = 1000,
    THREADS = 2,
    IDLE_SECONDS = 60,
    LOG_LINE = 8192,
    URI_SHOWN = 4000,
    DATE_SIZE = 40
};

static const char *hosts_folder;
static const char *log_path;
static int64_t port = 8480;

static const struct flag flags[] = {
    {"hosts", 0, FLAG_STRING, "DIR", &hosts_folder, "The folder of hosts to serve."},
    {"port", 'p', FLAG_INTEGER, "N", &port, "The port (default 8480); 0 takes a free one."},
    {"log", 0, FLAG_STRING, "FILE", &log_path,
     "Where requests are logged, one line each, with the time at which they began."},
    {.name = NULL}};

static const struct program program = {
    .name = "quadrille-example-web",
    .synopsis = "--hosts DIR [--port N] [--log FILE]",
    .summary = "serves folders as web sites on 127.0.0.1",
    .description =
        "Serves every folder DIR/HOSTNAME as the site http://HOSTNAME/ on one port of 127.0.0.1, "
        "for tests and examples. A crawler gets there by fetch.connect_to. The first line of "
        "output names address and port.\n\n"
        "A file .serve in a host's folder adds redirects, statuses, other media types and traps; "
        "examples/server.c lists its lines. Exit status: 0 after SIGTERM or SIGINT, 100 for "
        "misuse, 111 when the system failed.",
    .examples = "quadrille-example-web --hosts examples/web/hosts --port 0 --log access.tsv\n"
                "curl --connect-to ::127.0.0.1:8480 http://people.example/",
    .flags = flags,
};

struct web {
    struct sites *sites;
    int log; /* -1: none */
};

/* One request: what the log needs. */
struct request {
    char uri[URI_SHOWN]; /* as sent */
    char host[SITE_HOST_SIZE];
    char method[16];
    uint64_t began_ms; /* wall time of the handler's first call; 0: it was not called */
    unsigned status;
    uint64_t bytes;
};

/* ---- replies ---- */

static void
http_date(time_t at, char text[DATE_SIZE])
{
    struct tm broken_down;
    (void)gmtime_r(&at, &broken_down);
    (void)strftime(text, DATE_SIZE, "%a, %d %b %Y %H:%M:%S GMT", &broken_down);
}

static enum MHD_Result
queue(struct MHD_Connection *connection, struct request *request, unsigned status,
      struct MHD_Response *response, uint64_t bytes)
{
    request->status = status;
    request->bytes = bytes;
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result
send_text(struct MHD_Connection *connection, struct request *request, unsigned status,
          const char *type, struct slice text, const char *location)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        text.length, (void *)(uintptr_t)text.at, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) {
        return MHD_NO;
    }
    if (type != NULL) {
        (void)MHD_add_response_header(response, "Content-Type", type);
    }
    if (location != NULL) {
        (void)MHD_add_response_header(response, "Location", location);
    }
    return queue(connection, request, status, response, text.length);
}

static enum MHD_Result
send_status(struct MHD_Connection *connection, struct request *request, unsigned status,
            const char *location)
{
    char text[128];
    const int length = snprintf(
        text, sizeof text, "<!DOCTYPE html><title>%u</title><p>Status %u.</p>\n", status, status);
    return send_text(connection, request, status, "text/html; charset=utf-8",
                     slice_of(text, (size_t)length), location);
}

/* Paragraphs for as long as somebody reads. */
static ssize_t
more_of_it(void *context, uint64_t position, char *out, size_t room)
{
    static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\"><head>"
                               "<title>A page without end</title></head><body>\n"
                               "<h1>A page without end</h1>\n";
    static const char line[] = "<p>And it goes on, and on, and it goes on and on.</p>\n";
    (void)context;
    size_t done = 0;
    for (uint64_t at = position; done < room && at < sizeof head - 1; at++) {
        out[done++] = head[at];
    }
    for (uint64_t at = position + done - (sizeof head - 1); done < room; at++) {
        out[done++] = line[at % (sizeof line - 1)];
    }
    return (ssize_t)done;
}

static enum MHD_Result
send_endless(struct MHD_Connection *connection, struct request *request)
{
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64 << 10, more_of_it, NULL, NULL);
    if (response == NULL) {
        return MHD_NO;
    }
    (void)MHD_add_response_header(response, "Content-Type", "text/html; charset=utf-8");
    return queue(connection, request, MHD_HTTP_OK, response, 0);
}

/* True when the client has this version: If-None-Match first, RFC 9110 section 13.2.2. */
static bool
is_current(struct MHD_Connection *connection, const char *tag, const char *date)
{
    const char *match = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-None-Match");
    if (match != NULL) {
        return strstr(match, tag) != NULL || strcmp(match, "*") == 0;
    }
    const char *since =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-Modified-Since");
    return since != NULL && strcmp(since, date) == 0;
}

static enum MHD_Result
send_file(struct MHD_Connection *connection, struct request *request,
          const struct site_answer *answer)
{
    char date[DATE_SIZE];
    char tag[64];
    http_date(answer->modified, date);
    snprintf(tag, sizeof tag, "\"%lx-%lx\"", (unsigned long)answer->modified,
             (unsigned long)answer->size);
    const bool current = is_current(connection, tag, date);
    struct MHD_Response *response;
    if (current) {
        (void)close(answer->file);
        response =
            MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    } else {
        response = MHD_create_response_from_fd64(answer->size, answer->file);
    }
    if (response == NULL) {
        if (!current) {
            (void)close(answer->file);
        }
        return MHD_NO;
    }
    if (answer->type != NULL) {
        (void)MHD_add_response_header(response, "Content-Type", answer->type);
    }
    if (answer->encoding != NULL) {
        (void)MHD_add_response_header(response, "Content-Encoding", answer->encoding);
    }
    (void)MHD_add_response_header(response, "Last-Modified", date);
    (void)MHD_add_response_header(response, "ETag", tag);
    return queue(connection, request, current ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response,
                 current ? 0 : answer->size);
}

/* ---- libmicrohttpd's calls ---- */

static void
read_host(struct MHD_Connection *connection, struct request *request)
{
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    size_t length = 0;
    for (; host != NULL && host[length] != 0 && host[length] != ':' &&
           length + 1 < sizeof request->host;
         length++) {
        const char c = host[length];
        request->host[length] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    request->host[length] = 0;
}

static enum MHD_Result
answer_request(struct web *web, struct MHD_Connection *connection, struct request *request,
               const char *path)
{
    struct site_answer answer = {.file = -1};
    struct buf text;
    buf_init(&text, SITE_TEXT_MAXIMUM);
    enum MHD_Result result = MHD_NO;
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        return send_status(connection, request, MHD_HTTP_METHOD_NOT_ALLOWED, NULL);
    }
    switch (site_find(web->sites, request->host, path, &answer, &text)) {
    case SITE_FILE:
        result = send_file(connection, request, &answer);
        break;
    case SITE_TEXT:
        result = send_text(connection, request, MHD_HTTP_OK, "text/html; charset=utf-8",
                           buf_slice(&text), NULL);
        break;
    case SITE_REDIRECT:
        result = send_status(connection, request, answer.status, text.data);
        break;
    case SITE_STATUS:
        result = send_status(connection, request, answer.status, NULL);
        break;
    case SITE_ENDLESS:
        result = send_endless(connection, request);
        break;
    }
    buf_release(&text);
    return result;
}

static void *
on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    (void)context;
    (void)connection;
    struct request *request = memory_new(sizeof *request);
    snprintf(request->uri, sizeof request->uri, "%s", uri);
    return request;
}

static enum MHD_Result
on_request(void *context, struct MHD_Connection *connection, const char *path, const char *method,
           const char *version, const char *upload, size_t *upload_size, void **state)
{
    (void)version;
    (void)upload;
    struct request *request = *state;
    if (request->began_ms == 0) {
        request->began_ms = clock_wall_ms();
        snprintf(request->method, sizeof request->method, "%s", method);
        read_host(connection, request);
        return MHD_YES;
    }
    if (*upload_size > 0) {
        *upload_size = 0;
        return MHD_YES;
    }
    return answer_request(context, connection, request, path);
}

static const char *
header_or_dash(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value != NULL && value[0] != 0 ? value : "-";
}

/* With the time at which the request began: the client has not had the answer then, so what it
 * waits after an answer stands between two of these times, however late this server is. */
static void
write_log(const struct web *web, struct MHD_Connection *connection, const struct request *request)
{
    char line[LOG_LINE];
    const uint64_t began = request->began_ms;
    int length = snprintf(
        line, sizeof line, "%lu.%03lu\t%s\t%s\t%s\t%u\t%lu\thttp\t%.500s\t%.500s\t%.100s\t%.100s\n",
        (unsigned long)(began / 1000), (unsigned long)(began % 1000), request->host,
        request->method, request->uri, request->status, (unsigned long)request->bytes,
        header_or_dash(connection, "User-Agent"), header_or_dash(connection, "Accept"),
        header_or_dash(connection, "If-Modified-Since"),
        header_or_dash(connection, "If-None-Match"));
    if (length >= (int)sizeof line) {
        length = (int)sizeof line - 1;
        line[length - 1] = '\n';
    }
    if (write(web->log, line, (size_t)length) != length) {
        fprintf(stderr, "%s: cannot log: %s\n", program.name, strerror(errno));
    }
}

static void
on_completed(void *context, struct MHD_Connection *connection, void **state,
             enum MHD_RequestTerminationCode code)
{
    (void)code;
    const struct web *web = context;
    struct request *request = *state;
    if (request != NULL) {
        if (request->began_ms > 0 && web->log >= 0) {
            write_log(web, connection, request);
        }
        free(request);
        *state = NULL;
    }
}

/* ---- the program ---- */

static enum status
open_log(struct web *web, struct reason *why)
{
    web->log = -1;
    if (log_path != NULL) {
        web->log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (web->log < 0) {
            return status_fail_errno(why, "cannot open %s", log_path);
        }
    }
    return STATUS_OK;
}

static enum status
serve(struct web *web, const sigset_t *signals, struct reason *why)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, web, MHD_OPTION_SOCK_ADDR,
        &address, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, web, MHD_OPTION_NOTIFY_COMPLETED, on_completed, web,
        MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_END);
    if (daemon == NULL) {
        return status_fail_errno(why, "cannot listen on 127.0.0.1:%ld", (long)port);
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    printf("%zu sites of %s at http://127.0.0.1:%u/\n", sites_count(web->sites), hosts_folder,
           info != NULL ? info->port : (unsigned)port);
    (void)fflush(stdout);
    const int descriptor = signalfd(-1, signals, SFD_CLOEXEC);
    struct signalfd_siginfo signal_info;
    while (descriptor >= 0 && read(descriptor, &signal_info, sizeof signal_info) < 0 &&
           errno == EINTR) {
    }
    MHD_stop_daemon(daemon);
    if (descriptor < 0) {
        return status_fail(why, STATUS_SYSTEM, "cannot take signals");
    }
    (void)close(descriptor);
    return STATUS_OK;
}

int
main(int argc, char **argv)
{
    struct reason why = {""};
    struct web web = {.log = -1};
    char **operands;
    int operand_count;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL); /* threads inherit it */
    (void)signal(SIGPIPE, SIG_IGN);
    enum status status = program_parse(&program, argc, argv, &operands, &operand_count, &why);
    if (status == STATUS_OK &&
        (operand_count > 0 || hosts_folder == NULL || port < 0 || port > 65535)) {
        status = status_fail(&why, STATUS_MISUSE, "usage: %s %s", program.name, program.synopsis);
    }
    if (status == STATUS_OK) {
        status = open_log(&web, &why);
    }
    if (status == STATUS_OK) {
        status = sites_open(&web.sites, hosts_folder, &why);
    }
    if (status == STATUS_OK) {
        status = serve(&web, &signals, &why);
    }
    if (status != STATUS_OK && status != STATUS_END) {
        fprintf(stderr, "%s: %s\n", program.name, why.text);
    }
    sites_close(web.sites);
    file_close(web.log);
    return status_exit_code(status);
}
