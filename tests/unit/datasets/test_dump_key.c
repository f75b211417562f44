/* These tests are of the keys by which dumps are asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/url/url.h"
#include "datasets/dump_key.h"

static void
each_uri_has_its_key(void **state)
{
    static const struct {
        const char *uri, *key, *why;
    } cases[] = {
        {"http://h.example/a?b#c", "http://h.example/a?b", NULL},
        {"d.nt", "http://base.example/x/d.nt", NULL},
        {"ftp://Ftp.H.example:21/pub/a b.nt.gz", "ftp://ftp.h.example/pub/a%20b.nt.gz", NULL},
        {"FTP://me:secret@h.example/./x/../d.nt#f", "ftp://h.example/d.nt", NULL},
        {"ftp://h.example:2121/%2Fabs/d.nt;type=I", "ftp://h.example:2121/%2Fabs/d.nt", NULL},
        {"ftps://H.example:990/d.nt", "ftps://h.example/d.nt", NULL},
        {"ftps://h.example:21/d.nt", "ftps://h.example:21/d.nt", NULL},
        {"ftp://h.example/pub/", NULL, "a directory"},
        {"ftp://h.example", NULL, "a directory"},
        {"ftp://h.example/pub;type=d", NULL, "a directory"},
        {"ftp://h.example/pub/*.nt", NULL, "a pattern"},
        {"ftp://h.example/pub/[ab].nt", NULL, "a pattern"},
        {"ftp://h.example/pub/a?.nt", NULL, "no query"},
        {"ftp://h.example/d.nt;type=a", NULL, "as text"},
        {"ftp://h.example/d.nt%0d%0ADELE%20x", NULL, "a control character"},
        {"sftp://h.example/d.nt", NULL, "SSH is not spoken"},
        {"scp://h.example/d.nt", NULL, "SSH is not spoken"},
        {"rsync://h.example/d.nt", NULL, "only dumps by HTTP and FTP"},
        {"file:///etc/passwd", NULL, "only dumps by HTTP and FTP"},
        {"ftp://", NULL, ""},
        {"ftps:", NULL, ""},
        {"ftp:h.example/d.nt", "ftp://h.example/d.nt", NULL}, /* as browsers read it */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        struct buf key;
        buf_init(&key, URL_MAXIMUM + 1);
        buf_append_char(&key, '>');
        const enum status status =
            dump_key(slice_string(cases[i].uri), SLICE("http://base.example/x/y"), &key, &why);
        if (cases[i].key != NULL) {
            assert_int_equal(status, STATUS_OK);
            assert_string_equal(key.data + 1, cases[i].key);
        } else {
            assert_int_not_equal(status, STATUS_OK);
            assert_non_null(strstr(why.text, cases[i].why));
            assert_string_equal(key.data, ">");
        }
        buf_release(&key);
    }
}

static void
parts_of_keys_are_found(void **state)
{
    const struct slice key = SLICE("ftps://h.example:21/pub/d.nt");
    (void)state;
    assert_true(url_is_ftp(key));
    assert_true(url_is_ftp(SLICE("ftp://h.example/")));
    assert_false(url_is_ftp(SLICE("http://ftp.example/")));
    assert_true(slice_is(url_origin(key), "ftps://h.example:21"));
    assert_true(slice_is(url_host(key), "h.example"));
    assert_true(slice_is(url_path_query(key), "/pub/d.nt"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_uri_has_its_key),
        cmocka_unit_test(parts_of_keys_are_found),
    };
    return cmocka_run_group_tests_name("dump_key", tests, NULL, NULL);
}
