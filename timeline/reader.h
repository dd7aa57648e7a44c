// timeline/reader.h: reading runs, lanes and spans out of a timeline file.
//
// The file may have been edited by hand. Where a value is missing or of the wrong type, a number is -1 (a
// fraction NAN), and a text is "?"; texts are valid UTF-8 and may hold any character. Spans that make no
// sense are left out.
#pragma once

#include <glib.h>

#include "base/units.h"
#include "sim/task.h"

typedef struct TimelineReader TimelineReader;

typedef struct {
    gint64 id;
    char *created, *name, *fidelity, *model, *machine, *chip, *fingerprint; // owned
    gint64 ranks, last_rank;                                                // -1: not known
    Ps step, exposed_comm;                                                  // -1: not known
    double mfu, hfu, tokens_per_s;                                          // NAN: not known
} TimelineRun;

typedef struct {
    gint64 id;
    gint64 rank;
    char *stream;             // owned
    gint64 first_span, spans; // ids of its spans in the file
} TimelineLane;

typedef struct {
    Ps start, end; // 0 <= start <= end
    gint64 layer;  // -1: none
    SimKind kind;  // SIM_KINDS: not known to this program
} TimelineSpan;

// Opens a timeline for reading. NULL with an error "PATH: ...". Caller frees.
TimelineReader *timeline_reader_new(const char *path, GError **error);
void timeline_reader_free(TimelineReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TimelineReader, timeline_reader_free)

void timeline_reader_free_run(TimelineRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TimelineRun, timeline_reader_free_run)

// All runs (TimelineRun *), by id. NULL with an error. Caller unrefs.
GPtrArray *timeline_reader_read_runs(TimelineReader *reader, GError **error);

// The run with this id, or the last one where id is 0. NULL with an error. Caller frees.
TimelineRun *timeline_reader_read_run(TimelineReader *reader, gint64 id, GError **error);

// The streams of a run's ranks (TimelineLane *), by rank, then in the order of the program; links are left
// out. NULL with an error. Caller unrefs.
GPtrArray *timeline_reader_read_lanes(TimelineReader *reader, gint64 run, GError **error);

// The spans of a lane that touch from..to (TimelineSpan), in order of time. NULL with an error. Caller
// unrefs.
GArray *timeline_reader_read_spans(TimelineReader *reader, gint64 run, const TimelineLane *lane, Ps from,
                                   Ps to, GError **error);
