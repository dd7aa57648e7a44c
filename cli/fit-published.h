// cli/fit-published.h: stepline fit published: constants estimated from published training runs.
#pragma once

#include <glib.h>

int fit_published_run(int argc, char **argv, GError **error);
