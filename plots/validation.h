// plots/validation.h: the picture of a validation: simulated against published steps, with a band of 10 %
// around the diagonal, and below how far each is off; coloured by source, headline runs large and named.
#pragma once

#include <glib.h>

// Draws the validation with this number; 0: the last. *shown (may be NULL) becomes one line about what was
// drawn. FALSE with an error: nothing to draw, or as plot_write. Caller frees *shown.
gboolean plot_validation_write(const char *database, gint64 validation, const char *path, char **shown,
                               GError **error);
