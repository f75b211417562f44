/* Reads what publishers' programs send: XML-RPC calls and bodies of IndexNow. The first byte says
 * which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "web/ping/indexnow.h"
#include "web/ping/xmlrpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(int holds)
{
    if (!holds) {
        abort();
    }
}

static void
call(struct slice body)
{
    struct xmlrpc_call found;
    struct reason why = {""};
    if (xmlrpc_read(&found, body, &why) != STATUS_OK) {
        check(why.text[0] != '\0');
        return;
    }
    check(found.method[0] != '\0' && found.count <= XMLRPC_PARAMETERS);
    for (size_t i = 0; i < found.count; i++) {
        check(strlen(found.parameters[i]) <= XMLRPC_TEXT_BYTES);
    }
    xmlrpc_release(&found);
}

/* A key file is on the host of the URL, and speaks for itself. */
static void
submission(struct slice body)
{
    struct indexnow_call found;
    struct reason why = {""};
    struct buf file;
    buf_init(&file, 1 << 16);
    if (indexnow_read(&found, body, &why) == STATUS_OK) {
        check(found.host.length > 0 && json_array_size(found.urls) > 0);
        if (indexnow_key_is_valid(found.key) &&
            indexnow_key_file(SLICE("http://a.example/x/y"), found.key, found.location, &file,
                              &why) == STATUS_OK) {
            check(slice_is(indexnow_authority(buf_slice(&file)), "a.example"));
            check(indexnow_speaks_for(buf_slice(&file), buf_slice(&file)));
        }
    } else {
        check(why.text[0] != '\0');
    }
    buf_release(&file);
    json_decref(found.json);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0) {
        (data[0] % 2 == 0 ? call : submission)(slice_of((const char *)data + 1, size - 1));
    }
    return 0;
}
