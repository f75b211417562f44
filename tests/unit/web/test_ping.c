/* Pings: receipts on disk, limits, XML-RPC, IndexNow, and what records say became of a URL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "metastore/record.h"
#include "tests/unit/scratch.h"
#include "web/ping/finding.h"
#include "web/ping/indexnow.h"
#include "web/ping/ping.h"
#include "web/ping/ping_limits.h"
#include "web/ping/receipts.h"
#include "web/ping/xmlrpc.h"

static char folder[SCRATCH_SIZE];
static const struct receipts_limits limits = {
    .file_bytes = 1000, .files = 3, .age_ms = 60ULL * 60 * 1000};

static int
make_folder(void **state)
{
    (void)state;
    return scratch_folder(folder, "test_ping") ? 0 : 1;
}

static int
remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- receipts ---- */

static void
add(struct receipts *receipts, const char *uri, enum receipt_proof proof,
    char name[RECEIPT_NAME_SIZE])
{
    struct reason why = {""};
    const struct receipt receipt = {.time_ms = clock_wall_ms(),
                                    .way = RECEIPT_INDEXNOW,
                                    .proof = proof,
                                    .sender = SLICE("192.0.2.1"),
                                    .key = SLICE("0123456789"),
                                    .key_location = SLICE("http://a.example/0123456789.txt"),
                                    .uris = slice_string(uri),
                                    .count = 1};
    if (receipts_add(receipts, &receipt, name, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

static enum status
read_uri(struct receipts *receipts, const char *name, struct receipt *receipt, char uri[100])
{
    struct reason why;
    struct buf memory;
    buf_init(&memory, 1 << 20);
    const enum status status = receipts_read(receipts, name, receipt, &memory, &why);
    snprintf(uri, 100, "%.*s", status == STATUS_OK ? (int)receipt->uris.length : 0,
             status == STATUS_OK ? receipt->uris.at : "");
    buf_release(&memory);
    return status;
}

static void
test_receipts_outlast_their_process(void **state)
{
    (void)state;
    char first[RECEIPT_NAME_SIZE], second[RECEIPT_NAME_SIZE], uri[100];
    struct receipt receipt;
    struct reason why;
    struct receipts *receipts = receipts_new(folder, &limits);
    add(receipts, "http://a.example/1\n", PROOF_NONE, first);
    add(receipts, "http://a.example/2\n", PROOF_AWAITED, second);
    receipts_free(receipts);
    receipts = receipts_new(folder, &limits);
    assert_int_equal(read_uri(receipts, first, &receipt, uri), STATUS_OK);
    assert_string_equal(uri, "http://a.example/1\n");
    assert_int_equal(receipt.proof, PROOF_NONE);
    assert_int_equal(receipts_prove(receipts, second, PROOF_GIVEN, &why), STATUS_OK);
    assert_int_equal(read_uri(receipts, second, &receipt, uri), STATUS_OK);
    assert_string_equal(uri, "http://a.example/2\n");
    assert_int_equal(receipt.proof, PROOF_GIVEN);
    assert_int_equal(receipt.way, RECEIPT_INDEXNOW);
    /* Nobody finds another's receipt by guessing. */
    second[31] = second[31] == '0' ? '1' : '0';
    assert_int_equal(read_uri(receipts, second, &receipt, uri), STATUS_NOT_FOUND);
    assert_int_equal(read_uri(receipts, "../../etc/passwd", &receipt, uri), STATUS_NOT_FOUND);
    assert_int_equal(read_uri(receipts, "", &receipt, uri), STATUS_NOT_FOUND);
    receipts_free(receipts);
}

/* A process that dies while it writes leaves a part of a receipt, which the next one cuts off. */
static void
test_half_receipt_is_cut_off(void **state)
{
    (void)state;
    char first[RECEIPT_NAME_SIZE], second[RECEIPT_NAME_SIZE], uri[100], path[128];
    struct receipt receipt;
    struct receipts *receipts = receipts_new(folder, &limits);
    add(receipts, "http://a.example/1\n", PROOF_NONE, first);
    receipts_free(receipts);
    snprintf(path, sizeof path, "%s/pings/00000001", folder);
    const int file = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(file, "\0\0\0\x40\0half", 9), 9);
    close(file);
    receipts = receipts_new(folder, &limits);
    add(receipts, "http://a.example/2\n", PROOF_NONE, second);
    assert_int_equal(read_uri(receipts, first, &receipt, uri), STATUS_OK);
    assert_int_equal(read_uri(receipts, second, &receipt, uri), STATUS_OK);
    assert_string_equal(uri, "http://a.example/2\n");
    receipts_free(receipts);
}

static void
test_one_process_writes(void **state)
{
    (void)state;
    char name[RECEIPT_NAME_SIZE], uri[100];
    struct receipt receipt;
    struct reason why = {""};
    struct receipts *one = receipts_new(folder, &limits);
    struct receipts *other = receipts_new(folder, &limits);
    add(one, "http://a.example/1\n", PROOF_NONE, name);
    assert_int_equal(read_uri(other, name, &receipt, uri), STATUS_OK);
    receipt = (struct receipt){.time_ms = clock_wall_ms()}; /* its bytes are freed */
    assert_int_equal(receipts_add(other, &receipt, name, &why), STATUS_AGAIN);
    receipts_free(one);
    assert_int_equal(receipts_add(other, &receipt, name, &why), STATUS_OK);
    receipts_free(other);
}

struct seen_names {
    char names[4][RECEIPT_NAME_SIZE];
    size_t count;
};

static bool
note_name(void *context, const char *name)
{
    struct seen_names *seen = context;
    assert_true(seen->count < 4);
    memcpy(seen->names[seen->count++], name, RECEIPT_NAME_SIZE);
    return true;
}

static void
test_receipts_that_wait_are_found(void **state)
{
    (void)state;
    char names[4][RECEIPT_NAME_SIZE];
    struct seen_names seen = {.count = 0};
    struct reason why;
    struct receipts *receipts = receipts_new(folder, &limits);
    assert_int_equal(receipts_awaiting(receipts, note_name, &seen, &why), STATUS_OK);
    assert_int_equal(seen.count, 0);
    add(receipts, "http://a.example/1\n", PROOF_AWAITED, names[0]);
    add(receipts, "http://a.example/2\n", PROOF_GIVEN, names[1]);
    add(receipts, "http://a.example/3\n", PROOF_AWAITED, names[2]);
    assert_int_equal(receipts_prove(receipts, names[0], PROOF_WRONG, &why), STATUS_OK);
    receipts_free(receipts);
    receipts = receipts_new(folder, &limits);
    assert_int_equal(receipts_awaiting(receipts, note_name, &seen, &why), STATUS_OK);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.names[0], names[2]);
    receipts_free(receipts);
}

/* ---- key files that are waited for ---- */

enum status __wrap_key_proof(struct web_service *service, struct slice key_file, struct slice key,
                             uint64_t since_ms, struct key_answer *answer, struct reason *why);

enum status
__wrap_key_proof(struct web_service *service, struct slice key_file, struct slice key,
                 uint64_t since_ms, struct key_answer *answer, struct reason *why)
{
    (void)service, (void)key_file, (void)key, (void)since_ms, (void)why;
    *answer = (struct key_answer){.proof = PROOF_WRONG, .told = {"another key"}};
    return STATUS_OK;
}

static bool
count_name(void *context, const char *name)
{
    size_t *count = context;
    (void)name;
    ++*count;
    return true;
}

/* Whoever was told that his key is awaited is not forgotten, however many others wait. */
static void
test_more_keys_than_are_watched_at_once(void **state)
{
    (void)state;
    enum { RECEIPTS = 1600, PATIENCE_MS = 120000, LOOK_US = 20000 };
    static const struct receipts_limits roomy = {
        .file_bytes = 16 << 20, .files = 3, .age_ms = 60ULL * 60 * 1000};
    char name[RECEIPT_NAME_SIZE];
    struct reason why;
    struct web_ping ping = {.receipts = receipts_new(folder, &roomy)};
    for (int i = 0; i < RECEIPTS; i++) {
        add(ping.receipts, "http://a.example/1\n", PROOF_AWAITED, name);
    }
    struct key_watch *watch = key_watch_open(&ping);
    const uint64_t until_ms = clock_monotonic_ms() + PATIENCE_MS;
    size_t waiting;
    do {
        usleep(LOOK_US);
        waiting = 0;
        assert_int_equal(receipts_awaiting(ping.receipts, count_name, &waiting, &why), STATUS_OK);
    } while (waiting > 0 && clock_monotonic_ms() < until_ms);
    key_watch_close(watch);
    assert_int_equal(waiting, 0);
    receipts_free(ping.receipts);
}

static void
test_oldest_receipts_go(void **state)
{
    (void)state;
    char first[RECEIPT_NAME_SIZE], name[RECEIPT_NAME_SIZE], uri[100], long_uri[1100];
    struct receipt receipt;
    struct receipts *receipts = receipts_new(folder, &limits);
    memset(long_uri, 'x', sizeof long_uri - 1);
    long_uri[sizeof long_uri - 1] = '\0';
    add(receipts, long_uri, PROOF_NONE, first);
    for (int i = 0; i < 2; i++) { /* each fills a file */
        add(receipts, long_uri, PROOF_NONE, name);
        assert_int_equal(read_uri(receipts, first, &receipt, uri), STATUS_OK);
    }
    add(receipts, long_uri, PROOF_NONE, name);
    assert_int_equal(read_uri(receipts, first, &receipt, uri), STATUS_NOT_FOUND);
    assert_int_equal(read_uri(receipts, name, &receipt, uri), STATUS_OK);
    receipts_free(receipts);
}

/* ---- limits ---- */

static void
test_limits(void **state)
{
    (void)state;
    struct ping_limits *counts = ping_limits_new();
    const uint64_t now_ms = 1000000;
    const struct ping_claim sixty = {.who = 7, .most = 100, .n = 60};
    const struct ping_claim both[] = {{.who = 9, .most = 100, .n = 50}, sixty};
    const struct ping_claim never = {.who = 8, .most = 100, .n = 101};
    const struct ping_claim nobody = {.who = 8, .most = 0, .n = 1};
    assert_int_equal(ping_limits_take(counts, &sixty, 1, now_ms), 0);
    /* 20 too many: a fifth of an hour. */
    assert_int_equal(ping_limits_take(counts, &sixty, 1, now_ms), 720);
    assert_in_range(ping_limits_take(counts, &sixty, 1, now_ms + 719000), 1, 2);
    /* What one claim refuses the others do not pay for. */
    assert_true(ping_limits_take(counts, both, 2, now_ms) > 0);
    assert_int_equal(ping_limits_take(counts, both, 1, now_ms), 0);
    assert_int_equal(ping_limits_take(counts, both, 1, now_ms), 0);
    assert_int_equal(ping_limits_take(counts, &sixty, 1, now_ms + 720000), 0);
    assert_true(ping_limits_take(counts, &never, 1, now_ms) > 0);
    assert_int_equal(ping_limits_take(counts, &nobody, 1, now_ms), 3600);
    ping_limits_free(counts);
}

/* ---- XML-RPC ---- */

#define CALL(method, params)                                                                \
    "<?xml version=\"1.0\"?><methodCall><methodName>" method "</methodName><params>" params \
    "</params></methodCall>"

static void
test_xmlrpc_calls(void **state)
{
    (void)state;
    struct xmlrpc_call call;
    struct reason why;
    assert_int_equal(
        xmlrpc_read(&call,
                    SLICE(CALL("weblogUpdates.ping",
                               "<param><value><string>A &amp; B</string></value></param>"
                               "<param><value> http://a.example/?a=1&amp;b=2 </value></param>"
                               "<param><value><int>7</int></value></param><param/>")),
                    &why),
        STATUS_OK);
    assert_string_equal(call.method, "weblogUpdates.ping");
    assert_int_equal(call.count, 4);
    assert_string_equal(call.parameters[0], "A & B");
    assert_string_equal(call.parameters[1], "http://a.example/?a=1&b=2");
    assert_string_equal(call.parameters[2], "");
    assert_string_equal(call.parameters[3], "");
    xmlrpc_release(&call);
}

static void
test_xmlrpc_refuses(void **state)
{
    (void)state;
    static const char nine[] = CALL("m", "<param/><param/><param/><param/><param/><param/><param/>"
                                         "<param/><param/>");
    static const char *const bodies[] = {
        "", "no XML", "<methodCall>", "<other/>", "<methodCall/>", CALL("", ""), nine,
        /* Entities multiply, and reach files. */
        "<!DOCTYPE m [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>" CALL("&b;", ""),
        "<!DOCTYPE m [<!ENTITY f SYSTEM \"file:///etc/passwd\">]>" CALL("&f;", "")};
    struct xmlrpc_call call;
    struct buf deep;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct reason why = {""};
        if (xmlrpc_read(&call, slice_string(bodies[i]), &why) != STATUS_BAD_INPUT ||
            why.text[0] == '\0') {
            fail_msg("taken: %s", bodies[i]);
        }
    }
    buf_init(&deep, 1 << 16);
    buf_append_string(&deep, "<methodCall><methodName>m</methodName>");
    for (int i = 0; i < 100; i++) {
        buf_append_string(&deep, "<a>");
    }
    for (int i = 0; i < 100; i++) {
        buf_append_string(&deep, "</a>");
    }
    buf_append_string(&deep, "</methodCall>");
    assert_int_equal(xmlrpc_read(&call, buf_slice(&deep), NULL), STATUS_BAD_INPUT);
    buf_release(&deep);
}

static void
test_xmlrpc_replies(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 1 << 16);
    xmlrpc_ping_reply(&out, true, "<b>&", SLICE("/ping/1"));
    assert_non_null(strstr(out.data, "<name>flerror</name><value><boolean>1</boolean>"));
    assert_non_null(strstr(out.data, "<string>&lt;b&gt;&amp;</string>"));
    assert_non_null(strstr(out.data, "<name>receipt</name><value><string>/ping/1</string>"));
    buf_reset(&out);
    xmlrpc_fault(&out, -32601, "no");
    assert_non_null(strstr(out.data, "<name>faultCode</name><value><int>-32601</int>"));
    buf_release(&out);
}

/* ---- IndexNow ---- */

static void
test_indexnow_bodies(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum status status;
    } cases[] = {
        {"{\"host\":\"a.example\",\"key\":\"k\",\"urlList\":[\"http://a.example/\"]}", STATUS_OK},
        {"{\"host\":\"a.example\",\"key\":\"k\",\"urlList\":[]}", STATUS_BAD_INPUT},
        {"{\"host\":\"a.example\",\"key\":\"k\",\"urlList\":[1]}", STATUS_BAD_INPUT},
        {"{\"host\":\"a.example\",\"key\":\"k\",\"urlList\":\"http://a.example/\"}",
         STATUS_BAD_INPUT},
        {"{\"key\":\"k\",\"urlList\":[\"http://a.example/\"]}", STATUS_BAD_INPUT},
        {"{\"host\":\"a.example\",\"urlList\":[\"http://a.example/\"]}", STATUS_BAD_INPUT},
        {"{\"host\":1,\"key\":[],\"urlList\":[\"\"]}", STATUS_BAD_INPUT},
        {"[]", STATUS_BAD_INPUT},
        {"", STATUS_BAD_INPUT},
        {"{", STATUS_BAD_INPUT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct indexnow_call call;
        struct reason why;
        if (indexnow_read(&call, slice_string(cases[i].body), &why) != cases[i].status) {
            fail_msg("%s", cases[i].body);
        }
        json_decref(call.json);
    }
}

static void
test_indexnow_keys(void **state)
{
    (void)state;
    static const struct {
        const char *url, *location; /* "": at the root */
        const char *file;           /* NULL: refused */
        bool speaks;
    } cases[] = {
        {"http://a.example/x", "", "http://a.example/0123abcd.txt", true},
        {"https://a.example:8443/x", "", "https://a.example:8443/0123abcd.txt", true},
        {"http://a.example/x", "https://a.example/k.txt", "https://a.example/k.txt", true},
        {"http://a.example/x/y", "http://a.example/x/k.txt", "http://a.example/x/k.txt", true},
        {"http://a.example/y", "http://a.example/x/k.txt", "http://a.example/x/k.txt", false},
        {"http://a.example/xy", "http://a.example/x?/k.txt", "http://a.example/x?/k.txt", true},
        {"http://a.example/x", "http://b.example/k.txt", NULL, false},
        {"http://a.example/x", "http://a.example:81/k.txt", NULL, false},
        {"http://a.example/x", "ftp://a.example/k.txt", NULL, false}};
    struct buf file;
    struct reason why;
    buf_init(&file, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_reset(&file);
        const bool good =
            indexnow_key_file(slice_string(cases[i].url), SLICE("0123abcd"),
                              slice_string(cases[i].location), &file, &why) == STATUS_OK;
        if (good != (cases[i].file != NULL) ||
            (good && (strcmp(file.data, cases[i].file) != 0 ||
                      indexnow_speaks_for(buf_slice(&file), slice_string(cases[i].url)) !=
                          cases[i].speaks))) {
            fail_msg("%s %s", cases[i].url, cases[i].location);
        }
    }
    buf_release(&file);
    assert_true(indexnow_key_is_valid(SLICE("ABcd-123")));
    assert_false(indexnow_key_is_valid(SLICE("ABcd-12")));
    assert_false(indexnow_key_is_valid(SLICE("ABcd-12/../x")));
}

/* ---- what became of it ---- */

static void
test_findings(void **state)
{
    (void)state;
    static const struct finding_look
        gone = {.known = true, .generation = 2},
        waits = {.known = true, .waiting = true, .generation = 2},
        leased = {.known = true, .waiting = true, .found = true, .leased = true, .generation = 2},
        scheduled = {.known = true, .waiting = true, .scheduled = true, .generation = 2},
        lost = {.known = false};
    static const struct {
        const char *state;
        unsigned stated, generation, status, content, added, indexed;
        const struct finding_look *look;
        enum finding_state expected;
        const char *outcome;
        bool final;
    } cases[] = {{NULL, 0, 0, 0, 0, 0, 0, &waits, FINDING_QUEUED, "", false},
                 {NULL, 0, 0, 0, 0, 0, 0, &leased, FINDING_FETCHING, "", false},
                 {NULL, 0, 0, 0, 0, 0, 0, &lost, FINDING_LOST, "", true},
                 {NULL, 0, 0, 0, 0, 0, 0, &gone, FINDING_FETCHING, "", false},
                 /* What an earlier visit found is not what became of this ping. */
                 {"indexed", 1, 1, 200, 1, 1, 1, &waits, FINDING_QUEUED, "", false},
                 {"indexed", 1, 1, 200, 1, 1, 1, &gone, FINDING_FETCHING, "", false},
                 {"indexed", 2, 2, 200, 2, 1, 1, &scheduled, FINDING_INDEXED, "indexed", true},
                 {"fetched", 2, 2, 200, 2, 0, 0, NULL, FINDING_FETCHED, "", false},
                 {"fetched", 2, 2, 200, 0, 0, 0, NULL, FINDING_ENDED, "fetched", true},
                 /* Not modified, and the content that stands is still worked on. */
                 {"fetched", 1, 2, 304, 1, 0, 0, NULL, FINDING_FETCHED, "", false},
                 {"indexed", 1, 2, 304, 1, 5, 1, NULL, FINDING_INDEXED, "not_modified", true},
                 {"unknown", 1, 2, 304, 1, 0, 0, NULL, FINDING_ENDED, "unknown_type", true},
                 {"fetched", 2, 2, 304, 1, 0, 1, NULL, FINDING_INDEXED, "not_modified", true},
                 {"indexed", 2, 2, 200, 2, 5, 1, NULL, FINDING_INDEXED, "indexed", true},
                 {"indexed", 2, 2, 200, 2, 0, 1, NULL, FINDING_INDEXED, "unchanged", true},
                 {"unknown", 2, 2, 200, 2, 0, 0, NULL, FINDING_ENDED, "unknown_type", true},
                 {"redirected", 2, 2, 301, 0, 0, 0, NULL, FINDING_ENDED, "redirected", true},
                 {"denied", 2, 2, 0, 0, 0, 0, &gone, FINDING_ENDED, "denied", true},
                 {"failed", 2, 2, 0, 0, 0, 0, &waits, FINDING_ENDED, "failed", true}, /* buried */
                 {"failed", 2, 2, 0, 0, 0, 0, &leased, FINDING_FETCHING, "", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct meta_update update;
        struct buf record;
        struct finding finding = {0};
        meta_update_init(&update);
        buf_init(&record, 1 << 16);
        if (cases[i].state != NULL) {
            struct buf before;
            buf_init(&before, 1 << 16);
            meta_set_text(&update, META_STATE, slice_string(cases[i].state));
            meta_set_number(&update, META_GENERATION, cases[i].stated);
            meta_set_number(&update, META_CONTENT, cases[i].content);
            assert_int_equal(meta_merge((struct slice){0}, meta_update_fields(&update), &before),
                             META_MERGED);
            meta_update_reset(&update);
            meta_set_number(&update, META_GENERATION, cases[i].generation);
            meta_set_number(&update, META_HTTP_STATUS, cases[i].status);
            meta_set_number(&update, META_QUADS_ADDED, cases[i].added);
            meta_set_number(&update, META_INDEXED, cases[i].indexed);
            assert_int_equal(meta_merge(buf_slice(&before), meta_update_fields(&update), &record),
                             META_MERGED);
            buf_release(&before);
        }
        finding_judge(&finding, buf_slice(&record), cases[i].look);
        if (finding.state != cases[i].expected || finding.final != cases[i].final ||
            strcmp(finding.outcome, cases[i].outcome) != 0) {
            fail_msg("case %zu: %s %s %d", i, finding_names[finding.state], finding.outcome,
                     finding.final);
        }
        meta_update_release(&update);
        buf_release(&record);
    }
}

/* A reason too long for its place is cut between characters: JSON has no others. */
static void
test_finding_stays_text(void **state)
{
    (void)state;
    struct meta_update update;
    struct buf record, reason;
    struct finding finding = {0};
    meta_update_init(&update);
    buf_init(&record, 1 << 16);
    buf_init(&reason, 1 << 12);
    (void)buf_append_string(&reason, "xxx"); /* the last place is inside of a character */
    for (size_t i = 0; i < REASON_SIZE; i++) {
        (void)buf_append_string(&reason, i % 2 == 0 ? "\xC3\xA9" : "\xE2\x82\xAC");
    }
    meta_set_text(&update, META_STATE, SLICE("failed"));
    meta_set_text(&update, META_REASON, buf_slice(&reason));
    assert_int_equal(meta_merge((struct slice){0}, meta_update_fields(&update), &record),
                     META_MERGED);
    finding_judge(&finding, buf_slice(&record), NULL);
    json_t *text = json_string(finding.reason);
    assert_non_null(text);
    assert_in_range(json_string_length(text), REASON_SIZE - 4, REASON_SIZE - 1);
    json_decref(text);
    meta_update_release(&update);
    buf_release(&record);
    buf_release(&reason);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_receipts_outlast_their_process, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_half_receipt_is_cut_off, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_one_process_writes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_receipts_that_wait_are_found, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_more_keys_than_are_watched_at_once, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_oldest_receipts_go, make_folder, remove_folder),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_xmlrpc_calls),
        cmocka_unit_test(test_xmlrpc_refuses),
        cmocka_unit_test(test_xmlrpc_replies),
        cmocka_unit_test(test_indexnow_bodies),
        cmocka_unit_test(test_indexnow_keys),
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_finding_stays_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
