// tests/fuzz.h: files broken in a thousand ways by fixed seeds, for the tests that read them.
#pragma once

#include "tests/check.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/library.h"

enum { MUTATIONS = 120, HANG_S = 30 };

typedef struct {
    char *folder, *path; // owned
    guint cases, reads;
    gint64 slowest; // us
    char *slow;     // owned: which case that was
    guint sparse;   // only every so many-th case
} Fuzz;

// What a reader makes of the file at path: TRUE where it reads.
typedef gboolean (*FuzzRead)(const char *path, GError **error);

static inline void check_refusal(const GError *error, const char *what)
{
    if (error == NULL)
        fail_msg("%s: refused without an error", what);
    else if (error->domain != BASE_ERROR || error->code < 1 || error->code > 3 || *error->message == '\0')
        fail_msg("%s: a foreign error '%s'", what, error->message);
    else if (!g_utf8_validate(error->message, -1, NULL))
        fail_msg("%s: the error is not UTF-8", what);
    for (const char *at = error->message; *at != '\0'; at = g_utf8_next_char(at))
        if (g_unichar_iscntrl(g_utf8_get_char(at)))
            fail_msg("%s: a control character in '%s'", what, error->message);
}

static inline void fuzz_try(Fuzz *fuzz, FuzzRead read, const char *text, gsize length, const char *what)
{
    FILE *file = fopen(fuzz->path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    g_autoptr(GError) error = NULL;
    gint64 start = g_get_monotonic_time();
    alarm(HANG_S);
    gboolean fine = read(fuzz->path, &error);
    alarm(0);
    gint64 taken = g_get_monotonic_time() - start;
    if (taken > fuzz->slowest) {
        fuzz->slowest = taken;
        g_free(fuzz->slow);
        fuzz->slow = g_strdup(what);
    }
    fuzz->cases++;
    if (!fine && fuzz->cases < 200 && getenv("V"))
        print_message("%s: %s\n", what, error ? error->message : "?");
    fuzz->reads += fine ? 1 : 0;
    fine ? check_fine(error) : check_refusal(error, what);
}

// Random numbers of one case.
typedef struct {
    guint64 seed, counter;
} Dice;

static inline gsize roll(Dice *dice, gsize sides)
{
    return (gsize)(hash_random(dice->seed, dice->counter++) % MAX(sides, 1));
}

static inline void mutate_bytes(GString *text, Dice *dice)
{
    gsize at = roll(dice, text->len), some = 1 + roll(dice, 4);
    switch (roll(dice, 4)) {
    case 0:
        text->str[at] = (char)(text->str[at] ^ (1 << roll(dice, 8)));
        break;
    case 1:
        g_string_truncate(text, at);
        break;
    case 2:
        g_string_insert_c(text, (gssize)at, (char)roll(dice, 256));
        break;
    default:
        g_string_erase(text, (gssize)at, (gssize)MIN(some, text->len - at));
        break;
    }
}

// Duplicates, swaps, moves or drops whole lines.
static inline void mutate_lines(GString *text, Dice *dice)
{
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    guint n = g_strv_length(lines);
    gsize a = roll(dice, n), b = roll(dice, n), kind = roll(dice, 3);
    g_string_truncate(text, 0);
    for (guint i = 0; i < n; i++) {
        if (kind == 0 && i == a)
            continue;
        gsize from = kind == 1 && i == a ? b : kind == 1 && i == b ? a : i;
        g_string_append_printf(text, "%s\n", lines[from]);
        if (kind == 2 && i == b)
            g_string_append_printf(text, "%s\n", lines[a]);
    }
}

// Puts an extreme in the place of a number, or of a unit.
static inline void mutate_values(GString *text, Dice *dice)
{
    g_auto(GStrv) extremes = g_strsplit(
        "0 -1 1 2 7 64 1000 65535 65536 1e6 1e15 1e308 1e-300 NaN inf "
        "9007199254740992 9007199254740993 9223372036854775807 9223372036854775808 18446744073709551616 0x10 "
        "1e . - +1 1.5 0.1 % KiB PB GB/s ps h yes no ", // the last one is empty
        " ", -1);
    gsize start = roll(dice, text->len), at = start;
    while (at < text->len && !g_ascii_isdigit(text->str[at]))
        at++;
    if (at == text->len)
        at = start;
    gsize end = at;
    while (end < text->len && (g_ascii_isdigit(text->str[end]) || text->str[end] == '.'))
        end++;
    if (roll(dice, 4) == 0) // the unit behind it
        for (at = end; end < text->len && text->str[end] != '\n';)
            end++;
    g_string_erase(text, (gssize)at, (gssize)(end - at));
    g_string_insert(text, (gssize)at, extremes[roll(dice, g_strv_length(extremes))]);
}

static inline void mutate(GString *text, Dice *dice)
{
    static void (*const kinds[])(GString *, Dice *) = {mutate_bytes, mutate_lines, mutate_values,
                                                       mutate_values};
    gsize times = 1 + roll(dice, 2);
    for (gsize i = 0; i < times && text->len > 0; i++)
        kinds[roll(dice, G_N_ELEMENTS(kinds))](text, dice);
}

static inline void fuzz_file(Fuzz *fuzz, FuzzRead read, const char *file)
{
    g_autoptr(GBytes) bytes = library_find(file);
    assert_non_null(bytes);
    gsize length = 0;
    const char *whole = g_bytes_get_data(bytes, &length);
    guint reads = fuzz->reads;
    fuzz_try(fuzz, read, whole, length, file);
    if (fuzz->reads == reads)
        fail_msg("%s: is refused as it stands", file);
    for (gsize cut = 0; cut < length; cut += 7 * (gsize)fuzz->sparse) {
        g_autofree char *what = g_strdup_printf("%s, first %" G_GSIZE_FORMAT " bytes", file, cut);
        fuzz_try(fuzz, read, whole, cut, what);
    }
    for (guint i = 0; i < MUTATIONS; i += fuzz->sparse) {
        Dice dice = {.seed = hash_add_text(i, file)};
        g_autoptr(GString) text = g_string_new_len(whole, (gssize)length);
        mutate(text, &dice);
        g_autofree char *what = g_strdup_printf("%s, mutation %u", file, i);
        fuzz_try(fuzz, read, text->str, text->len, what);
    }
}

static inline void fuzz_folder(Fuzz *fuzz, FuzzRead read, const char *folder)
{
    g_auto(GStrv) names = library_list(folder, ".ini");
    assert_non_null(names[0]);
    for (guint i = 0; names[i] != NULL; i++) {
        g_autofree char *file = g_strdup_printf("%s/%s.ini", folder, names[i]);
        fuzz_file(fuzz, read, file);
    }
    print_message("%s: %u cases, %u read, slowest %" G_GINT64_FORMAT " ms (%s)\n", folder, fuzz->cases,
                  fuzz->reads, fuzz->slowest / 1000, fuzz->slow);
    assert_true(fuzz->reads > fuzz->cases / 50 &&
                fuzz->reads < fuzz->cases); // the mutations bite, and not always
}

static inline int set_up(void **state)
{
    Fuzz *fuzz = g_new0(Fuzz, 1);
    fuzz->sparse = g_getenv("STEPLINE_FEW") != NULL ? 4 : 1;
    fuzz->folder = g_dir_make_tmp("stepline-XXXXXX", NULL);
    fuzz->path = g_build_filename(fuzz->folder, "f.ini", NULL);
    *state = fuzz;
    return fuzz->folder == NULL;
}

static inline int tear_down(void **state)
{
    Fuzz *fuzz = *state;
    g_unlink(fuzz->path);
    g_rmdir(fuzz->folder);
    g_free(fuzz->path);
    g_free(fuzz->folder);
    g_free(fuzz->slow);
    g_free(fuzz);
    return 0;
}
