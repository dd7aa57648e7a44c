// base/units.c: reading and printing quantities with their units.
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"

typedef struct {
    const char *name;
    UnitsKind kind;
    double scale; // base units in one of it
} Unit;

// The longest list of ways to say a quantity; names are case-sensitive (Mb is not MB, ms is not Ms).
static const Unit UNITS[] = {
    {"%", UNITS_FRACTION, 0.01},
    {"ps", UNITS_TIME, 1e-12},
    {"ns", UNITS_TIME, 1e-9},
    {"us", UNITS_TIME, 1e-6},
    {"\xc2\xb5s", UNITS_TIME, 1e-6},
    {"ms", UNITS_TIME, 1e-3},
    {"s", UNITS_TIME, 1},
    {"min", UNITS_TIME, 60},
    {"h", UNITS_TIME, 3600},
    {"B", UNITS_BYTES, 1},
    {"kB", UNITS_BYTES, 1e3},
    {"MB", UNITS_BYTES, 1e6},
    {"GB", UNITS_BYTES, 1e9},
    {"TB", UNITS_BYTES, 1e12},
    {"PB", UNITS_BYTES, 1e15},
    {"KiB", UNITS_BYTES, 1024.0},
    {"MiB", UNITS_BYTES, 1048576.0},
    {"GiB", UNITS_BYTES, 1073741824.0},
    {"TiB", UNITS_BYTES, 1099511627776.0},
    {"PiB", UNITS_BYTES, 1125899906842624.0},
    {"B/s", UNITS_RATE, 1},
    {"kB/s", UNITS_RATE, 1e3},
    {"MB/s", UNITS_RATE, 1e6},
    {"GB/s", UNITS_RATE, 1e9},
    {"TB/s", UNITS_RATE, 1e12},
    {"KiB/s", UNITS_RATE, 1024.0},
    {"MiB/s", UNITS_RATE, 1048576.0},
    {"GiB/s", UNITS_RATE, 1073741824.0},
    {"TiB/s", UNITS_RATE, 1099511627776.0},
    {"b/s", UNITS_RATE, 0.125},
    {"kb/s", UNITS_RATE, 0.125e3},
    {"Mb/s", UNITS_RATE, 0.125e6},
    {"Gb/s", UNITS_RATE, 0.125e9},
    {"Tb/s", UNITS_RATE, 0.125e12},
    {"kbit/s", UNITS_RATE, 0.125e3},
    {"Mbit/s", UNITS_RATE, 0.125e6},
    {"Gbit/s", UNITS_RATE, 0.125e9},
    {"Tbit/s", UNITS_RATE, 0.125e12},
    {"FLOP/s", UNITS_FLOPS, 1},
    {"MFLOP/s", UNITS_FLOPS, 1e6},
    {"GFLOP/s", UNITS_FLOPS, 1e9},
    {"TFLOP/s", UNITS_FLOPS, 1e12},
    {"PFLOP/s", UNITS_FLOPS, 1e15},
    {"EFLOP/s", UNITS_FLOPS, 1e18},
};

// What each kind is called in an error, and an example to copy.
static const struct {
    const char *name, *example;
} KINDS[] = {
    [UNITS_COUNT] = {"a whole number", "64"},
    [UNITS_NUMBER] = {"a number without unit", "0.5"},
    [UNITS_FRACTION] = {"a fraction from 0 to 1", "0.473' or '47.3 %"},
    [UNITS_TIME] = {"a time", "2.5 us"},
    [UNITS_BYTES] = {"a size", "25 MiB"},
    [UNITS_RATE] = {"a rate", "400 Gb/s' or '50 GB/s"},
    [UNITS_FLOPS] = {"a compute rate", "989 TFLOP/s"},
};

static const Unit *units_find(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(UNITS); i++)
        if (strcmp(UNITS[i].name, name) == 0)
            return &UNITS[i];
    return NULL;
}

// The known unit that differs from name in case only, for the hint; NULL without one.
static const Unit *units_find_like(UnitsKind kind, const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(UNITS); i++)
        if (UNITS[i].kind == kind && g_ascii_strcasecmp(UNITS[i].name, name) == 0)
            return &UNITS[i];
    return NULL;
}

static gboolean units_refuse(UnitsKind kind, const char *text, const char *where, const char *why,
                             GError **error)
{
    g_autofree char *found = base_error_quote(text);
    return base_error_set(error, BASE_ERROR_FAILED, where, "found '%s'%s, wanted %s such as '%s'", found, why,
                          KINDS[kind].name, KINDS[kind].example);
}

gboolean units_parse(UnitsKind kind, const char *text, const char *where, double *value, GError **error)
{
    while (g_ascii_isspace(*text))
        text++;
    if (*text == '\0')
        return units_refuse(kind, text, where, " (nothing)", error);
    // g_ascii_strtod also reads hexadecimal, "nan" and "inf": it is shown the decimal characters only.
    g_autofree char *decimal = g_strndup(text, strspn(text, "0123456789+-.eE"));
    errno = 0;
    char *stop = NULL;
    double number = g_ascii_strtod(decimal, &stop);
    if (stop == decimal)
        return units_refuse(kind, text, where, " (not a number)", error);
    const char *end = text + (stop - decimal);
    if (errno == ERANGE || !isfinite(number))
        return units_refuse(kind, text, where, " (out of range)", error);
    if (signbit(number) && number != 0)
        return units_refuse(kind, text, where, " (negative)", error);
    g_autofree char *suffix = g_strstrip(g_strdup(end));
    gboolean bare = kind == UNITS_COUNT || kind == UNITS_NUMBER || kind == UNITS_FRACTION;
    if (*suffix == '\0') {
        if (!bare)
            return units_refuse(kind, text, where, " (no unit)", error);
    } else {
        const Unit *unit = units_find(suffix);
        if (unit == NULL) {
            const Unit *like = units_find_like(kind, suffix);
            g_autofree char *quoted = base_error_quote(suffix);
            g_autofree char *why =
                like != NULL ? g_strdup_printf(" (unknown unit '%s', did you mean '%s'?)", quoted, like->name)
                             : g_strdup_printf(" (unknown unit '%s')", quoted);
            return units_refuse(kind, text, where, why, error);
        }
        if (unit->kind != kind) {
            g_autofree char *why = g_strdup_printf(" (%s)", KINDS[unit->kind].name);
            return units_refuse(kind, text, where, why, error);
        }
        number *= unit->scale;
    }
    if (!isfinite(number))
        return units_refuse(kind, text, where, " (out of range)", error);
    if (kind == UNITS_FRACTION && number > 1)
        return units_refuse(kind, text, where, " (more than 1)", error);
    if (kind == UNITS_COUNT || kind == UNITS_BYTES) {
        double whole = floor(number + 0.5);
        if (fabs(number - whole) > 1e-6 * MIN(1.0, number))
            return units_refuse(kind, text, where, " (not a whole number)", error);
        if (whole > 9007199254740992.0) // 2^53: beyond it a double skips whole numbers
            return units_refuse(kind, text, where, " (out of range)", error);
        number = whole;
    }
    *value = number;
    return TRUE;
}

gboolean units_parse_whole(UnitsKind kind, const char *text, const char *where, gint64 *value, GError **error)
{
    g_assert(kind == UNITS_COUNT || kind == UNITS_BYTES);
    double number = 0;
    if (!units_parse(kind, text, where, &number, error))
        return FALSE;
    *value = (gint64)number;
    return TRUE;
}

gboolean units_parse_ps(const char *text, const char *where, Ps *value, GError **error)
{
    double seconds = 0;
    if (!units_parse(UNITS_TIME, text, where, &seconds, error))
        return FALSE;
    if (!units_ps_from_seconds(seconds, value))
        return units_refuse(UNITS_TIME, text, where, " (out of range)", error);
    return TRUE;
}

gboolean units_ps_from_seconds(double seconds, Ps *out)
{
    if (!(seconds >= 0) || seconds > 9.2e6)
        return FALSE;
    double ps = seconds * 1e12;
    double nearest = floor(ps + 0.5);
    // A decimal such as 2.5e-6 is not a binary fraction: what lies within the error of the product is the
    // number that was meant, not one picosecond more.
    *out = (Ps)(fabs(ps - nearest) <= nearest * 4.5e-16 ? nearest : ceil(ps));
    return TRUE;
}

UnitsPace units_pace(double bytes_per_second)
{
    g_assert(bytes_per_second > 0 && bytes_per_second < 1e18);
    guint64 rate = (guint64)floor(bytes_per_second + 0.5);
    if (rate == 0)
        rate = 1;
    guint64 a = (guint64)PS_PER_SECOND, b = rate;
    while (b != 0) {
        guint64 rest = a % b;
        a = b;
        b = rest;
    }
    return (UnitsPace){.num = (guint64)PS_PER_SECOND / a, .den = rate / a};
}

gboolean units_pace_fits(UnitsPace pace, gint64 bytes)
{
    unsigned __int128 day = (unsigned __int128)86400 * (unsigned __int128)PS_PER_SECOND;
    return bytes >= 0 && (unsigned __int128)(guint64)bytes * pace.num < day * pace.den;
}

typedef struct {
    const char *name;
    double scale;
} Step;

// value in the largest step not above it, with four significant digits and no trailing zeros.
static char *units_format(double value, const Step *steps, guint n)
{
    guint i = 0;
    while (i + 1 < n && fabs(value) < steps[i].scale * 0.99995)
        i++;
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    double scaled = value / steps[i].scale;
    int decimals = fabs(scaled) >= 999.95 ? 0 : fabs(scaled) >= 99.995 ? 1 : fabs(scaled) >= 9.9995 ? 2 : 3;
    char format[8];
    g_snprintf(format, sizeof format, "%%.%df", decimals);
    g_ascii_formatd(number, sizeof number, format, scaled);
    if (strchr(number, '.') != NULL) {
        char *end = number + strlen(number);
        while (end[-1] == '0')
            *--end = '\0';
        if (end[-1] == '.')
            end[-1] = '\0';
    }
    return g_strdup_printf("%s %s", number, steps[i].name);
}

char *units_format_seconds(double s)
{
    static const Step steps[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
    if (s == 0)
        return g_strdup("0 s");
    return units_format(s, steps, G_N_ELEMENTS(steps));
}

char *units_format_time(Ps ps)
{
    return units_format_seconds(units_seconds(ps));
}

char *units_format_bytes(double bytes)
{
    static const Step steps[] = {{"PB", 1e15}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}};
    return units_format(bytes, steps, G_N_ELEMENTS(steps));
}

char *units_format_binary(double bytes)
{
    static const Step steps[] = {{"PiB", 1125899906842624.0}, {"TiB", 1099511627776.0}, {"GiB", 1073741824.0},
                                 {"MiB", 1048576.0},          {"KiB", 1024.0},          {"B", 1}};
    return units_format(bytes, steps, G_N_ELEMENTS(steps));
}

char *units_format_rate(double rate)
{
    static const Step steps[] = {{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}};
    return units_format(rate, steps, G_N_ELEMENTS(steps));
}

char *units_format_flops(double flops)
{
    static const Step steps[] = {{"EFLOP/s", 1e18}, {"PFLOP/s", 1e15}, {"TFLOP/s", 1e12},
                                 {"GFLOP/s", 1e9},  {"MFLOP/s", 1e6},  {"FLOP/s", 1}};
    return units_format(flops, &steps[2], G_N_ELEMENTS(steps) - 2);
}

char *units_format_count(gint64 count)
{
    g_autofree char *digits = g_strdup_printf("%" G_GINT64_FORMAT, ABS(count));
    GString *out = g_string_new(count < 0 ? "-" : "");
    size_t n = strlen(digits);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            g_string_append_c(out, ',');
        g_string_append_c(out, digits[i]);
    }
    return g_string_free(out, FALSE);
}
