// plots/plot.c: a picture by gnuplot, from a script of ours and the data before it.
#include "plots/plot.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"

char *plot_quote(const char *text)
{
    // Between double quotes gnuplot runs what stands in backquotes, and between single ones it misreads a
    // quote that comes first: so all but letters is written as octal escapes (digits too: an escape swallows
    // those behind it).
    g_autofree char *line = base_error_quote(text);
    GString *out = g_string_new("\"");
    for (const char *at = line; *at != '\0'; at++) {
        if (g_ascii_isalpha(*at) || *at == ' ')
            g_string_append_c(out, *at);
        else
            g_string_append_printf(out, "\\%03o", (guint)(guchar)*at);
    }
    g_string_append_c(out, '"');
    return g_string_free(out, FALSE);
}

gboolean plot_check(const char *path, GError **error)
{
    if (g_str_has_suffix(path, ".png") || g_str_has_suffix(path, ".svg"))
        return TRUE;
    g_autofree char *quoted = base_error_quote(path);
    return base_error_set(error, BASE_ERROR_USAGE, NULL,
                          "-o: found '%s', wanted a name that ends in .png or .svg", quoted);
}

// What gnuplot complained of: the line with a place in the script, else the first that holds anything.
static char *plot_complaint(const char *words)
{
    g_auto(GStrv) lines = g_strsplit(words == NULL ? "" : words, "\n", 1000);
    const char *found = "nothing said";
    for (guint i = 0, seen = 0; lines[i] != NULL; i++) {
        const char *place = strstr(lines[i], "\" line ");
        if (place != NULL && strstr(place, " warning: ") == NULL)
            return base_error_quote(place + 2);
        if (*g_strchomp(lines[i]) != '\0' && seen++ == 0)
            found = lines[i];
    }
    return base_error_quote(found);
}

// Runs gnuplot on a script file; output is an absolute path, since gnuplot would run one that starts with
// '|'.
static gboolean plot_run(const char *script, const char *output, GError **error)
{
    g_autofree char *program = g_find_program_in_path("gnuplot");
    if (program == NULL)
        return base_error_set(error, BASE_ERROR_FAILED, NULL,
                              "gnuplot not found (Debian: apt-get install gnuplot-nox)");
    g_autoptr(GError) local = NULL;
    g_autofree char *words = NULL;
    char *arguments[] = {
        program, (char[]){"-d"}, (char[]){"-c"}, (char *)(guintptr)script, (char *)(guintptr)output, NULL};
    int status = 0;
    if (!g_spawn_sync(NULL, arguments, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &words, &status,
                      &local)) {
        g_autofree char *message = base_error_quote(local->message);
        return base_error_set(error, BASE_ERROR_FAILED, "gnuplot", "%s", message);
    }
    GStatBuf written;
    if (g_spawn_check_wait_status(status, NULL) && g_stat(output, &written) == 0 && written.st_size > 0)
        return TRUE;
    g_autofree char *complaint = plot_complaint(words);
    return base_error_set(error, BASE_ERROR_FAILED, "gnuplot", "%s", complaint);
}

// The whole script in a file of its own. NULL with an error; caller unlinks and frees.
static char *plot_write_script(const char *text, GError **error)
{
    g_autoptr(GError) local = NULL;
    g_autofree char *file = NULL;
    int handle = g_file_open_tmp("stepline-XXXXXX.gp", &file, &local);
    if (handle >= 0 && g_close(handle, &local) && g_file_set_contents(file, text, -1, &local))
        return g_steal_pointer(&file);
    if (file != NULL)
        g_unlink(file);
    g_autofree char *message = base_error_quote(local->message);
    base_error_set(error, BASE_ERROR_FAILED, NULL, "cannot write gnuplot's script: %s", message);
    return NULL;
}

gboolean plot_write(const char *path, guint width, guint height, const char *preamble, const char *script,
                    GError **error)
{
    if (!plot_check(path, error))
        return FALSE;
    g_autoptr(GBytes) constant = library_find(script);
    g_assert(constant != NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(
        text,
        "set encoding utf8\nset terminal %s noenhanced size %u,%u font 'sans-serif,11' background "
        "'#ffffff'\nset output ARG1\nwidth = %u.0\nheight = %u.0\n%s",
        g_str_has_suffix(path, ".png") ? "pngcairo" : "svg", width, height, width, height, preamble);
    g_string_append_len(text, g_bytes_get_data(constant, NULL), (gssize)g_bytes_get_size(constant));
    g_string_append(text, "\nset output\n");

    // Drawn beside its place, under another name, and renamed when it is whole.
    g_autofree char *place = g_canonicalize_filename(path, NULL);
    g_autofree char *output = g_strconcat(place, ".XXXXXX", NULL);
    int handle = g_mkstemp_full(output, 0, 0666);
    if (handle < 0)
        return base_error_set(error, BASE_ERROR_FAILED, path, "cannot be written: %s", g_strerror(errno));
    g_close(handle, NULL);
    g_autofree char *file = plot_write_script(text->str, error);
    gboolean fine = file != NULL && plot_run(file, output, error);
    if (file != NULL)
        g_unlink(file);
    if (fine && g_rename(output, place) != 0)
        fine = base_error_set(error, BASE_ERROR_FAILED, path, "cannot be written: %s", g_strerror(errno));
    if (!fine)
        g_unlink(output);
    return fine;
}
