// cli/provenance.c: reading constants with the comments above them.
#include "cli/provenance.h"

#include <string.h>

#include "base/library.h"

// The kind that a comment's first telling word gives.
static const char *provenance_kind(const char *comment)
{
    static const struct {
        const char *word, *kind;
    } words[] = {{"fitted", "fitted"},   {"measured", "measured"},  {"guessed", "guessed"},
                 {"assumed", "guessed"}, {"derived", "derived"},    {"memory", "guessed"},
                 {"tables", "measured"}, {"data sheet", "printed"}, {"fixed", "guessed"},
                 {"by hand", "fitted"},  {"default", "printed"}};
    const char *kind = "printed", *first = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        const char *at = strstr(comment, words[i].word);
        if (at == NULL || (first != NULL && at >= first))
            continue;
        first = at;
        kind = words[i].kind;
    }
    return kind;
}

// Sections that a job uses: other attention kernels and single benchmarks are of no interest to it.
static gboolean provenance_concerns(const StepJob *job, const char *section)
{
    if (strcmp(section, "chip") == 0 || strcmp(section, "burst") == 0)
        return FALSE;
    if (!g_str_has_prefix(section, "attention"))
        return TRUE;
    TopoAttentionKernel kernel = job->framework->kernel;
    const char *name = strcmp(section, "attention") == 0 ? TOPO_ATTENTION_NAMES[TOPO_ATTENTION_BEST]
                                                         : section + strlen("attention-");
    return job->framework->flash && strcmp(name, TOPO_ATTENTION_NAMES[kernel]) == 0;
}

static void provenance_add(GString *text, const StepJob *job, const char *folder, const char *what,
                           const char *name)
{
    g_autoptr(Ini) ini = library_read_ini(folder, what, name, NULL, NULL);
    if (ini == NULL)
        return;
    g_string_append_printf(text, "%s %s\n", what, name);
    g_auto(GStrv) lines = g_strsplit(ini_text(ini), "\n", -1);
    g_autofree char *section = g_strdup("");
    g_autoptr(GString) comment = g_string_new(NULL);
    for (guint i = 0; lines[i] != NULL; i++) {
        const char *line = g_strstrip(lines[i]);
        if (line[0] == '#') {
            g_string_append_printf(comment, "%s%s", comment->len > 0 ? "; " : "", line + strspn(line, "# "));
            continue;
        }
        gsize length = strlen(line);
        if (line[0] == '[' && line[length - 1] == ']') {
            g_free(section);
            section = g_strndup(line + 1, length - 2);
        } else if (strchr(line, '=') != NULL && provenance_concerns(job, section) &&
                   !g_str_has_prefix(line, "title") && !g_str_has_prefix(line, "source")) {
            g_string_append_printf(text, "  %-9s%-13s %-34s %s\n", provenance_kind(comment->str), section,
                                   line, comment->str);
        }
        g_string_truncate(comment, 0);
    }
}

char *provenance_text(const StepJob *job)
{
    if (job->framework == NULL)
        return g_strdup("");
    GString *text = g_string_new("constants\n");
    provenance_add(text, job, "topo/data/chips", "chip", job->machine->device->name);
    provenance_add(text, job, "plans/data/frameworks", "framework", job->framework->name);
    return g_string_free(text, FALSE);
}
