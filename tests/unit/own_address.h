/* Addresses for who has to know a port before it is bound: no other process has this one of
 * loopback, so its ports are free, and stay so until they are used. */
#ifndef TESTS_UNIT_OWN_ADDRESS_H
#define TESTS_UNIT_OWN_ADDRESS_H

#include <stdio.h>
#include <unistd.h>

enum { OWN_ADDRESS_SIZE = 24, OWN_PORTS = 20000 };

/* "127.B.C.D:PORT", with another port each time; pipeline tests have those below 127.128. */
static inline void
own_address(char text[OWN_ADDRESS_SIZE])
{
    static unsigned used;
    const unsigned pid = (unsigned)getpid();
    (void)snprintf(text, OWN_ADDRESS_SIZE, "127.%u.%u.%u:%u", 128 + (pid >> 16 & 63),
                   pid >> 8 & 255, pid & 255, OWN_PORTS + 2 * (used++ % 10000));
}

#endif
