// cli/validate-published.h: stepline validate without a further word: published training runs.
#pragma once

#include <glib.h>

int validate_published_run(int argc, char **argv, GError **error);
