/* What is sent and received by a transfer, as libcurl tells it. */
#ifndef STAGES_FETCH_HTTP_TRANSFER_EXCHANGE_H
#define STAGES_FETCH_HTTP_TRANSFER_EXCHANGE_H

#include "base/buf.h"
#include "stages/fetch/http/fetch_http.h"

/* transfer_exchange.c changes it; by FTP fetch_ftp.c writes request and header. */
struct transfer_exchange {
    struct buf request, header, body;
    size_t header_bytes; /* of all header lines: interim responses, the response, its trailers */
    size_t body_limit;
    bool header_complete;
    bool sent; /* the request */
    bool too_long, header_too_long, out_of_memory;
    uint64_t piece_ms;      /* when the last piece of the body came, by the monotonic clock */
    struct fetch_sink sink; /* take NULL: none */
    size_t sunk;            /* bytes that it took */
};

/* What is told once of a handle. */
void exchange_constants(struct transfer *transfer);
void exchange_set(struct transfer *transfer, const struct fetch_request *request);
/* Forgets all but the buffers of request and header, which stay. */
void exchange_reset(struct transfer *transfer);
void exchange_release(struct transfer_exchange *exchange);

#endif
