/* One transfer:
 *
 *   fetch_transfer.c      its life, and what libcurl is told of the request
 *   transfer_end.c        how it ended
 *   transfer_exchange.c   what is sent and received
 *   fetch_ftp.c           what is different by FTP
 *   transfer_place.c      where it connects */
#ifndef STAGES_FETCH_HTTP_TRANSFER_H
#define STAGES_FETCH_HTTP_TRANSFER_H

#include "stages/fetch/http/fetch_ftp.h"
#include "stages/fetch/http/transfer_exchange.h"
#include "stages/fetch/http/transfer_place.h"

struct transfer {
    struct fetch_http *http;
    struct multi *multi; /* that of its host */
    CURL *easy;
    struct curl_slist *headers; /* own list when the request is conditional; else NULL */
    fetch_done *done;
    void *context;
    bool authorised; /* the request carries credentials */
    char problem[CURL_ERROR_SIZE];
    uint64_t started_ms, started_monotonic_ms;
    struct transfer_place place;
    struct transfer_exchange exchange;
    struct ftp_dialogue ftp;

    /* Of fetch_http.c. */
    bool resolving;        /* waits for DNS: not with libcurl */
    uint64_t joined_ms;    /* monotonic: since when libcurl has it */
    struct transfer *next; /* in the list of idle or of all running ones */
    struct transfer *previous;
};

struct transfer *transfer_new(struct fetch_http *http);
void transfer_free(struct transfer *transfer);
/* All that libcurl must know of the request. Handles are used again with their buffers: only what
 * differs from one request to the next is set anew. */
void transfer_prepare(struct transfer *transfer, const struct fetch_request *request);
/* Makes a transfer as new, but for its buffers, which stay. */
void transfer_reset(struct transfer *transfer);

/* transfer_end.c: takes it from libcurl and calls back. */
void transfer_finish(struct transfer *transfer, CURLcode code);

#endif
