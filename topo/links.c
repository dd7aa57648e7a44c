// topo/links.c: reading a graph link by link.
#include "topo/links.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/suggest.h"
#include "topo/build.h"

static const char SECTION[] = "links";

// A node as a line names it.
typedef struct {
    TopoNodeKind kind;
    guint32 number;
} LinksEnd;

typedef struct {
    LinksEnd a, b;
    gboolean cable;
    double bandwidth;
    Ps latency;
    TopoLinkClass class;
} LinksLine;

// The nodes of one kind that were named so far.
typedef struct {
    GArray *named;    // of gboolean, by number; owned
    const char *last; // the key that named the highest number; borrowed
} LinksKind;

gboolean topo_links_check_bandwidth(const Ini *ini, const char *section, const char *key, double bandwidth,
                                    GError **error)
{
    if (bandwidth >= 1 && bandwidth < 1e18)
        return TRUE;
    return ini_refuse(ini, section, key, error, "found %g B/s, wanted at least 1 B/s and less than 1e18 B/s",
                      bandwidth);
}

gboolean topo_links_check_latency(const Ini *ini, const char *section, const char *key, Ps latency,
                                  GError **error)
{
    if (latency <= 60 * PS_PER_SECOND)
        return TRUE;
    g_autofree char *found = units_format_time(latency);
    return ini_refuse(ini, section, key, error, "found a latency of %s, wanted at most a minute", found);
}

static guint links_find(const char *const *names, const char *word)
{
    guint i = 0;
    while (names[i] != NULL && strcmp(names[i], word) != 0)
        i++;
    return i;
}

static gboolean links_read_end(const Ini *ini, const char *key, const char *word, LinksEnd *end,
                               GError **error)
{
    gsize letters = strcspn(word, "0123456789");
    const char *digits = word + letters;
    g_autofree char *kind = g_strndup(word, letters);
    g_autofree char *quoted = base_error_quote(word);
    guint index = links_find(TOPO_NODE_NAMES, kind);
    if (TOPO_NODE_NAMES[index] == NULL) {
        g_autofree char *names = g_strjoinv(", ", (char **)TOPO_NODE_NAMES);
        g_autofree char *hint = suggest_hint(kind, TOPO_NODE_NAMES);
        return ini_refuse(ini, SECTION, key, error, "found node '%s', wanted a number after one of: %s%s",
                          quoted, names, hint);
    }
    gsize length = strlen(digits);
    if (length == 0 || strspn(digits, "0123456789") != length || (digits[0] == '0' && length > 1))
        return ini_refuse(ini, SECTION, key, error, "found node '%s', wanted a name such as '%s0'", quoted,
                          kind);
    guint64 number = length > 9 ? G_MAXUINT64 : g_ascii_strtoull(digits, NULL, 10);
    if (number >= TOPO_BUILD_GPUS)
        return ini_refuse(ini, SECTION, key, error, "found node '%s', wanted a number below %d", quoted,
                          TOPO_BUILD_GPUS);
    *end = (LinksEnd){.kind = (TopoNodeKind)index, .number = (guint32)number};
    return TRUE;
}

// "a b" or "a > b".
static gboolean links_read_ends(const Ini *ini, const char *key, LinksLine *line, GError **error)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_auto(GStrv) pieces = g_strsplit_set(key, " \t", -1);
    gboolean arrow = FALSE;
    for (guint i = 0; pieces[i] != NULL; i++) {
        if (strcmp(pieces[i], ">") == 0 && words->len == 1 && !arrow)
            arrow = TRUE;
        else if (*pieces[i] != '\0')
            g_ptr_array_add(words, pieces[i]);
    }
    if (words->len != 2)
        return ini_refuse(ini, SECTION, key, error,
                          "wanted two nodes: 'gpu0 nvswitch0' or 'gpu0 > nvswitch0'");
    line->cable = !arrow;
    if (!links_read_end(ini, key, words->pdata[0], &line->a, error) ||
        !links_read_end(ini, key, words->pdata[1], &line->b, error))
        return FALSE;
    if (line->a.kind == line->b.kind && line->a.number == line->b.number)
        return ini_refuse(ini, SECTION, key, error, "found a link from a node to itself");
    return TRUE;
}

// "450 GB/s, 2.5 us, nvlink".
static gboolean links_read_value(Ini *ini, const char *key, LinksLine *line, GError **error)
{
    g_autofree char *value = NULL;
    if (!ini_get_text(ini, SECTION, key, INI_REQUIRED, &value, error))
        return FALSE;
    g_auto(GStrv) parts = g_strsplit(value, ",", -1);
    if (g_strv_length(parts) != 3) {
        g_autofree char *quoted = base_error_quote(value);
        return ini_refuse(ini, SECTION, key, error,
                          "found '%s', wanted 'bandwidth, latency, class' such as "
                          "'450 GB/s, 2.5 us, nvlink'",
                          quoted);
    }
    g_autofree char *where = ini_where(ini, SECTION, key);
    if (!units_parse(UNITS_RATE, parts[0], where, &line->bandwidth, error) ||
        !topo_links_check_bandwidth(ini, SECTION, key, line->bandwidth, error) ||
        !units_parse_ps(parts[1], where, &line->latency, error) ||
        !topo_links_check_latency(ini, SECTION, key, line->latency, error))
        return FALSE;
    guint class = links_find(TOPO_LINK_NAMES, g_strstrip(parts[2]));
    if (TOPO_LINK_NAMES[class] == NULL) {
        g_autofree char *quoted = base_error_quote(parts[2]);
        g_autofree char *names = g_strjoinv(", ", (char **)TOPO_LINK_NAMES);
        g_autofree char *hint = suggest_hint(parts[2], TOPO_LINK_NAMES);
        return ini_refuse(ini, SECTION, key, error, "found class '%s', wanted one of: %s%s", quoted, names,
                          hint);
    }
    line->class = (TopoLinkClass) class;
    return TRUE;
}

static void links_name(LinksKind *kinds, LinksEnd end, const char *key)
{
    LinksKind *kind = &kinds[end.kind];
    if (end.number >= kind->named->len) {
        g_array_set_size(kind->named, end.number + 1); // cleared: nobody was named
        kind->last = key;
    }
    g_array_index(kind->named, gboolean, end.number) = TRUE;
}

static gboolean links_check_holes(const Ini *ini, const LinksKind *kinds, GError **error)
{
    for (guint k = 0; k < TOPO_NODE_KINDS; k++)
        for (guint i = 0; i < kinds[k].named->len; i++)
            if (!g_array_index(kinds[k].named, gboolean, i))
                return ini_refuse(ini, SECTION, kinds[k].last, error,
                                  "found %s%u but no %s%u, wanted numbers from 0 without a hole",
                                  TOPO_NODE_NAMES[k], kinds[k].named->len - 1, TOPO_NODE_NAMES[k], i);
    return TRUE;
}

// One number for one direction; mixed, because g_int64_hash only folds its halves together.
static guint64 links_pair(LinksEnd from, LinksEnd to)
{
    return hash_mix(((guint64)from.kind << 56) | ((guint64)from.number << 32) | ((guint64)to.kind << 24) |
                    to.number);
}

static gboolean links_read_lines(Ini *ini, char **keys, GArray *lines, LinksKind *kinds, GError **error)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL); // never iterated
    for (guint i = 0; keys[i] != NULL; i++) {
        LinksLine line = {0};
        if (!links_read_ends(ini, keys[i], &line, error) || !links_read_value(ini, keys[i], &line, error))
            return FALSE;
        guint64 ways[2] = {links_pair(line.a, line.b), links_pair(line.b, line.a)};
        for (guint way = 0; way < (line.cable ? 2 : 1); way++)
            if (!g_hash_table_add(seen, g_memdup2(&ways[way], sizeof ways[way])))
                return ini_refuse(
                    ini, SECTION, keys[i], error,
                    "found a direction that an earlier line gives already, wanted one link each way");
        links_name(kinds, line.a, keys[i]);
        links_name(kinds, line.b, keys[i]);
        g_array_append_val(lines, line);
    }
    return links_check_holes(ini, kinds, error);
}

static TopoGraph *links_build(const GArray *lines, const LinksKind *kinds, guint32 gpus_per_node,
                              gboolean gpu_forward)
{
    TopoGraph *graph = topo_graph_new();
    graph->gpu_forward = gpu_forward;
    guint32 first[TOPO_NODE_KINDS];
    for (guint k = 0; k < TOPO_NODE_KINDS; k++) {
        first[k] = graph->nodes->len;
        for (guint32 i = 0; i < kinds[k].named->len; i++)
            topo_graph_add_node(graph, (TopoNodeKind)k, k == TOPO_NODE_GPU ? i / gpus_per_node : G_MAXUINT32);
    }
    for (guint i = 0; i < lines->len; i++) {
        const LinksLine *line = &g_array_index(lines, LinksLine, i);
        guint32 a = first[line->a.kind] + line->a.number, b = first[line->b.kind] + line->b.number;
        if (line->cable)
            topo_graph_add_cable(graph, a, b, line->class, line->bandwidth, line->latency);
        else
            topo_graph_add_link(graph, a, b, line->class, line->bandwidth, line->latency);
    }
    return graph;
}

TopoGraph *topo_links_read(Ini *ini, guint32 gpus_per_node, gboolean gpu_forward, GError **error)
{
    g_auto(GStrv) keys = ini_keys(ini, SECTION);
    if (keys[0] == NULL) {
        base_error_set(error, BASE_ERROR_FAILED, ini_name(ini),
                       "links: found none, wanted lines such as 'gpu0 nvswitch0 = 450 GB/s, 2.5 us, nvlink'");
        return NULL;
    }
    g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(LinksLine));
    LinksKind kinds[TOPO_NODE_KINDS];
    for (guint k = 0; k < TOPO_NODE_KINDS; k++)
        kinds[k] = (LinksKind){.named = g_array_new(FALSE, TRUE, sizeof(gboolean))};
    TopoGraph *graph = NULL;
    if (links_read_lines(ini, keys, lines, kinds, error))
        graph = links_build(lines, kinds, gpus_per_node, gpu_forward);
    for (guint k = 0; k < TOPO_NODE_KINDS; k++)
        g_array_unref(kinds[k].named);
    return graph;
}
