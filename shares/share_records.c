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

static bool
hexadecimal_line(struct slice text, const char *name, uint64_t *value)
{
    enum { DIGITS = 16 };
    char digits[DIGITS + 1];
    if (!share_text_line(text, name, digits, sizeof digits) || strlen(digits) != DIGITS ||
        strspn(digits, "0123456789abcdef") != DIGITS) {
        return false;
    }
    *value = strtoull(digits, NULL, 16);
    return true;
}

/* ---- settings ---- */

enum status
share_settings_parse(struct slice text, struct share_settings *settings, struct reason *why)
{
    uint64_t version, shares, lease;
    char disks[8] = "";
    if (!number_line(text, "quadrille-cluster", 1, &version) || version != 1 ||
        !number_line(text, "shares", SHARES_MOST, &shares) || shares == 0 ||
        !number_line(text, "lease_ms", LEASE_MOST_MS, &lease) || lease < LEASE_LEAST_MS ||
        (share_text_line(text, "disks", disks, sizeof disks) && strcmp(disks, "own") != 0)) {
        return status_fail(why, STATUS_MISUSE, "its file \"cluster\" is of no known format");
    }
    *settings = (struct share_settings){
        .shares = shares, .lease_ms = (uint32_t)lease, .own_disks = disks[0] != '\0'};
    return STATUS_OK;
}

void
share_settings_put(const struct share_settings *settings, struct buf *text)
{
    buf_printf(text, "quadrille-cluster 1\nshares %zu\nlease_ms %" PRIu32 "\n%s", settings->shares,
               settings->lease_ms, settings->own_disks ? "disks own\n" : "");
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
share_copy_is_good(const char *copy)
{
    const size_t length = strlen(copy);
    return length > 0 && length < SHARE_COPY_SIZE && strspn(copy, "0123456789-") == length;
}

bool
share_disk_is_good(const char *disk)
{
    return disk[0] == '/' && strlen(disk) < MACHINE_DISK_SIZE && strpbrk(disk, " \t\n{}") == NULL;
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
    if (!share_text_line(text, "disk", session->disk, sizeof session->disk)) {
        session->disk[0] = '\0';
    } else if (!share_disk_is_good(session->disk)) {
        return false;
    }
    session->restricted = share_text_line(text, "only", only, sizeof only);
    return !session->restricted || share_list_parse(only, SHARES_MOST, session->only);
}

void
share_session_put(const struct share_session *session, struct buf *text)
{
    buf_printf(text, "session %s\nmachine %s\naddress %s\nbeat %" PRIu64 "\nweight %u\n",
               session->session, session->machine, session->address, session->beat,
               session->weight);
    if (session->disk[0] != '\0') {
        buf_printf(text, "disk %s\n", session->disk);
    }
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

/* "MACHINE COPY"; a text without it is of a share that lies nowhere. */
static bool
place_line(struct slice text, struct share_place *place)
{
    char value[MACHINE_NAME_SIZE + SHARE_COPY_SIZE];
    struct slice line;
    if (!find_line(text, "place", &line)) {
        return true;
    }
    if (!share_text_line(text, "place", value, sizeof value)) {
        return false;
    }
    const size_t machine = strcspn(value, " ");
    if (value[machine] == '\0') {
        return false;
    }
    value[machine] = '\0';
    if (!share_machine_name_is_good(value) || !share_copy_is_good(value + machine + 1)) {
        return false;
    }
    memcpy(place->machine, value, machine + 1);
    memcpy(place->copy, value + machine + 1, strlen(value + machine + 1) + 1);
    return true;
}

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
    return place_line(text, &claim->place);
}

void
share_claim_put(const struct share_claim *claim, struct buf *text)
{
    buf_printf(text, "%s %s\nclean %s\n", claim->freed ? "freed" : "owner", claim->session,
               claim->clean ? "yes" : "no");
    if (claim->place.machine[0] != '\0') {
        buf_printf(text, "place %s %s\n", claim->place.machine, claim->place.copy);
    }
}

/* ---- handovers ---- */

bool
share_handover_parse(struct slice text, struct share_handover *handover)
{
    struct share_extent *extent = &handover->extent;
    *handover = (struct share_handover){0};
    if (!share_text_line(text, "copy", handover->copy, sizeof handover->copy) ||
        !share_copy_is_good(handover->copy) ||
        !share_text_line(text, "to", handover->to, sizeof handover->to)) {
        return false;
    }
    handover->sent = number_line(text, "files", UINT64_MAX, &extent->files);
    return !handover->sent || (number_line(text, "bytes", UINT64_MAX, &extent->bytes) &&
                               hexadecimal_line(text, "digest", &extent->digest));
}

void
share_handover_put(const struct share_handover *handover, struct buf *text)
{
    buf_printf(text, "copy %s\nto %s\n", handover->copy, handover->to);
    if (handover->sent) {
        buf_printf(text, "files %" PRIu64 "\nbytes %" PRIu64 "\ndigest %016" PRIx64 "\n",
                   handover->extent.files, handover->extent.bytes, handover->extent.digest);
    }
}
