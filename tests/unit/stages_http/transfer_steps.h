/* libcurl and the clocks, stood in for, around one transfer (stages/fetch/http/transfer.h): what
 * libcurl is told is kept, and the test tells what libcurl would. */
#ifndef TESTS_UNIT_STAGES_HTTP_TRANSFER_STEPS_H
#define TESTS_UNIT_STAGES_HTTP_TRANSFER_STEPS_H

#include "stages/fetch/http/http_state.h"
#include "stages/fetch/http/transfer.h"

enum {
    OPTIONS_MOST = 1000,
    TEXT = 4096,
    STARTED_MS = 1000, /* monotonic */
    WALL_MS = 77000,
    HEADER_SIZE = 200 /* of a response */
};

/* The last value of an option, whatever its type. */
struct told_option {
    unsigned times;
    long number;
    const void *pointer;
    curl_write_callback function; /* or another: called as what it is */
    char text[TEXT];              /* "(none)": NULL */
};
extern struct told_option told[OPTIONS_MOST];
#define TOLD(option) told[(option) % 10000]

/* What libcurl answers. */
struct curl_answers {
    long status, version, number;
    const char *ip, *url;
    curl_off_t retry_after;
};
extern struct curl_answers answers;
extern unsigned handles_removed, handles_freed;
extern bool no_handle;
extern uint64_t now_ms;
extern char unreachable[100]; /* host that dns_unreachable was told of */

extern struct fetch_http http;
extern struct transfer *transfer;
extern struct fetch_result last;
extern char last_problem[CURL_ERROR_SIZE], last_request[TEXT];

/* A transfer with these settings, "name=value", ended by NULL. */
void open_with(const char *const *settings);
extern const char *const plain[];
void close_all(void);
void prepare(struct fetch_request request);
void prepare_url(const char *url);
const char *lines_of(const struct curl_slist *list);

size_t tell_header(const char *line);
size_t tell_body(const char *text);
void tell_debug(curl_infotype type, const char *text);
void tell_request(void);

#endif
