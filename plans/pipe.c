// plans/pipe.c: the table of pipeline schedules, and a schedule drawn as stage x time.
#include "plans/pipe.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

const PipeKind *const PIPE_KINDS[] = {&PIPE_GPIPE, &PIPE_1F1B, &PIPE_INTERLEAVED, NULL};

const PipeKind *pipe_find(const char *name, const char *where, GError **error)
{
    const char *names[G_N_ELEMENTS(PIPE_KINDS)] = {0};
    for (guint i = 0; PIPE_KINDS[i] != NULL; i++) {
        if (strcmp(PIPE_KINDS[i]->name, name) == 0)
            return PIPE_KINDS[i];
        names[i] = PIPE_KINDS[i]->name;
    }
    g_autofree char *quoted = base_error_quote(name);
    g_autofree char *wanted = g_strjoinv(", ", (char **)names);
    g_autofree char *hint = suggest_hint(name, names);
    base_error_set(error, BASE_ERROR_FAILED, where, "found schedule '%s', wanted one of: %s%s", quoted,
                   wanted, hint);
    return NULL;
}

// All steps of all stages with the slot in which each starts; a slot is one forward pass of one chunk.
typedef struct {
    guint32 p, m, v;
    GArray **steps;  // [stage], of PipeStep; owned
    guint32 *starts; // [stage * 2 m v + i]; owned
    guint32 slots;   // until the last step ends
} PipeTimes;

static guint32 pipe_width(const PipeStep *step)
{
    return step->backward ? 2 : 1;
}

// Where the slot after a pass of a virtual stage is kept; 0: the pass has not been placed.
static gsize pipe_index(const PipeTimes *times, gboolean backward, guint32 virtual_stage, guint32 micro_batch)
{
    gsize all = (gsize)times->p * times->v;
    return ((backward ? all : 0) + virtual_stage) * times->m + micro_batch;
}

// The slot from which a step of stage s can run: what it needs is done. 0 with *ready FALSE: not placed yet.
static guint32 pipe_ready(const PipeTimes *times, const guint32 *ends, guint32 s, const PipeStep *step,
                          gboolean *ready)
{
    guint32 stage = step->chunk * times->p + s, last = times->p * times->v - 1, at = 0;
    *ready = TRUE;
    if (!step->backward && stage > 0)
        at = ends[pipe_index(times, FALSE, stage - 1, step->micro_batch)];
    else if (step->backward)
        at = ends[pipe_index(times, stage < last, stage < last ? stage + 1 : stage, step->micro_batch)];
    if (at == 0 && (step->backward || stage > 0))
        *ready = FALSE;
    return at;
}

// Places every step, each as early as its stage and what it needs allow. A schedule that gets stuck is a
// fault of ours.
static void pipe_times_init(PipeTimes *times, const PipeKind *kind, guint32 p, guint32 m, guint32 v)
{
    guint32 steps = 2 * m * v;
    *times = (PipeTimes){.p = p, .m = m, .v = v};
    times->steps = g_new(GArray *, p);
    times->starts = g_new0(guint32, (gsize)p * steps);
    for (guint32 s = 0; s < p; s++) {
        times->steps[s] = g_array_sized_new(FALSE, FALSE, sizeof(PipeStep), steps);
        kind->steps(times->steps[s], s, p, m, v);
        g_assert(times->steps[s]->len == steps);
    }
    g_autofree guint32 *ends = g_new0(guint32, (gsize)p * steps);
    g_autofree guint32 *next = g_new0(guint32, p);
    g_autofree guint32 *free_at = g_new0(guint32, p);
    for (gsize left = (gsize)p * steps; left > 0;) {
        gsize before = left;
        for (guint32 s = 0; s < p; s++) {
            for (; next[s] < steps; next[s]++, left--) {
                const PipeStep *step = &g_array_index(times->steps[s], PipeStep, next[s]);
                gboolean ready = FALSE;
                guint32 start = MAX(pipe_ready(times, ends, s, step, &ready), free_at[s]);
                if (!ready)
                    break;
                times->starts[(gsize)s * steps + next[s]] = start;
                free_at[s] = start + pipe_width(step);
                ends[pipe_index(times, step->backward, step->chunk * p + s, step->micro_batch)] = free_at[s];
                times->slots = MAX(times->slots, free_at[s]);
            }
        }
        g_assert(left < before);
    }
}

static void pipe_times_clear(PipeTimes *times)
{
    for (guint32 s = 0; s < times->p; s++)
        g_array_unref(times->steps[s]);
    g_free(times->steps);
    g_free(times->starts);
}

// "F3", with several chunks "F3b", with more than the alphabet has "F3.27".
static void pipe_text(char *text, gsize size, const PipeStep *step, guint32 v)
{
    char chunk[16] = "";
    if (v > 1 && v <= 26)
        g_snprintf(chunk, sizeof chunk, "%c", (char)('a' + step->chunk));
    else if (v > 1)
        g_snprintf(chunk, sizeof chunk, ".%u", step->chunk);
    g_snprintf(text, size, "%c%u%s", step->backward ? 'B' : 'F', step->micro_batch, chunk);
}

// Puts text at the start of some columns of a row, the rest of them (but the last) filled.
static void pipe_put(GString *row, gsize at, gsize width, const char *text, char fill)
{
    memset(row->str + at, fill, width - 1);
    memcpy(row->str + at, text, strlen(text));
}

static void pipe_end_row(GString *out, GString *row)
{
    gsize length = row->len;
    while (length > 0 && row->str[length - 1] == ' ')
        length--;
    g_string_append_len(out, row->str, (gssize)length);
    g_string_append_c(out, '\n');
    memset(row->str, ' ', row->len);
}

static void pipe_legend(GString *out, const PipeTimes *times, const PipeKind *kind)
{
    guint64 num = 0, den = 1;
    kind->bubble(times->p, times->m, times->v, &num, &den);
    g_string_append_printf(out, "%s, %u stage%s, %u micro-batch%s", kind->name, times->p,
                           times->p == 1 ? "" : "s", times->m, times->m == 1 ? "" : "es");
    if (times->v > 1)
        g_string_append_printf(out, ", %u chunks a stage", times->v);
    g_string_append_printf(out, ": idle %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT " of the time at work", num,
                           den);
    g_string_append_printf(out, "\nF: forward pass of a micro-batch%s, one slot; B: backward pass, two slots",
                           times->v == 1 ? "" : " through a chunk (letter)");
    g_string_append(out, "; .: idle; sends are free\n");
}

char *pipe_table(const PipeKind *kind, guint32 p, guint32 m, guint32 v)
{
    PipeTimes times;
    pipe_times_init(&times, kind, p, m, v);
    guint32 steps = 2 * m * v;
    char text[48];
    const PipeStep longest = {.backward = TRUE, .micro_batch = m - 1, .chunk = v - 1};
    pipe_text(text, sizeof text, &longest, v);
    gsize cell = strlen(text);
    g_snprintf(text, sizeof text, "%u", times.slots - 1);
    cell = MAX(cell, strlen(text)) + 1;
    g_snprintf(text, sizeof text, "stage %u", p - 1);
    gsize label = strlen(text) + 2;
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GString) row = g_string_new(NULL);
    g_string_set_size(row, label + cell * times.slots);
    memset(row->str, ' ', row->len);
    pipe_put(row, 0, label, "slot", ' ');
    for (guint32 i = 0; i < times.slots; i++) {
        g_snprintf(text, sizeof text, "%u", i);
        pipe_put(row, label + i * cell, cell, text, ' ');
    }
    pipe_end_row(out, row);
    for (guint32 s = 0; s < p; s++) {
        g_snprintf(text, sizeof text, "stage %u", s);
        pipe_put(row, 0, label, text, ' ');
        for (guint32 i = 0; i < times.slots; i++)
            pipe_put(row, label + i * cell, cell, ".", ' ');
        for (guint32 i = 0; i < steps; i++) {
            const PipeStep *step = &g_array_index(times.steps[s], PipeStep, i);
            pipe_text(text, sizeof text, step, v);
            pipe_put(row, label + times.starts[(gsize)s * steps + i] * cell, pipe_width(step) * cell, text,
                     step->backward ? '-' : ' ');
        }
        pipe_end_row(out, row);
    }
    pipe_legend(out, &times, kind);
    pipe_times_clear(&times);
    return g_string_free(g_steal_pointer(&out), FALSE);
}
