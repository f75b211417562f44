/* Pieces of the change log made by hand, by index/FORMAT.md: which are taken and which are refused,
 * and what is said of them. */
#include "tests/unit/index/index_change_log.h"
#include "tests/unit/index/index_fixture.h"

/* One row, four times number 1 of kind IRI: 5 bytes and the codec; the same with 2 in the last
 * place behind it. */
#define ROW "\x01\x00\x45\x07\x45\x07"
#define ONE "\x01\x86\x00" ROW

static const struct {
    const char *what;
    struct slice pieces[3]; /* of the second of three batches; NULL: not there */
    enum status status;
    const char *why;
} damages[] = {
#define BYTES(text)            \
    {                          \
        text, sizeof(text) - 1 \
    }
    {"one row that was added",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE "\x00\x07")},
     STATUS_OK,
     ""},
    {"one row that was removed",
     {BYTES("\x01\x02\x01\x01\x00"), BYTES(ONE "\x01\x07")},
     STATUS_OK,
     ""},
    {"two rows in two pieces",
     {BYTES("\x01\x02\x01\x01\x01"), BYTES(ONE "\x01\x07"),
      BYTES("\x01\x86\x00\x01\x00\x45\x07\x45\x47\x00\x07")},
     STATUS_OK,
     ""},
    {"the same row twice",
     {BYTES("\x01\x02\x01\x01\x01"), BYTES(ONE "\x01\x07"), BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "rows of batch 2 do not ascend"},
    {"rows that descend",
     {BYTES("\x01\x02\x01\x01\x01"), BYTES("\x01\x86\x00\x01\x00\x45\x07\x45\x47\x01\x07"),
      BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "rows of batch 2 do not ascend"},
    {"another sign than the head counts",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE "\x01\x07")},
     STATUS_CORRUPT,
     "batch 2 has other counts"},
    {"the head is not there", {{NULL, 0}, BYTES(ONE "\x00\x07")}, STATUS_STALE, "after batch 1 "},
    {"the head counts more",
     {BYTES("\x01\x02\x01\x00\x02"), BYTES(ONE "\x00\x07")},
     STATUS_STALE,
     "after batch 1 "},
    {"the head counts less",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x01\x87\x00" ROW "\xc1\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"the head has another codec",
     {BYTES("\x02\x02\x01\x00\x01"), BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 0: bad codec"},
    {"the head is cut off",
     {BYTES("\x01\x02\x01\x00"), BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "the head of batch 2 is malformed"},
    {"the head is longer",
     {BYTES("\x01\x02\x01\x00\x01\x00"), BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "the head of batch 2 is malformed"},
    {"the head has only three bytes",
     {BYTES("\x01\x02\x01"), BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 0: bad codec"},
    {"another stamp before",
     {BYTES("\x01\x02\x07\x00\x01"), BYTES(ONE "\x00\x07")},
     STATUS_STALE,
     "history"},
    {"a piece with another codec",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x02\x86\x00" ROW "\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 1: bad codec"},
    {"rows longer than the piece",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x01\x89\x00" ROW "\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"no end of the rows' length",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x01\x86\x86\x86")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"rows of no bytes",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x01\x80\x80\x00")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"rows of another codec",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x01\x86\x00\x02\x00\x45\x07\x45\x07\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"no signs",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE)},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"no generation",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE "\x00")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"a generation that is cut off",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE "\x00\x87")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"more than generations",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE "\x00\x07\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
};

static void
damaged_pieces_are_refused(void **state)
{
    struct change_log_fixture log;
    (void)state;
    change_log_fixture_make(&log, 3);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct reason why = {""};
        uint64_t batches;
        for (uint32_t piece = 0; piece < 3; piece++) {
            change_log_put_piece(&log, 2, piece, damages[i].pieces[piece]);
        }
        const enum status status = change_log_check(log.log, &batches, &why);
        if (status != damages[i].status || strstr(why.text, damages[i].why) == NULL) {
            fail_msg("%s: %s: %s", damages[i].what, status_name(status), why.text);
        }
        assert_int_equal(batches, status == STATUS_OK ? 3 : 1);
    }
    change_log_fixture_remove(&log);
}

int
index_change_damage_run(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_pieces_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
