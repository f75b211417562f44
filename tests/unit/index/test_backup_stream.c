/* Streams of which backups are made, and copies of files (index/maintenance/backup_files.c):
 * nothing that another machine sends leads out of the folder, and what is not whole is no backup.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/system/file.h"
#include "index/maintenance/backup.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/scratch.h"

enum { PATH = SCRATCH_SIZE + 512, TEXT_MAXIMUM = 1 << 16 };

static char base[SCRATCH_SIZE], folder[PATH];
static struct buf stream, manifest_text;
static int write_error, sync_error, close_error; /* errno of a call that fails; 0: none does */

bool __real_file_write_all(int file, struct slice bytes);
bool __wrap_file_write_all(int file, struct slice bytes);
bool
__wrap_file_write_all(int file, struct slice bytes)
{
    if (write_error != 0) {
        errno = write_error;
        return false;
    }
    return __real_file_write_all(file, bytes);
}

int __real_fsync(int file);
int __wrap_fsync(int file);
int
__wrap_fsync(int file)
{
    if (sync_error != 0) {
        errno = sync_error;
        return -1;
    }
    return __real_fsync(file);
}

int __real_close(int file);
int __wrap_close(int file);
int
__wrap_close(int file)
{
    const int closed = __real_close(file);
    if (close_error != 0) {
        errno = close_error;
        return -1;
    }
    return closed;
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&stream, TEXT_MAXIMUM);
    buf_init(&manifest_text, TEXT_MAXIMUM);
    if (!scratch_folder(base, "test_backup_stream")) {
        return -1;
    }
    snprintf(folder, sizeof folder, "%s/copy", base);
    return 0;
}

static int
tear_down(void **state)
{
    char command[PATH];
    (void)state;
    buf_release(&stream);
    buf_release(&manifest_text);
    snprintf(command, sizeof command, "rm -rf %s", base);
    return system(command);
}

static void
remove_folder(void)
{
    char command[PATH + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* Frames as letters: "F name;" begins a file, "B bytes;" are of it, "E;" is its end, "W;" the
 * whole's. */
static void
write_frames(const char *frames)
{
    buf_reset(&stream);
    for (const char *at = frames; *at != '\0'; at += strcspn(at, ";") + 1) {
        static const char kinds[] = "?FBEW";
        codec_put_u8(&stream, (uint8_t)(strchr(kinds, *at) - kinds));
        if (*at == 'F' || *at == 'B') {
            codec_put_slice(&stream, slice_of(at + 2, strcspn(at, ";") - 2));
        }
    }
}

/* Receives what write_frames wrote in pieces; the manifest's text is in manifest_text. */
static enum status
receive(size_t piece, uint64_t *bytes, struct reason *why)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/manifest", base);
    FILE *manifest = fopen(path, "w");
    assert_non_null(manifest);
    struct backup_receiver *receiver = backup_receiver_new(folder, "index-0", manifest);
    enum status status = STATUS_OK;
    for (size_t done = 0; done < stream.length && status == STATUS_OK; done += piece) {
        const size_t left = stream.length - done;
        status = backup_receive(receiver, slice_of(stream.data + done, left < piece ? left : piece),
                                why);
    }
    if (status == STATUS_OK) {
        status = backup_receiver_end(receiver, bytes, why);
    }
    backup_receiver_free(receiver);
    assert_int_equal(fclose(manifest), 0);
    buf_reset(&manifest_text);
    assert_int_equal(file_read(path, &manifest_text, NULL), STATUS_OK);
    (void)buf_append(&manifest_text, "", 1);
    return status;
}

static void
files_come_whole_however_the_stream_is_cut(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= 64; piece *= 4) {
        struct reason why = {""};
        char path[PATH + 16];
        struct buf text;
        uint64_t bytes = 0;
        write_frames("F a.db;B abc;B de;E;F log.z019;E;W;");
        assert_int_equal(receive(piece, &bytes, &why), STATUS_OK);
        assert_int_equal(bytes, 5);
        assert_string_equal(
            manifest_text.data,
            "36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c\t5\tindex-0/a.db\n"
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\t0\t"
            "index-0/log.z019\n");
        buf_init(&text, TEXT_MAXIMUM);
        snprintf(path, sizeof path, "%s/a.db", folder);
        assert_int_equal(file_read(path, &text, &why), STATUS_OK);
        assert_true(slice_equal(buf_slice(&text), SLICE("abcde")));
        /* What is in an index is nobody else's affair. */
        struct stat info;
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
        assert_int_equal(stat(folder, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0700);
        buf_release(&text);
        assert_int_equal(unlink(path), 0);
        snprintf(path, sizeof path, "%s/log.z019", folder);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rmdir(folder), 0);
    }
}

static void
streams_that_make_no_sense_are_refused(void **state)
{
    static const char *const frames[] = {
        "B x;W;",           "E;W;",       "F a;F b;E;W;", "F a;B x;W;",  "W;W;",
        "F a;E;W;F b;E;W;", "F ;E;W;",    "F .a;E;W;",    "F ../a;E;W;", "F a/b;E;W;",
        "F A;E;W;",         "F a_b;E;W;", "F a b;E;W;",   "F \x7f;E;W;", "?;W;",
        "F `;E;W;",         "F {;E;W;",   "F a:;E;W;",    "F a\x01;E;W;"};
    char name[256];
    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct reason why = {""};
        write_frames(frames[i]);
        assert_int_equal(receive(1000, NULL, &why), STATUS_PROTOCOL);
        assert_string_equal(why.text, "the index sent a malformed copy");
        remove_folder();
    }
    for (unsigned length = 200; length <= 201; length++) { /* NAME_MOST */
        struct reason why = {""};
        snprintf(name, sizeof name, "F %0*d;E;W;", (int)length, 0);
        write_frames(name);
        assert_int_equal(receive(1000, NULL, &why), length == 200 ? STATUS_OK : STATUS_PROTOCOL);
        remove_folder();
    }
}

static void
what_is_not_whole_is_no_backup(void **state)
{
    static const char *const frames[] = {"", "F a;E;", "F a;", "F a;B x;"};
    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct reason why = {""};
        write_frames(frames[i]);
        assert_int_equal(receive(1000, NULL, &why), STATUS_CORRUPT);
        assert_string_equal(why.text, "the copy of index-0 is not whole");
        remove_folder();
    }
    struct reason why = {""};
    write_frames("F a;E;W;");
    codec_put_u8(&stream, BACKUP_BYTES); /* a frame that has only begun */
    assert_int_equal(receive(1000, NULL, &why), STATUS_CORRUPT);
}

static void
a_copy_of_a_file_is_told_with_its_digest(void **state)
{
    char from[PATH], to[PATH], digest[65];
    struct reason why = {""};
    uint64_t bytes = 7;
    (void)state;
    snprintf(from, sizeof from, "%s/from", base);
    snprintf(to, sizeof to, "%s/to", base);
    assert_int_equal(backup_copy_file(from, to, "to", NULL, digest, &bytes, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot read"));
    assert_int_equal(bytes, 0);
    assert_int_not_equal(access(to, F_OK), 0);
    /* A folder can be opened and not read. */
    assert_int_equal(backup_copy_file(base, to, "to", NULL, digest, &bytes, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot read"));
    assert_int_equal(unlink(to), 0);
    FILE *file = fopen(from, "w");
    assert_non_null(file);
    assert_int_equal(fputs("abcde", file) < 0, 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(backup_copy_file(from, to, "to", NULL, digest, &bytes, &why), STATUS_OK);
    assert_int_equal(bytes, 5);
    assert_string_equal(digest, "36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c");
    /* What is there already is not written over. */
    assert_int_equal(backup_copy_file(from, to, "to", NULL, digest, &bytes, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot make"));
}

/* ---- faults ---- */

static void
copies_that_fail(void **state)
{
    struct reason why = {""};
    (void)state;
    char from[PATH], to[PATH], text[2 * PATH], digest[65];
    snprintf(from, sizeof from, "%s/from", base);
    snprintf(to, sizeof to, "%s/to", base);
    (void)unlink(to);
    FILE *file = fopen(from, "w");
    assert_non_null(file);
    assert_true(fputs("abcde", file) >= 0);
    assert_int_equal(fclose(file), 0);
    const struct {
        int *error, code;
        enum status status;
    } cases[] = {{&write_error, EIO, STATUS_SYSTEM},  {&write_error, ENOSPC, STATUS_FULL},
                 {&write_error, EDQUOT, STATUS_FULL}, {&sync_error, EIO, STATUS_SYSTEM},
                 {&sync_error, ENOSPC, STATUS_FULL},  {&close_error, EIO, STATUS_SYSTEM},
                 {&close_error, EDQUOT, STATUS_FULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t bytes = 0;
        const size_t before = open_descriptors();
        *cases[i].error = cases[i].code;
        assert_int_equal(backup_copy_file(from, to, "name", NULL, digest, &bytes, &why),
                         cases[i].status);
        *cases[i].error = 0;
        snprintf(text, sizeof text, "cannot write %s: %s", to, strerror(cases[i].code));
        assert_string_equal(why.text, text);
        assert_int_equal(open_descriptors(), before);
        assert_int_equal(unlink(to), 0);
    }
    /* A manifest that cannot be written. */
    FILE *manifest = fopen(from, "r");
    assert_non_null(manifest);
    uint64_t bytes = 0;
    assert_int_equal(backup_copy_file(from, to, "name", manifest, NULL, &bytes, &why),
                     STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot write the manifest"));
    assert_int_equal(fclose(manifest), 0);
    assert_int_equal(unlink(to), 0);
    /* And one that can be. */
    manifest = tmpfile();
    assert_non_null(manifest);
    assert_int_equal(backup_copy_file(from, to, "name", manifest, NULL, &bytes, &why), STATUS_OK);
    assert_int_equal(bytes, 5);
    rewind(manifest);
    assert_non_null(fgets(text, sizeof text, manifest));
    assert_string_equal(
        text, "36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c\t5\tname\n");
    assert_null(fgets(text, sizeof text, manifest));
    assert_int_equal(fclose(manifest), 0);
}

static void
receivers_that_cannot_write(void **state)
{
    struct reason why = {""};
    (void)state;
    char path[PATH];
    const uint8_t begin_file[] = {BACKUP_FILE, 1, 'a'}, bytes[] = {BACKUP_BYTES, 2, 'x', 'y'},
                  end_file[] = {BACKUP_END}, whole[] = {BACKUP_WHOLE};
#define FRAME(frame) slice_of((const char *)(frame), sizeof(frame))
    remove_folder();
    const size_t before = open_descriptors();
    snprintf(path, sizeof path, "%s/none/copy", base);
    struct backup_receiver *receiver = backup_receiver_new(path, "index", NULL);
    assert_int_equal(backup_receive(receiver, FRAME(begin_file), &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot make"));
    backup_receiver_free(receiver);
    snprintf(path, sizeof path, "%s/copy", base);
    receiver = backup_receiver_new(path, "index", NULL);
    assert_int_equal(backup_receive(receiver, FRAME(begin_file), &why), STATUS_OK);
    write_error = ENOSPC;
    assert_int_equal(backup_receive(receiver, FRAME(bytes), &why), STATUS_FULL);
    write_error = 0;
    backup_receiver_free(receiver);
    assert_int_equal(open_descriptors(), before);
    /* The file of before is not written over. */
    receiver = backup_receiver_new(path, "index", NULL);
    assert_int_equal(backup_receive(receiver, FRAME(begin_file), &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot make"));
    assert_non_null(strstr(why.text, "/copy/a"));
    backup_receiver_free(receiver);
    snprintf(path, sizeof path, "%s/copy/a", base);
    assert_int_equal(unlink(path), 0);
    path[strlen(path) - 2] = '\0';
    receiver = backup_receiver_new(path, "index", NULL);
    assert_int_equal(backup_receive(receiver, FRAME(begin_file), &why), STATUS_OK);
    assert_int_equal(backup_receive(receiver, FRAME(bytes), &why), STATUS_OK);
    sync_error = EIO;
    assert_int_equal(backup_receive(receiver, FRAME(end_file), &why), STATUS_SYSTEM);
    sync_error = 0;
    assert_int_equal(backup_receiver_end(receiver, NULL, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "the copy of index is not whole");
    backup_receiver_free(receiver);
    /* The folder's name is to last, too. */
    receiver = backup_receiver_new(path, "index", NULL);
    assert_int_equal(backup_receive(receiver, FRAME(whole), &why), STATUS_OK);
    sync_error = EIO;
    assert_int_equal(backup_receiver_end(receiver, NULL, &why), STATUS_SYSTEM);
    sync_error = 0;
    uint64_t count = 7;
    assert_int_equal(backup_receiver_end(receiver, &count, &why), STATUS_OK);
    assert_int_equal(count, 0);
    backup_receiver_free(receiver);
    assert_int_equal(open_descriptors(), before);
}

/* A frame that never ends is not waited for without end. */
static void
frames_that_are_too_long(void **state)
{
    struct reason why = {""};
    (void)state;
    enum { PIECE = 1 << 20, PIECES = 16 };
    struct buf header;
    buf_init(&header, 64);
    codec_put_u8(&header, BACKUP_BYTES);
    codec_put_varint(&header, (uint64_t)1 << 40);
    char *piece = calloc(1, PIECE);
    assert_non_null(piece);
    struct backup_receiver *receiver = backup_receiver_new(folder, "index", NULL);
    assert_int_equal(backup_receive(receiver, buf_slice(&header), &why), STATUS_OK);
    for (int i = 0; i < PIECES - 1; i++) {
        assert_int_equal(backup_receive(receiver, slice_of(piece, PIECE), &why), STATUS_OK);
    }
    assert_int_equal(backup_receive(receiver, slice_of(piece, PIECE), &why), STATUS_PROTOCOL);
    assert_string_equal(why.text, "the index sent a malformed copy");
    backup_receiver_free(receiver);
    buf_release(&header);
    free(piece);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    backup_receiver_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_whole_however_the_stream_is_cut),
        cmocka_unit_test(streams_that_make_no_sense_are_refused),
        cmocka_unit_test(what_is_not_whole_is_no_backup),
        cmocka_unit_test(a_copy_of_a_file_is_told_with_its_digest),
        cmocka_unit_test(copies_that_fail),
        cmocka_unit_test(receivers_that_cannot_write),
        cmocka_unit_test(frames_that_are_too_long),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests_name("backup_stream", tests, set_up, tear_down);
}
