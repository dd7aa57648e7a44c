// timeline/published.h: published runs beside simulated ones in a timeline file: table 'published' of
// schema.sql. published/store.c makes the rows; plots/validation.c draws them.
#pragma once

#include <glib.h>

// A row; its columns are explained in schema.sql. Numbers that do not apply are NAN.
typedef struct {
    char *name, *source, *model, *chip, *precision, *split; // owned, as all texts; never NULL
    char *framework, *machine, *reason;                     // may be NULL
    gint64 gpus;
    double published, simulated, low, high; // s
    double mfu, hfu;
    double compute, exposed, bubble, rest; // s
    double peak_bytes;
} TimelinePublished;

// A row of nothing: texts NULL, numbers NAN. Caller frees, or the array that it goes into.
TimelinePublished *timeline_published_new(void);
void timeline_published_free(gpointer row);

// Appends rows (of TimelinePublished *, their name to split set) as one validation, in one transaction; the
// file is made where it is not there. *validation (may be NULL) becomes its number. FALSE with an error
// "PATH: ...", and the file is as before.
gboolean timeline_published_write(const char *path, const GPtrArray *rows, gint64 *validation,
                                  GError **error);

// The rows of a validation by id; of the last one where *validation is 0, which then becomes its number. The
// file may have been edited by hand: texts are as base_error_quote makes them ("?" for those that must be and
// are not), what is no finite number is NAN, what is no number of GPUs 0. NULL with an error. Caller unrefs:
// of TimelinePublished *, one at least.
GPtrArray *timeline_published_read(const char *path, gint64 *validation, GError **error);
