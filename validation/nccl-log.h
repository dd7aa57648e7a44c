// validation/nccl-log.h: measured collectives, as nccl-tests prints them: rows, grouped into runs.
//
// A run is one operation on one set of ranks; a log may hold several, and one may come from several tables
// (tools that start one process per size). Sizes are bytes as nccl-tests counts them (all-gather,
// reduce-scatter, all-to-all: the whole vector over the ranks), times seconds, bandwidths bytes/s.
#pragma once

#include <glib.h>
#include <math.h>

typedef enum {
    VALIDATION_NCCL_ALL_REDUCE,
    VALIDATION_NCCL_ALL_GATHER,
    VALIDATION_NCCL_REDUCE_SCATTER,
    VALIDATION_NCCL_ALL_TO_ALL,
    VALIDATION_NCCL_BROADCAST,
    VALIDATION_NCCL_REDUCE,
    VALIDATION_NCCL_SEND_RECV,
    VALIDATION_NCCL_GATHER,
    VALIDATION_NCCL_SCATTER,
    VALIDATION_NCCL_OPS, // also: not known
} ValidationNcclOp;

// "all-reduce", ...; NULL-terminated.
extern const char *const VALIDATION_NCCL_OP_NAMES[];

// One of the two measurements of a row.
typedef struct {
    double time;         // s; NAN where there is none
    double algbw, busbw; // bytes/s as printed; NAN where not printed
    double algbw_half;   // half a unit of the last digit printed: how far the figure may be off; bytes/s
    double busbw_half;   //
    double time_half;    // s
    gboolean wrong;      // the tool found wrong results
    gboolean outlier;    // took VALIDATION_NCCL_OUTLIER times as long as a larger size: a warm-up, a hiccup
} ValidationNcclSide;

// A side that was not measured.
#define VALIDATION_NCCL_NO_SIDE                                                                              \
    ((ValidationNcclSide){.time = (double)NAN, .algbw = (double)NAN, .busbw = (double)NAN})

enum { VALIDATION_NCCL_OUT, VALIDATION_NCCL_IN, VALIDATION_NCCL_SIDES }; // out-of-place, in-place

typedef struct {
    guint line;               // of the file, from 1
    gint64 bytes;             // >= 0
    gint64 count;             // elements, >= 0
    char type[16], redop[16]; // "float", "sum"; "" where the row has none
    gint64 root;              // -1: none
    ValidationNcclSide side[VALIDATION_NCCL_SIDES];
} ValidationNcclRow;

typedef struct {
    ValidationNcclOp op;
    gboolean op_assumed;  // nothing in the log tells this operation from another one with the same columns
    guint32 ranks;        // 0: not known
    guint32 ranks_listed; // highest rank of the device list + 1; 0: no list
    guint32 hosts;        // different hosts in the device list; 0: no list
    char *device;         // owned: the first one's name, or NULL
    char *version;        // owned: NCCL's or nccl-tests' as the log says it, or NULL
    GArray *rows;         // owned: of ValidationNcclRow, by bytes, then line
} ValidationNcclRun;

typedef struct {
    char *name;       // owned: the file, as errors name it
    GPtrArray *runs;  // owned: of ValidationNcclRun *, in order of first appearance
    GPtrArray *notes; // owned: of char *: "file:line: what was dropped or assumed"
} ValidationNcclLog;

// A time this much above a larger size's is no property of the size. Guessed: measured logs have warm-up rows
// at 2.5 to 6 times (H100 pairs of nodes), honest dips from one protocol to the next at 1.1 (EFA, 64 KiB to 1
// MiB).
#define VALIDATION_NCCL_OUTLIER 1.5

ValidationNcclLog *validation_nccl_log_new(const char *name);
void validation_nccl_log_free(ValidationNcclLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ValidationNcclLog, validation_nccl_log_free)

// Adds "name:line: text" (line 0: "name: text"), once.
void validation_nccl_log_add_note(ValidationNcclLog *log, guint line, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

ValidationNcclRun *validation_nccl_log_run_new(ValidationNcclOp op);
void validation_nccl_log_run_free(ValidationNcclRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ValidationNcclRun, validation_nccl_log_run_free)
// Sorts the rows and marks the outliers.
void validation_nccl_log_run_finish(ValidationNcclRun *run);

// busbw / algbw of an operation on ranks >= 1 (nccl-tests, doc/PERFORMANCE.md): 2(n-1)/n for all-reduce,
// (n-1)/n where the vector is spread over the ranks, 1 for the others.
double validation_nccl_log_factor(ValidationNcclOp op, guint32 ranks);

typedef struct {
    double bytes; // > 0
    double time;  // s, > 0
} ValidationNcclPoint;

// One point per size > 0, by size: the median of the out-of-place times that are neither wrong nor outliers;
// where a size has none, of its in-place times. Outliers count where they are more than a quarter of the rows
// (*erratic is TRUE then: nothing tells the rule from the exception). *dropped counts the sizes that have no
// usable time. Caller unrefs: of ValidationNcclPoint.
GArray *validation_nccl_log_run_points(const ValidationNcclRun *run, guint *dropped, gboolean *erratic);
