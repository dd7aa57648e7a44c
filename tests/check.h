// tests/check.h: what every test includes first: cmocka and its needs, and a few helpers.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glib.h>
#include <string.h>

// Fails with the whole message where it does not hold the words that are wanted.
static inline void check_says(const GError *error, const char *words)
{
    if (error == NULL)
        fail_msg("no error, wanted one that says '%s'", words);
    else if (strstr(error->message, words) == NULL)
        fail_msg("the error is '%s', wanted one that says '%s'", error->message, words);
    else if (strchr(error->message, '\n') != NULL)
        fail_msg("the error '%s' has more than one line", error->message);
}

// Fails with the message of an error that should not be there.
static inline void check_fine(const GError *error)
{
    if (error != NULL)
        fail_msg("%s", error->message);
}
