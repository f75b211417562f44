#include "stages/fetch_proxy.h"

enum status
proxy_from(struct proxy *proxy, const struct opt_set *options, struct reason *why)
{
    static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};
    proxy->url = opt_string(options, "fetch.proxy");
    proxy->exception_count = opt_list(options, "fetch.no_proxy", &proxy->exceptions);
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
