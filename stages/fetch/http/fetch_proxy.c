#include "stages/fetch/http/fetch_proxy.h"

#include <curl/curl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"

enum { LOOK_MS = 5000 };

enum status
proxy_from(struct proxy *proxy, const struct opt_set *options, struct reason *why)
{
    static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};
    *proxy = (struct proxy){.url = opt_string(options, "fetch.proxy")};
    proxy->exception_count = opt_list(options, "fetch.no_proxy", &proxy->exceptions);
    pthread_mutex_init(&proxy->lock, NULL);
    bool known = proxy->url[0] == '\0';
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        known |= slice_starts(slice_string(proxy->url), slice_string(schemes[i]));
    }
    return known
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE,
                             "fetch.proxy begins with http://, https://, socks5:// or socks5h://");
}

static bool
is_below(struct slice host, struct slice domain)
{
    if (domain.length > 0 && domain.at[0] == '.') {
        domain = slice_of(domain.at + 1, domain.length - 1);
    }
    if (host.length <= domain.length) {
        return slice_equal_nocase(host, domain);
    }
    const size_t before = host.length - domain.length - 1;
    return domain.length > 0 && host.at[before] == '.' &&
           slice_equal_nocase(slice_of(host.at + before + 1, domain.length), domain);
}

bool
proxy_takes(const struct proxy *proxy, struct slice host)
{
    bool takes = proxy->url[0] != '\0';
    for (size_t i = 0; takes && i < proxy->exception_count; i++) {
        const struct slice exception = slice_string(proxy->exceptions[i]);
        takes = !slice_is(exception, "*") && !is_below(host, exception);
    }
    return takes;
}

void
proxy_release(struct proxy *proxy)
{
    if (proxy->url != NULL) {
        pthread_mutex_destroy(&proxy->lock);
    }
    if (proxy->addresses != NULL) {
        freeaddrinfo(proxy->addresses);
        proxy->addresses = NULL;
    }
}

/* ---- where it is ---- */

/* libcurl's ports where the URL names none. */
static const char *
usual_port(const char *scheme)
{
    return strcmp(scheme, "https") == 0 ? "443" : "1080";
}

static void
look_up(struct proxy *proxy)
{
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    CURLU *url = curl_url();
    char *host = NULL, *port = NULL, *scheme = NULL;
    if (curl_url_set(url, CURLUPART_URL, proxy->url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK) {
        (void)curl_url_get(url, CURLUPART_PORT, &port, 0);
        if (host[0] == '[') {
            memmove(host, host + 1, strlen(host));
            host[strcspn(host, "]")] = '\0';
        }
        struct addrinfo *found = NULL;
        if (getaddrinfo(host, port != NULL ? port : usual_port(scheme), &wanted, &found) == 0) {
            if (proxy->addresses != NULL) {
                freeaddrinfo(proxy->addresses);
            }
            proxy->addresses = found;
        }
    }
    curl_free(host);
    curl_free(port);
    curl_free(scheme);
    curl_url_cleanup(url);
}

static bool
is_same(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family) {
        return false;
    }
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *one = (const void *)a, *other = (const void *)b;
        return one->sin_port == other->sin_port && one->sin_addr.s_addr == other->sin_addr.s_addr;
    }
    const struct sockaddr_in6 *one = (const void *)a, *other = (const void *)b;
    return a->sa_family == AF_INET6 && one->sin6_port == other->sin6_port &&
           memcmp(&one->sin6_addr, &other->sin6_addr, sizeof one->sin6_addr) == 0;
}

static bool
is_known(const struct proxy *proxy, const struct sockaddr *address)
{
    for (const struct addrinfo *one = proxy->addresses; one != NULL; one = one->ai_next) {
        if (is_same(one->ai_addr, address)) {
            return true;
        }
    }
    return false;
}

bool
proxy_is_at(struct proxy *proxy, const struct sockaddr *address)
{
    if (proxy->url[0] == '\0') {
        return false;
    }
    pthread_mutex_lock(&proxy->lock);
    const uint64_t now_ms = clock_monotonic_ms();
    bool known = is_known(proxy, address);
    if (!known && (proxy->looked_ms == 0 || proxy->looked_ms + LOOK_MS <= now_ms)) {
        proxy->looked_ms = now_ms;
        look_up(proxy);
        known = is_known(proxy, address);
    }
    pthread_mutex_unlock(&proxy->lock);
    return known;
}
