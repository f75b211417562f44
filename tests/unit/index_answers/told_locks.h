/* Mutexes and conditions are watched: for tests whose test_x_PARTS names told_locks.o and whose
 * test_x_WRAPS names $(told_locks_WRAPS). All threads of such a test are one. */
#ifndef TESTS_UNIT_INDEX_ANSWERS_TOLD_LOCKS_H
#define TESTS_UNIT_INDEX_ANSWERS_TOLD_LOCKS_H

extern int told_made_locks;      /* mutexes and conditions that are not destroyed */
extern int told_held_locks;      /* mutexes that are locked; never two, nor less than none */
extern unsigned told_signals;    /* sent to one who waits, */
extern unsigned told_broadcasts; /* and to all */

#endif
