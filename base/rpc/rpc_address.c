/* Addresses that stand in files, because a service may move. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rpc/rpc_socket.h"

enum { LINE_MAXIMUM = 300, PATH_MAXIMUM = 4096, PORT_MAXIMUM = 65535 };
static const char scheme[] = "at://";

bool
rpc_endpoint_is_published(const char *endpoint)
{
    return strncmp(endpoint, scheme, sizeof scheme - 1) == 0;
}

/* The port at the end of "host:port"; 0: there is none. */
static long
port_of(const char *text, const char **colon)
{
    char *end = NULL;
    *colon = strrchr(text, ':');
    const long port = *colon != NULL ? strtol(*colon + 1, &end, 10) : 0;
    return end != NULL && end > *colon + 1 && *end == '\0' && port > 0 && port <= PORT_MAXIMUM
               ? port
               : 0;
}

enum status
rpc_endpoint_read(const char *endpoint, char address[RPC_ADDRESS_SIZE], struct reason *why)
{
    char path[PATH_MAXIMUM], line[LINE_MAXIMUM] = "";
    const char *at = endpoint + sizeof scheme - 1, *colon, *host_end;
    const long offset = port_of(at, &colon);
    if (offset == 0 || colon == at || (size_t)(colon - at) >= sizeof path) {
        return status_fail(why, STATUS_MISUSE, "not at://PATH:OFFSET: %.200s", endpoint);
    }
    snprintf(path, sizeof path, "%.*s", (int)(colon - at), at);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return status_fail(why, STATUS_NOT_FOUND, "nobody has published an address in %.300s",
                           path);
    }
    (void)!read(file, line, sizeof line - 1);
    (void)close(file);
    line[strcspn(line, "\n")] = '\0';
    const long port = port_of(line, &host_end);
    if (port == 0 || host_end == line || port + offset > PORT_MAXIMUM) {
        return status_fail(why, STATUS_NOT_FOUND, "no address host:port in %.300s", path);
    }
    snprintf(address, RPC_ADDRESS_SIZE, "tcp://%.*s:%ld", (int)(host_end - line), line,
             port + offset);
    return STATUS_OK;
}
