// validation/nccl-line.c: reads one line of an nccl-tests log.
#include "validation/nccl-line.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    guint bytes;
} TYPES[] = {
    {"int8", 1},     {"uint8", 1},    {"char", 1},   {"f8e4m3", 1},  {"f8e5m2", 1},
    {"fp8_e4m3", 1}, {"fp8_e5m2", 1}, {"half", 2},   {"float16", 2}, {"bfloat16", 2},
    {"int32", 4},    {"uint32", 4},   {"int", 4},    {"float", 4},   {"float32", 4},
    {"int64", 8},    {"uint64", 8},   {"double", 8}, {"float64", 8},
};

static const struct {
    const char *program;
    ValidationNcclOp op;
} PROGRAMS[] = {
    {"all_reduce_perf", VALIDATION_NCCL_ALL_REDUCE},
    {"all_gather_perf", VALIDATION_NCCL_ALL_GATHER},
    {"reduce_scatter_perf", VALIDATION_NCCL_REDUCE_SCATTER},
    {"alltoall_perf", VALIDATION_NCCL_ALL_TO_ALL},
    {"broadcast_perf", VALIDATION_NCCL_BROADCAST},
    {"sendrecv_perf", VALIDATION_NCCL_SEND_RECV},
    {"gather_perf", VALIDATION_NCCL_GATHER}, // behind all_gather
    {"scatter_perf", VALIDATION_NCCL_SCATTER},
    {"reduce_perf", VALIDATION_NCCL_REDUCE}, // behind all_reduce
};

guint validation_nccl_line_type_bytes(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(TYPES); i++)
        if (strcmp(TYPES[i].name, name) == 0)
            return TYPES[i].bytes;
    return 0;
}

ValidationNcclOp validation_nccl_line_find_op(const char *text)
{
    for (guint i = 0; strstr(text, "_perf") != NULL && i < G_N_ELEMENTS(PROGRAMS); i++)
        if (strstr(text, PROGRAMS[i].program) != NULL)
            return PROGRAMS[i].op;
    return VALIDATION_NCCL_OPS;
}

gboolean validation_nccl_line_read_number(const char *text, double *value, double *half)
{
    if (!g_ascii_isdigit(text[0]) || strspn(text, "0123456789.eE+-") != strlen(text))
        return FALSE;
    char *end = NULL;
    *value = g_ascii_strtod(text, &end);
    if (*end != '\0' || !isfinite(*value))
        return FALSE;
    const char *dot = strchr(text, '.');
    gsize digits = dot == NULL ? 0 : strspn(dot + 1, "0123456789");
    *half = 0.5;
    for (gsize i = 0; i < MIN(digits, 15); i++)
        *half /= 10;
    const char *exponent = strpbrk(text, "eE");
    if (exponent != NULL)
        *half *= pow(10, g_ascii_strtod(exponent + 1, NULL));
    return isfinite(*half);
}

static gboolean validation_nccl_whole(const char *text, gint64 *value)
{
    return strspn(text, "0123456789") == strlen(text) &&
           g_ascii_string_to_signed(text, 10, 0, G_MAXINT64, value, NULL);
}

// Where "run(), common.cu:1083," at "()," ends, and in *start where it begins; NULL where it is none.
static const char *validation_nccl_find_print(const char *text, const char *parens, const char **start)
{
    const char *at = parens;
    while (at > text && (g_ascii_isalnum(at[-1]) || at[-1] == '_'))
        at--;
    while (at < parens && g_ascii_isdigit(*at))
        at++; // "-1BenchTime()": the digits belong to what was printed before
    if (at == parens)
        return NULL;
    *start = at;
    at = parens + 3;
    at += strspn(at, " ");
    gsize file = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-");
    if (file == 0 || at[file] != ':')
        return NULL;
    at += file + 1;
    gsize digits = strspn(at, "0123456789");
    if (digits == 0 || at[digits] != ',')
        return NULL;
    return at + digits + 1;
}

void validation_nccl_line_clean(const char *line, gsize length, GString *clean)
{
    g_string_truncate(clean, 0);
    for (gsize i = 0; i < length; i++) {
        if (line[i] == '\x1b' && i + 1 < length && line[i + 1] == '[') { // a colour: ESC [ ... letter
            for (i += 2; i < length && !g_ascii_isalpha(line[i]); i++)
                ;
            continue;
        }
        g_string_append_c(clean, line[i] == '\0' || line[i] == '\r' ? ' ' : line[i]);
    }
    static const char *const tags[] = {"]<stdout>:", "]<stderr>:"};
    for (guint i = 0; clean->str[0] == '[' && i < G_N_ELEMENTS(tags); i++) {
        const char *tag = strstr(clean->str, tags[i]);
        if (tag != NULL)
            g_string_erase(clean, 0, tag + strlen(tags[i]) - clean->str);
    }
    for (gsize from = 0;;) {
        const char *start = NULL, *parens = strstr(clean->str + from, "(),");
        if (parens == NULL)
            break;
        const char *end = validation_nccl_find_print(clean->str, parens, &start);
        if (end == NULL) {
            from = (gsize)(parens + 3 - clean->str);
            continue;
        }
        from = (gsize)(start - clean->str);
        g_string_erase(clean, (gssize)from, end - start);
        g_string_insert_c(clean, (gssize)from, ' ');
    }
}

void validation_nccl_line_clear(ValidationNcclLine *line)
{
    g_clear_pointer(&line->host, g_free);
    g_clear_pointer(&line->device, g_free);
}

// The words of a line. Caller frees.
static char **validation_nccl_split(const char *text)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    while (*text != '\0') {
        gsize blank = strspn(text, " \t\v\f");
        gsize word = strcspn(text + blank, " \t\v\f");
        if (word > 0) {
            g_autofree char *copy = g_strndup(text + blank, word);
            g_strv_builder_add(builder, copy);
        }
        text += blank + word;
    }
    return g_strv_builder_end(builder);
}

// What is being read of a row.
typedef struct {
    char **at; // the next word
    ValidationNcclRow *row;
} RowCursor;

// One number of a row in units of scale. "N/A" is NAN where it may be.
static gboolean validation_nccl_take(RowCursor *cursor, double scale, gboolean may_lack, double *value,
                                     double *half)
{
    if (*cursor->at == NULL)
        return FALSE;
    if (may_lack && strcmp(*cursor->at, "N/A") == 0)
        *value = *half = (double)NAN;
    else if (!validation_nccl_line_read_number(*cursor->at, value, half))
        return FALSE;
    *value *= scale;
    *half *= scale;
    cursor->at++;
    return TRUE;
}

// time, algbw, busbw, #wrong or error: all or nothing.
static gboolean validation_nccl_take_side(RowCursor *cursor, guint index, gboolean counts_wrong)
{
    ValidationNcclSide *side = &cursor->row->side[index];
    double wrong = 0, half = 0;
    if (!validation_nccl_take(cursor, 1e-6, FALSE, &side->time, &side->time_half) ||
        !validation_nccl_take(cursor, 1e9, FALSE, &side->algbw, &side->algbw_half) ||
        !validation_nccl_take(cursor, 1e9, FALSE, &side->busbw, &side->busbw_half))
        return FALSE;
    const char *word = *cursor->at;
    if (!validation_nccl_take(cursor, 1, TRUE, &wrong, &half))
        return FALSE;
    // Old versions print the largest error instead of a count: rounding leaves 1e-2 in half precision (the
    // tool's own bound); 0.1 is guessed.
    gboolean is_count = counts_wrong && strpbrk(word, ".eE") == NULL;
    side->wrong = wrong > (is_count ? 0 : 0.1);
    return TRUE;
}

// Whether algbw is size / time, as far as it is printed (2 % beside the last digit).
static gboolean validation_nccl_side_agrees(const ValidationNcclRow *row, guint index)
{
    const ValidationNcclSide *side = &row->side[index];
    if (row->bytes == 0)
        return TRUE;
    if (!(side->time > 0))
        return FALSE;
    double low = (double)row->bytes / (side->time + side->time_half);
    double high =
        side->time > side->time_half ? (double)row->bytes / (side->time - side->time_half) : HUGE_VAL;
    return side->algbw + 2 * side->algbw_half >= 0.98 * low &&
           side->algbw - 2 * side->algbw_half <= 1.02 * high;
}

// Reads what stands behind the type: by the columns in force, or (columns NULL) by how many numbers there
// are.
static gboolean validation_nccl_read_cells(char **words, const GPtrArray *columns, ValidationNcclRow *row)
{
    RowCursor cursor = {words, row};
    row->redop[0] = '\0';
    row->root = -1;
    for (guint i = 0; i < VALIDATION_NCCL_SIDES; i++)
        row->side[i] = VALIDATION_NCCL_NO_SIDE;
    if (*cursor.at != NULL && g_ascii_isalpha(**cursor.at) && strcmp(*cursor.at, "N/A") != 0)
        g_strlcpy(row->redop, *cursor.at++, sizeof row->redop);
    gboolean has_root = FALSE, counts_wrong = TRUE;
    guint extra = 0; // columns between the two sides
    if (columns != NULL) {
        guint times = 0;
        for (guint i = 0; i < columns->len; i++) {
            const char *name = columns->pdata[i];
            has_root |= strcmp(name, "root") == 0;
            counts_wrong &= strcmp(name, "error") != 0;
            times += strcmp(name, "time") == 0 || strcmp(name, "cputime") == 0;
            extra += times == 1;
        }
        if (extra < 4)
            return FALSE;
        extra -= 4;
    } else {
        guint numbers = 0;
        double value, half;
        for (char **at = cursor.at; *at != NULL; at++, numbers++)
            if (!validation_nccl_line_read_number(*at, &value, &half) && strcmp(*at, "N/A") != 0 &&
                strcmp(*at, "-1") != 0)
                break;
        has_root = numbers % 4 == 1;
    }
    if (has_root) {
        if (*cursor.at == NULL ||
            (strcmp(*cursor.at, "-1") != 0 && !validation_nccl_whole(*cursor.at, &row->root)))
            return FALSE;
        cursor.at++;
    }
    if (!validation_nccl_take_side(&cursor, VALIDATION_NCCL_OUT, counts_wrong) ||
        !validation_nccl_side_agrees(row, VALIDATION_NCCL_OUT))
        return FALSE;
    for (; extra > 0 && *cursor.at != NULL; extra--)
        cursor.at++;
    if (!validation_nccl_take_side(&cursor, VALIDATION_NCCL_IN, counts_wrong) ||
        !validation_nccl_side_agrees(row, VALIDATION_NCCL_IN))
        row->side[VALIDATION_NCCL_IN] = VALIDATION_NCCL_NO_SIDE;
    return TRUE;
}

static void validation_nccl_read_row(char **words, const ValidationNcclColumns *columns,
                                     ValidationNcclLine *line)
{
    ValidationNcclRow *row = &line->row;
    line->kind = VALIDATION_NCCL_LINE_BROKEN;
    line->words = "the size or the count is out of range";
    if (!validation_nccl_whole(words[0], &row->bytes) || !validation_nccl_whole(words[1], &row->count) ||
        row->bytes > (G_GINT64_CONSTANT(1) << 50))
        return;
    g_strlcpy(row->type, words[2], sizeof row->type);
    gboolean fine = columns->columns->len > 0 && validation_nccl_read_cells(words + 3, columns->columns, row);
    if (!fine && !validation_nccl_read_cells(words + 3, NULL, row))
        line->words = "too few numbers, or a bandwidth that is not size / time";
    else
        line->kind = VALIDATION_NCCL_LINE_ROW;
}

static void validation_nccl_read_device(char **words, const char *text, ValidationNcclLine *line)
{
    gint64 rank = 0;
    if (!validation_nccl_whole(words[1], &rank) || rank >= 1 << 24)
        return;
    char **at = words + 2;
    while (*at != NULL && strcmp(*at, "on") != 0)
        at++;
    if (at[0] == NULL || at[1] == NULL || at[2] == NULL || strcmp(at[2], "device") != 0)
        return;
    line->kind = VALIDATION_NCCL_LINE_DEVICE;
    line->rank = (guint32)rank;
    line->host = g_strdup(at[1]);
    const char *bracket = strstr(strstr(text, "device"), "] ");
    if (bracket != NULL)
        line->device = g_strstrip(g_strdup(bracket + 2));
}

void validation_nccl_line_read(const char *text, ValidationNcclColumns *columns, ValidationNcclLine *line)
{
    *line = (ValidationNcclLine){.kind = VALIDATION_NCCL_LINE_OTHER};
    g_auto(GStrv) owned = validation_nccl_split(text);
    char **words = owned;
    if (words[0] != NULL && words[1] == NULL && strcmp(words[0], "...") == 0)
        line->kind = VALIDATION_NCCL_LINE_ELIDED;
    for (char **at = words; at[0] != NULL && at[1] != NULL; at++) {
        gint64 whole = 0;
        const char *word = at[0][0] == '#' ? at[0] + 1 : at[0]; // "#Rank" where blanks were lost
        if (strcmp(word, "Rank") == 0) {
            validation_nccl_read_device(at, text, line);
            return;
        }
        if (strcmp(word, "nThread") == 0 && validation_nccl_whole(at[1], &whole)) {
            line->kind = VALIDATION_NCCL_LINE_OPTIONS;
            return;
        }
        if (at[2] == NULL)
            return;
        if (strcmp(word, "size") == 0 && strcmp(at[1], "count") == 0 && strcmp(at[2], "type") == 0) {
            line->kind = VALIDATION_NCCL_LINE_COLUMNS;
            g_ptr_array_set_size(columns->columns, 0);
            columns->cpu_time = FALSE;
            for (char **name = at + 3; *name != NULL; name++) {
                columns->cpu_time |= strcmp(*name, "cputime") == 0;
                g_ptr_array_add(columns->columns, g_strdup(*name));
            }
            return;
        }
        if (strspn(at[0], "0123456789") == strlen(at[0]) && strspn(at[1], "0123456789") == strlen(at[1]) &&
            validation_nccl_line_type_bytes(at[2]) > 0) {
            validation_nccl_read_row(at, columns, line);
            return;
        }
    }
}
