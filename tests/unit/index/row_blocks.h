/* Blocks of rows, byte by byte; a part of test_index_rows. */
#ifndef TESTS_UNIT_INDEX_ROW_BLOCKS_H
#define TESTS_UNIT_INDEX_ROW_BLOCKS_H

int row_blocks_run(void);

#endif
