#include "shares/share_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_MAXIMUM = 65535, WEIGHT_MAXIMUM = 1000, LEASE_LEAST_MS = 200, LEASE_MOST_MS = 3600000 };

/* ---- lines "NAME VALUE" ---- */

/* The value of the first line of that name, until the end of the line; false: there is none. */
static bool
find_line(struct slice text, const char *name, struct slice *value)
{
    const size_t length = strlen(name);
    while (text.length > 0) {
        const size_t end = slice_find(text, '\n');
        if (end == text.length) {
            return false; /* a line without its end was not written whole */
        }
        if (end > length && memcmp(text.at, name, length) == 0 && text.at[length] == ' ') {
            *value = slice_of(text.at + length + 1, end - length - 1);
            return true;
        }
        text = slice_of(text.at + end + 1, text.length - end - 1);
    }
    return false;
}

bool
share_text_line(struct slice text, const char *name, char *value, size_t size)
{
    struct slice found;
    if (!find_line(text, name, &found) || found.length >= size) {
        return false;
    }
    (void)snprintf(value, size, "%.*s", SLICE_PRINT(found));
    return true;
}

static bool
number_line(struct slice text, const char *name, uint64_t most, uint64_t *value)
{
    char digits[24];
    char *end;
    if (!share_text_line(text, name, digits, sizeof digits) || digits[0] < '0' || digits[0] > '9') {
        return false;
    }
    *value = strtoull(digits, &end, 10);
    return *end == '\0' && *value <= most;
}

/* ---- settings ---- */

enum status
share_settings_parse(struct slice text, struct share_settings *settings, struct reason *why)
{
    uint64_t version, shares, lease;
    if (!number_line(text, "quadrille-cluster", 1, &version) || version != 1 ||
        !number_line(text, "shares", SHARES_MOST, &shares) || shares == 0 ||
        !number_line(text, "lease_ms", LEASE_MOST_MS, &lease) || lease < LEASE_LEAST_MS) {
        return status_fail(why, STATUS_MISUSE, "its file \"cluster\" is of no known format");
    }
    *settings = (struct share_settings){.shares = shares, .lease_ms = (uint32_t)lease};
    return STATUS_OK;
}

void
share_settings_put(const struct share_settings *settings, struct buf *text)
{
    buf_printf(text, "quadrille-cluster 1\nshares %zu\nlease_ms %" PRIu32 "\n", settings->shares,
               settings->lease_ms);
}

/* ---- sessions ---- */

bool
share_machine_name_is_good(const char *name)
{
    const size_t length = strlen(name);
    const size_t good = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789-_");
    return length > 0 && length < MACHINE_NAME_SIZE && good == length;
}

bool
share_address_is_good(const char *address)
{
    const char *colon = strrchr(address, ':');
    char *end = NULL;
    const long port = colon != NULL ? strtol(colon + 1, &end, 10) : 0;
    return colon != NULL && colon > address && strlen(address) < MACHINE_ADDRESS_SIZE &&
           strpbrk(address, " \t\n/") == NULL && *end == '\0' && port > 0 && port <= PORT_MAXIMUM;
}

bool
share_list_parse(const char *text, size_t shares, bool only[SHARES_MOST])
{
    memset(only, 0, SHARES_MOST * sizeof *only);
    for (;;) {
        char *end;
        if (*text < '0' || *text > '9') {
            return false;
        }
        const unsigned long share = strtoul(text, &end, 10);
        if (share >= shares || (*end != ',' && *end != '\0')) {
            return false;
        }
        only[share] = true;
        if (*end == '\0') {
            return true;
        }
        text = end + 1;
    }
}

bool
share_session_parse(struct slice text, struct share_session *session)
{
    uint64_t weight;
    char only[SHARE_TEXT_MAXIMUM / 64];
    *session = (struct share_session){0};
    if (!share_text_line(text, "session", session->session, sizeof session->session) ||
        !share_text_line(text, "machine", session->machine, sizeof session->machine) ||
        !share_text_line(text, "address", session->address, sizeof session->address) ||
        !number_line(text, "beat", UINT64_MAX, &session->beat) ||
        !number_line(text, "weight", WEIGHT_MAXIMUM, &weight) || weight == 0) {
        return false;
    }
    session->weight = (unsigned)weight;
    session->restricted = share_text_line(text, "only", only, sizeof only);
    return !session->restricted || share_list_parse(only, SHARES_MOST, session->only);
}

void
share_session_put(const struct share_session *session, struct buf *text)
{
    buf_printf(text, "session %s\nmachine %s\naddress %s\nbeat %" PRIu64 "\nweight %u\n",
               session->session, session->machine, session->address, session->beat,
               session->weight);
    if (session->restricted) {
        const char *before = "only ";
        for (size_t i = 0; i < SHARES_MOST; i++) {
            if (session->only[i]) {
                buf_printf(text, "%s%zu", before, i);
                before = ",";
            }
        }
        buf_append_char(text, '\n');
    }
}

void
share_session_told(struct slice text, size_t share, char told[SHARE_TOLD_SIZE])
{
    char name[32];
    (void)snprintf(name, sizeof name, "share %zu", share);
    if (!share_text_line(text, name, told, SHARE_TOLD_SIZE)) {
        told[0] = '\0';
    }
}

/* ---- claims ---- */

bool
share_claim_parse(struct slice text, struct share_claim *claim)
{
    char clean[8];
    *claim = (struct share_claim){0};
    claim->freed = share_text_line(text, "freed", claim->session, sizeof claim->session);
    if (!claim->freed && !share_text_line(text, "owner", claim->session, sizeof claim->session)) {
        return false;
    }
    if (!share_text_line(text, "clean", clean, sizeof clean)) {
        return false;
    }
    claim->clean = strcmp(clean, "yes") == 0;
    return true;
}

void
share_claim_put(const struct share_claim *claim, struct buf *text)
{
    buf_printf(text, "%s %s\nclean %s\n", claim->freed ? "freed" : "owner", claim->session,
               claim->clean ? "yes" : "no");
}
