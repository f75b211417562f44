/* What the options say of requests. Constant once it is opened. */
#ifndef STAGES_FETCH_HTTP_HTTP_SETTINGS_H
#define STAGES_FETCH_HTTP_HTTP_SETTINGS_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/options/opt.h"

enum { REQUEST_MAXIMUM = 64 << 10 };

/* Whose URLs connections are directed by; ftps is as ftp. */
enum fetch_scheme { SCHEME_HTTP, SCHEME_HTTPS, SCHEME_FTP, SCHEME_COUNT };

struct http_settings {
    struct curl_slist *headers;               /* of every request */
    struct curl_slist *connect[SCHEME_COUNT]; /* CURLOPT_CONNECT_TO; NULL: none */
    char *user_agent, *ca_file;
    char *anonymous;       /* who we are to FTP servers that have no credentials of ours */
    char *accept_resource; /* the Accept header line of requests for resources */
    long timeout_ms, connect_timeout_ms, stall_seconds;
    size_t size, header_size, memory;
    bool http2;
};

void http_settings_open(struct http_settings *settings, const struct opt_set *options);
void http_settings_release(struct http_settings *settings);

#endif
