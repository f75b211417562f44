/* Time. Wall time is what records carry, monotonic time is what waits use. */
#ifndef BASE_SYSTEM_CLOCK_H
#define BASE_SYSTEM_CLOCK_H

#include <stdint.h>

uint64_t clock_wall_ms(void); /* milliseconds since 1970-01-01T00:00:00Z */
uint64_t clock_monotonic_ms(void);
uint64_t clock_monotonic_us(void);

/* Shortens a wait so that it ends at a time, of which now is by the same clock. */
void clock_wait_until(uint64_t *wait_ms, uint64_t due_ms, uint64_t now_ms);

enum { CLOCK_TEXT_SIZE = 25 };
/* "2026-11-20T10:00:00.123Z" (xsd:dateTime, RFC 3339); with_ms false: "2026-11-20T10:00:00Z". */
void clock_text(uint64_t wall_ms, int with_ms, char text[CLOCK_TEXT_SIZE]);

#endif
