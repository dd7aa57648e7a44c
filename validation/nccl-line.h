// validation/nccl-line.h: one line of an nccl-tests log: a row, the names of the columns, a device, or
// something else.
//
// Rows differ between versions (no root before 2.12, an "error" instead of "#wrong", an empty redop cell,
// more columns later), and logs are pasted with tags, indents and debug prints round them. So a row is found
// by what no other line has: two whole numbers and the name of a data type; the rest is read by the columns
// in force and checked against itself (bandwidth = size / time).
#pragma once

#include <glib.h>

#include "validation/nccl-log.h"

typedef enum {
    VALIDATION_NCCL_LINE_OTHER,
    VALIDATION_NCCL_LINE_ROW,
    VALIDATION_NCCL_LINE_BROKEN,  // begins like a row, but cannot be read: words says why
    VALIDATION_NCCL_LINE_COLUMNS, // names the columns of the rows below
    VALIDATION_NCCL_LINE_OPTIONS, // "# nThread 1 nGpus 8 ...": a new table begins
    VALIDATION_NCCL_LINE_DEVICE,  // "#  Rank  0 Group  0 Pid 1 on host device  0 [0x0f] NVIDIA H100"
    VALIDATION_NCCL_LINE_ELIDED,  // "...": somebody left rows out
} ValidationNcclLineKind;

typedef struct {
    GPtrArray *columns; // owned: of char *, what is behind "type"; len 0: not seen yet
    gboolean cpu_time;  // they measure the CPU's time
} ValidationNcclColumns;

typedef struct {
    ValidationNcclLineKind kind;
    ValidationNcclRow row; // of a row
    const char *words;     // of a broken one: static
    guint32 rank;          // of a device
    char *host, *device;   // owned: of a device; device may be NULL
} ValidationNcclLine;

// The bytes of an element of a data type of nccl-tests or rccl-tests; 0: no such type.
guint validation_nccl_line_type_bytes(const char *name);

// A plain decimal number >= 0 ("12.90", "1e-07"); *half is half a unit of its last digit. FALSE where text is
// anything else (signs, hex, nan, text behind it).
gboolean validation_nccl_line_read_number(const char *text, double *value, double *half);

// Removes colours, carriage returns, mpirun's "[1,0]<stdout>:" and the "run(), common.cu:1083, " of
// instrumented builds from a line of length bytes; NUL becomes a blank. clean is overwritten.
void validation_nccl_line_clean(const char *line, gsize length, GString *clean);

// Reads a cleaned line; a line that names columns puts them in force. line is overwritten: clear it.
void validation_nccl_line_read(const char *text, ValidationNcclColumns *columns, ValidationNcclLine *line);
void validation_nccl_line_clear(ValidationNcclLine *line);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ValidationNcclLine, validation_nccl_line_clear)

// The operation of a program named in text ("./build/all_reduce_perf"), else VALIDATION_NCCL_OPS.
ValidationNcclOp validation_nccl_line_find_op(const char *text);
