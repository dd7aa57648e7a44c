// cli/json-text.h: a JSON tree as text that every JSON reader takes.
//
// json-glib's own generator writes 2e-12 as "2e-12.0" (seen in 1.6.6), and NaN as "nan"; neither is JSON.
#pragma once

#include <json-glib/json-glib.h>

// Indented by two spaces; members in the order in which they were set. Numbers have the fewest digits that
// read back as the same double (a whole one ends in ".0"); what is not finite is null. All but ASCII is
// escaped, so that the text is the same in every locale and steers no terminal. Caller frees.
char *json_text_new(JsonNode *node);
