/* The style sheet, the scripts and the icon of the pages. Ours are part of the program; the editor
 * of queries is CodeMirror where Debian's libjs-codemirror has put it, and pages do without where
 * it is not. */
#ifndef WEB_ASSETS_ASSETS_H
#define WEB_ASSETS_ASSETS_H

#include "web/http/server.h"

enum { ASSET_ADDRESS_BYTES = 96 };

/* The address of a file of ours. It changes with the file, so a browser keeps what it has for ever.
 */
void asset_address(const char *name, char address[ASSET_ADDRESS_BYTES]);
/* Tells whether the editor is installed. */
bool asset_has_editor(void);

web_handle web_assets; /* what is below /assets/ */

#endif
