/* Tells where a data directory's web service is: DIR/run/web.address, which the service has locked
 * while it lives. It holds the service's URL. */
#ifndef CONFIG_WEB_ADDRESS_H
#define CONFIG_WEB_ADDRESS_H

#include "base/status.h"

enum { WEB_ADDRESS_SIZE = 512 };

/* Claims the address for the service: returns a descriptor that it keeps until its end, or -1 when
 * there is another service. */
int web_address_claim(const char *directory);
/* listen: HOST:PORT as configured; port: the one that it became. */
void web_address_tell(int claim, const char *listen, unsigned port);

/* The URL of the service that lives. NOT_FOUND: there is none. */
enum status web_address_read(const char *directory, char url[WEB_ADDRESS_SIZE], struct reason *why);

#endif
