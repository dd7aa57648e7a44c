// base/units.h: quantities with their units: what they are in memory, and how they are read and printed.
//
// In memory: time is Ps (int64 picoseconds, 106 days at most), sizes are int64 bytes, rates and FLOP/s are
// double per second. In text a unit is always required (counts and fractions excepted): "25 MiB", "400 Gb/s",
// "2.5 us", "989 TFLOP/s". GiB is not GB and Gb/s is not GB/s. Numbers are read and printed as in C, whatever
// the locale.
#pragma once

#include <glib.h>

typedef gint64 Ps; // picoseconds

#define PS_PER_SECOND G_GINT64_CONSTANT(1000000000000)
#define PS_MAX        G_MAXINT64

typedef enum {
    UNITS_COUNT,    // a whole number, no unit: 64, 7e9
    UNITS_NUMBER,   // a real number, no unit: 0.473
    UNITS_FRACTION, // a real number in 0..1, or "47.3 %"
    UNITS_TIME,     // seconds: ps ns us ms s min h
    UNITS_BYTES,    // bytes: B, kB MB GB TB PB (1000s), KiB MiB GiB TiB PiB (1024s)
    UNITS_RATE,     // bytes per second: B/s .. TB/s, KiB/s .. TiB/s, and bits: b/s kb/s Mb/s Gb/s Tb/s
    UNITS_FLOPS,    // FLOP/s: FLOP/s .. EFLOP/s
} UnitsKind;

// Reads text as one non-negative quantity of a kind, in the kind's base unit (counts, sizes: whole numbers,
// exact up to 2^53; fractions: 0..1). FALSE and an error "WHERE: found ..., wanted ..." for an empty text, a
// missing or foreign unit, a negative number, NaN, infinity, overflow, or a fraction of a byte. where may be
// NULL.
gboolean units_parse(UnitsKind kind, const char *text, const char *where, double *value, GError **error);

// As units_parse, as a whole number: UNITS_COUNT and UNITS_BYTES only.
gboolean units_parse_whole(UnitsKind kind, const char *text, const char *where, gint64 *value,
                           GError **error);

// As units_parse of a UNITS_TIME, rounded up to a picosecond.
gboolean units_parse_ps(const char *text, const char *where, Ps *value, GError **error);

// Float becomes time here and nowhere else: seconds rounded up to picoseconds. FALSE (and *out untouched)
// where seconds is negative, not finite, or past the range.
gboolean units_ps_from_seconds(double seconds, Ps *out);

// Seconds as a double, for printing and ratios.
static inline double units_seconds(Ps ps)
{
    return (double)ps / (double)PS_PER_SECOND;
}

// A rate as the exact fraction of picoseconds a byte takes: num/den = 1e12 / (bytes/s), the rate rounded to a
// whole number of bytes per second (at least 1). All times of transfers come from it, in integers.
typedef struct {
    guint64 num; // ps ...
    guint64 den; // ... for that many bytes, lowest terms
} UnitsPace;

UnitsPace units_pace(double bytes_per_second);

// The time of bytes at a pace: ceil(bytes * num / den), exact; aborts past the range of Ps (callers check
// sizes: units_pace_fits).
static inline Ps units_pace_time(UnitsPace pace, gint64 bytes)
{
    guint64 product;
    if (!__builtin_mul_overflow((guint64)bytes, pace.num, &product)) {
        if (pace.den == 1)
            return (Ps)product;
        return (Ps)(product / pace.den + (product % pace.den != 0));
    }
    unsigned __int128 wide = (unsigned __int128)(guint64)bytes * pace.num;
    wide = (wide + pace.den - 1) / pace.den;
    g_assert(wide <= (unsigned __int128)PS_MAX);
    return (Ps)wide;
}

// Whether bytes at this pace take less than a day, the longest transfer that a simulation is asked for.
gboolean units_pace_fits(UnitsPace pace, gint64 bytes);

// Printing, for people: three to four significant digits with a fitting unit. Caller frees.
char *units_format_time(Ps ps);          // "11.58 ms"
char *units_format_seconds(double s);    // the same for a double
char *units_format_bytes(double bytes);  // "26.95 GB" (1000s)
char *units_format_binary(double bytes); // "25 MiB"   (1024s)
char *units_format_rate(double rate);    // "50 GB/s"
char *units_format_flops(double flops);  // "989 TFLOP/s"
char *units_format_count(gint64 count);  // "6,738,149,376"
