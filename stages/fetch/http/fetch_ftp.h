/* What is different by FTP. */
#ifndef STAGES_FETCH_HTTP_FETCH_FTP_H
#define STAGES_FETCH_HTTP_FETCH_FTP_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "stages/fetch/http/fetch_http.h"

/* fetch_ftp.c changes it. A transfer by FTP is used once. */
struct ftp_dialogue {
    bool spoken; /* it is one by FTP: request is the dialogue, header is made of what it tells */
    bool head;
    bool secret, quits; /* the command under way: has credentials, is the last */
    uint16_t reply;     /* the last before that; 0: none */
    uint64_t resumed_at;
    CURLcode code;
    pthread_t thread;
    struct transfer *after; /* in a list of those that wait, or have ended */
};

/* fetch_ftp.c changes it. */
struct ftp_threads {
    pthread_mutex_t lock;   /* of ended */
    struct transfer *ended; /* threads put them there */
    struct transfer *waiting, **last;
    unsigned running;
    int descriptor; /* eventfd: something has ended, or waits */
    atomic_bool stop;
};

enum status ftp_open(struct fetch_http *http, struct reason *why);
void ftp_close(struct fetch_http *http); /* waits for the threads */
void ftp_prepare(struct transfer *transfer, const struct fetch_request *request);
void ftp_start(struct transfer *transfer);
/* Something happened to ftp.descriptor; end is called of what has ended. */
void ftp_ready(struct fetch_http *http, void (*end)(struct transfer *transfer, CURLcode code));
/* The dialogue; of a reply false: it is too long. */
void ftp_command(struct transfer *transfer, struct slice line);
bool ftp_reply(struct transfer *transfer, struct slice line);
/* The body begins, or has come: writes the header; the status. */
uint16_t ftp_begin(struct transfer *transfer);
/* When it has ended: HTTP's status for it, 0: none; with a header, unless it is 0. */
uint16_t ftp_status(struct transfer *transfer, CURLcode code);

#endif
