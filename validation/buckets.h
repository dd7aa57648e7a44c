// validation/buckets.h: gradient buckets as PyTorch formed them, beside those that plans/bucket.h forms.
//
// Tensors are those of models/convnet.h, in reverse order of registration. That is the order in which the
// backward pass makes them ready: a block's shortcut is registered and run last, so its gradient comes first
// (bucket 2 of ResNet-18 at 25 MiB ends within such a block and shows it).
#pragma once

#include <glib.h>

typedef struct {
    char *model;       // owned: "resnet-50"
    gint64 cap;        // bytes
    gint64 elements;   // of the whole gradient
    GArray *published; // of gint64: bytes of every bucket, in order of launch; owned
    GArray *ours;      // the same; owned
    gboolean agrees;   // all of them, to the byte
    char *source;      // owned
} ValidationBuckets;

// Reads a table (columns model, cap, unit, sizes, source) and forms every row's buckets; name stands in
// errors. NULL with an error "file:line: column: ...". Caller unrefs: of ValidationBuckets *.
GPtrArray *validation_buckets_run_text(const char *name, const char *text, gsize length, GError **error);
// The table that ships with the program (validation/data/buckets.csv).
GPtrArray *validation_buckets_run(GError **error);
