/* FTP (RFC 959, RFC 3659) in HTTP's terms, by libcurl: what is told of a transfer, what its replies
 * are as a response, and the threads it runs in.
 *
 * libcurl blocks in places of FTP also when asked not to: up to a minute for the reply that ends a
 * download, and for the one to QUIT. One silent server would hold up all transfers of the process.
 * So each transfer by FTP has a thread to itself, FTP_THREADS at a time; all else (names, address
 * limits, ends) stays with the owner's thread, which an eventfd wakes.
 *
 * Passive mode only, one file and one connection a request, QUIT at its end. What connects is
 * checked as in HTTP (transfer_place.c), the data connection too, which goes to the address of the
 * control connection whatever the server names.
 *
 * Hostile input: servers. Replies are kept up to HEADER_BYTES, each is waited for as long as
 * fetch.patience; of a file that is longer than SIZE said libcurl takes as much as was said. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "stages/fetch/http/http_state.h"
#include "stages/fetch/http/transfer.h"

enum { FTP_THREADS = 32 };

/* ---- telling libcurl ---- */

/* Called in every thread's waits, also in those that block. */
static int
on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t upload_total,
            curl_off_t upload_now)
{
    const struct transfer *transfer = context;
    (void)total;
    (void)now;
    (void)upload_total;
    (void)upload_now;
    return atomic_load(&transfer->http->ftp.stop);
}

void
ftp_prepare(struct transfer *transfer, const struct fetch_request *request)
{
    CURL *easy = transfer->easy;
    transfer->ftp.resumed_at = request->range_from;
    transfer->ftp.head = request->head;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "ftp,ftps");
    curl_easy_setopt(
        easy, CURLOPT_USE_SSL,
        (long)(slice_starts(request->url, SLICE("ftps:")) ? CURLUSESSL_ALL : CURLUSESSL_NONE));
    curl_easy_setopt(easy, CURLOPT_FTP_SKIP_PASV_IP, 1L);
    curl_easy_setopt(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, transfer->http->settings.stall_seconds);
    curl_easy_setopt(easy, CURLOPT_FILETIME, 1L);
    /* The dialogue begins before the request. */
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, NULL);
    curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
    curl_easy_setopt(easy, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)request->range_from);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    /* These connections are in no loop, whose table of descriptors belongs to the owner's thread.
     */
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, NULL);
    /* A proxy connects, it does not translate. */
    curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

/* ---- the dialogue ---- */

void
ftp_command(struct transfer *transfer, struct slice line)
{
    const bool names = slice_starts(line, SLICE("USER ")) || slice_starts(line, SLICE("PASS "));
    transfer->ftp.secret = transfer->authorised && names;
    transfer->ftp.quits = slice_starts(line, SLICE("QUIT"));
    if (transfer->ftp.secret) {
        buf_append(&transfer->exchange.request, line.at, 5);
        line = SLICE("[withheld]\r\n");
    }
    buf_append_slice(&transfer->exchange.request, line);
}

/* RFC 959, section 4.2: the line that ends a reply. That to QUIT says nothing of the file. */
static void
take_code(struct transfer *transfer, struct slice line)
{
    if (line.length > 3 && line.at[3] == ' ' && !transfer->ftp.quits) {
        const uint64_t code = slice_number(slice_of(line.at, 3));
        transfer->ftp.reply = code >= 100 ? (uint16_t)code : transfer->ftp.reply;
    }
}

bool
ftp_reply(struct transfer *transfer, struct slice line)
{
    /* libcurl's own words, which it puts among the server's when there is no body. */
    static const char *const own[] = {"Content-Length: ", "Last-Modified: ", "Accept-ranges: "};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (transfer->ftp.head && slice_starts(line, slice_string(own[i]))) {
            return true;
        }
    }
    take_code(transfer, line);
    if (transfer->ftp.secret && line.length > 4) { /* it may speak of the name that was given */
        buf_append(&transfer->exchange.request, line.at, 4);
        line = SLICE("[withheld]\r\n");
    }
    const bool room =
        transfer->exchange.request.length + line.length <= transfer->exchange.header.maximum;
    if (!room || buf_append_slice(&transfer->exchange.request, line) != STATUS_OK) {
        transfer->exchange.header_too_long = true;
    }
    return !transfer->exchange.header_too_long;
}

/* ---- the response ---- */

/* Writes what was learnt of the file, as a header. Its size and its time together are its entity
 * tag: an FTP server has no better one. */
static void
write_header(struct transfer *transfer)
{
    curl_off_t length = -1, seconds = -1;
    char date[64];
    struct tm calendar;
    struct buf *header = &transfer->exchange.header;
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    curl_easy_getinfo(transfer->easy, CURLINFO_FILETIME_T, &seconds);
    const time_t modified = (time_t)seconds;
    const unsigned long long from = transfer->ftp.resumed_at;
    const unsigned long long size = length >= 0 ? (unsigned long long)length + from : 0;
    if (length >= 0) {
        buf_printf(header, "Content-Length: %llu\r\n", size - from);
    }
    if (length > 0 && from > 0) {
        buf_printf(header, "Content-Range: bytes %llu-%llu/%llu\r\n", from, size - 1, size);
    }
    if (seconds >= 0 && gmtime_r(&modified, &calendar) != NULL) {
        strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &calendar);
        buf_printf(header, "Last-Modified: %s\r\n", date);
        if (length >= 0) {
            buf_printf(header, "ETag: \"%llu-%lld\"\r\n", size, (long long)seconds);
        }
    }
    buf_append_string(header, "\r\n");
    transfer->exchange.header_complete = true;
}

uint16_t
ftp_begin(struct transfer *transfer)
{
    if (!transfer->exchange.header_complete) {
        write_header(transfer);
    }
    return transfer->ftp.resumed_at > 0 ? 206 : 200;
}

/* A reply that ended the matter, as HTTP would have said it. */
static uint16_t
status_of_reply(uint16_t reply)
{
    static const struct {
        uint16_t reply, status;
    } statuses[] = {{430, 401}, {530, 401}, {532, 401}, {550, 404}, {551, 404}, {553, 404}};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].reply == reply) {
            return statuses[i].status;
        }
    }
    return reply < 500 ? 503 : 403; /* 4yz: later perhaps; 5yz: never */
}

uint16_t
ftp_status(struct transfer *transfer, CURLcode code)
{
    if (code == CURLE_OK || transfer->exchange.header_complete) {
        return ftp_begin(transfer);
    }
    const bool beyond = code == CURLE_FTP_COULDNT_USE_REST || code == CURLE_BAD_DOWNLOAD_RESUME;
    if (!beyond && (transfer->ftp.reply < 400 || transfer->exchange.header_too_long ||
                    transfer->place.at_limit != 0 || transfer->place.refused != NULL)) {
        return 0;
    }
    buf_append_string(&transfer->exchange.header, "\r\n");
    transfer->exchange.header_complete = true;
    return beyond ? 416 : status_of_reply(transfer->ftp.reply);
}

/* ---- threads ---- */

static void *
perform(void *context)
{
    struct transfer *transfer = context;
    struct ftp_threads *threads = &transfer->http->ftp;
    const uint64_t one = 1;
    transfer->ftp.code = curl_easy_perform(transfer->easy);
    pthread_mutex_lock(&threads->lock);
    transfer->ftp.after = threads->ended;
    threads->ended = transfer;
    pthread_mutex_unlock(&threads->lock);
    (void)!write(threads->descriptor, &one, sizeof one);
    return NULL;
}

/* Signals are for the owner's thread. */
static bool
start_thread(struct transfer *transfer)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&transfer->ftp.thread, NULL, perform, transfer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        snprintf(transfer->problem, sizeof transfer->problem, "no thread: %s", strerror(error));
    }
    return error == 0;
}

enum status
ftp_open(struct fetch_http *http, struct reason *why)
{
    struct ftp_threads *threads = &http->ftp;
    pthread_mutex_init(&threads->lock, NULL);
    threads->last = &threads->waiting;
    threads->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (threads->descriptor < 0) {
        return status_fail_errno(why, "cannot wait for threads");
    }
    http->loop.watch(http->loop.context, threads->descriptor, EPOLLIN);
    return STATUS_OK;
}

void
ftp_start(struct transfer *transfer)
{
    struct ftp_threads *threads = &transfer->http->ftp;
    const uint64_t one = 1;
    transfer->ftp.after = NULL;
    *threads->last = transfer;
    threads->last = &transfer->ftp.after;
    (void)!write(threads->descriptor, &one, sizeof one); /* never called back from inside */
}

static struct transfer *
take_ended(struct ftp_threads *threads)
{
    pthread_mutex_lock(&threads->lock);
    struct transfer *ended = threads->ended;
    threads->ended = NULL;
    pthread_mutex_unlock(&threads->lock);
    return ended;
}

void
ftp_ready(struct fetch_http *http, void (*end)(struct transfer *transfer, CURLcode code))
{
    struct ftp_threads *threads = &http->ftp;
    uint64_t count;
    (void)!read(threads->descriptor, &count, sizeof count);
    for (struct transfer *next, *one = take_ended(threads); one != NULL; one = next) {
        next = one->ftp.after;
        pthread_join(one->ftp.thread, NULL);
        threads->running--;
        end(one, one->ftp.code);
    }
    while (threads->waiting != NULL && threads->running < FTP_THREADS) {
        struct transfer *first = threads->waiting;
        threads->waiting = first->ftp.after;
        if (threads->waiting == NULL) {
            threads->last = &threads->waiting;
        }
        if (start_thread(first)) {
            threads->running++;
        } else {
            end(first, CURLE_FAILED_INIT);
        }
    }
}

/* libcurl looks at least once a second whether to go on. */
void
ftp_close(struct fetch_http *http)
{
    enum { LOOK_US = 20000 };
    struct ftp_threads *threads = &http->ftp;
    atomic_store(&threads->stop, true);
    while (threads->running > 0) {
        for (struct transfer *one = take_ended(threads); one != NULL; one = one->ftp.after) {
            pthread_join(one->ftp.thread, NULL);
            threads->running--;
        }
        usleep(threads->running > 0 ? LOOK_US : 0);
    }
    if (threads->last != NULL) {
        pthread_mutex_destroy(&threads->lock);
    }
    if (threads->last != NULL && threads->descriptor >= 0) {
        http->loop.watch(http->loop.context, threads->descriptor, 0);
        close(threads->descriptor);
    }
}
