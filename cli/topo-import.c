// cli/topo-import.c: stepline topo import: a machine file from what other tools write about a node.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/topo-verb.h"
#include "imports/import.h"
#include "topo/device.h"
#include "topo/write.h"

// What was understood and assumed, a line each. Caller unrefs: of char *.
static GPtrArray *import_get_words(const Import *import, const char *chip)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(words, g_strdup("Understood:"));
    for (guint i = 0; i < import->notes->len; i++)
        g_ptr_array_add(words, g_strdup_printf("  %s", (const char *)import->notes->pdata[i]));
    g_ptr_array_add(words, g_strdup_printf("  chip %s", chip == NULL ? "not known" : chip));
    g_ptr_array_add(words, g_strdup("Assumed or left out:"));
    for (guint i = 0; i < import->assumed->len; i++)
        g_ptr_array_add(words, g_strdup_printf("  %s", (const char *)import->assumed->pdata[i]));
    return words;
}

static gboolean import_write(const TopoVerbArguments *arguments, const Import *import, GError **error)
{
    const char *path = arguments->words[0], *chip = arguments->chip == NULL ? import->chip : arguments->chip;
    g_autoptr(GPtrArray) words = import_get_words(import, chip);
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *title = g_strdup_printf("Imported from %s", base);
    g_autofree char *source = g_strdup_printf("%s; what was understood and assumed stands above", path);
    const TopoWrite machine = {
        .graph = import->graph, .title = title, .source = source, .chip = chip, .comments = words};
    g_autofree char *text = topo_write_machine(&machine, error);
    if (text == NULL)
        return FALSE;
    g_autoptr(GError) local = NULL;
    if (arguments->output != NULL && !g_file_set_contents(arguments->output, text, -1, &local))
        return base_error_set(error, BASE_ERROR_FAILED, arguments->output, "cannot be written: %s",
                              local->message);
    FILE *out = arguments->output == NULL ? stderr : stdout;
    for (guint i = 0; i < words->len; i++)
        fprintf(out, "%s\n", (const char *)words->pdata[i]);
    if (arguments->output != NULL)
        printf("Written: %s\n", arguments->output);
    else
        fputs(text, stdout);
    return TRUE;
}

static int import_run(const TopoVerbArguments *arguments, GError **error)
{
    if (g_strcmp0(arguments->words[0], arguments->output) == 0) {
        base_error_set(error, BASE_ERROR_USAGE, "-o", "found the file that is imported, wanted another one");
        return BASE_ERROR_USAGE;
    }
    if (arguments->chip != NULL) {
        g_autoptr(TopoDevice) device = topo_device_read(arguments->chip, "--chip", error);
        if (device == NULL)
            return BASE_ERROR_FAILED;
    }
    Import import;
    import_init(&import);
    gboolean fine =
        import_read(arguments->words[0], &import, error) && import_write(arguments, &import, error);
    import_clear(&import);
    return fine ? 0 : BASE_ERROR_FAILED;
}

const TopoVerb TOPO_VERB_IMPORT = {
    .name = "import",
    .usage = "FILE [--chip NAME] [-o MACHINE.ini]",
    .words = 1,
    .takes_output = TRUE,
    .takes_chip = TRUE,
    .run = import_run,
};
