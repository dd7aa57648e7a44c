// scenarios/grid.c: a scenario with lists as a grid of scenarios without.
#include "scenarios/grid.h"

#include <json-glib/json-glib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

enum { GRID_FILE_MAX = 1 << 20 };

gboolean scenario_grid_is_list(const char *section, const char *value)
{
    return strchr(value, ';') != NULL && strcmp(section, "scenario") != 0 && strcmp(section, "nccl") != 0;
}

gboolean scenario_grid_refuse(const Ini *ini, GError **error)
{
    const char *section, *key, *value;
    for (guint i = 0; ini_peek(ini, i, &section, &key, &value); i++) {
        if (!scenario_grid_is_list(section, value))
            continue;
        g_autofree char *quoted = base_error_quote(value);
        return ini_refuse(ini, section, key, error,
                          "found a list '%s', wanted one value: 'stepline sweep' runs lists", quoted);
    }
    return TRUE;
}

static void grid_free_axis(gpointer data)
{
    ScenarioAxis *axis = data;
    g_free(axis->name);
    g_ptr_array_unref(axis->values);
    g_free(axis);
}

void scenario_grid_free(ScenarioGrid *grid)
{
    if (grid == NULL)
        return;
    g_free(grid->file);
    g_free(grid->text);
    g_ptr_array_unref(grid->sets);
    g_ptr_array_unref(grid->axes);
    g_ptr_array_unref(grid->entries);
    g_free(grid);
}

// A key's list as an axis. Only a product may not hold a value twice: zipped, it may stand beside another.
static gboolean grid_add_axis(ScenarioGrid *grid, const Ini *ini, const char *section, const char *key,
                              const char *list, GError **error)
{
    if (grid->axes->len == SCENARIO_GRID_AXES_MAX)
        return ini_refuse(ini, section, key, error, "found a list, wanted at most %d",
                          SCENARIO_GRID_AXES_MAX);
    ScenarioAxis *axis = g_new0(ScenarioAxis, 1);
    axis->name = g_strconcat(section, ".", key, NULL);
    axis->values = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(grid->axes, axis);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_auto(GStrv) items = g_strsplit(list, ";", SCENARIO_GRID_POINTS_MAX + 2);
    for (guint i = 0; items[i] != NULL; i++) {
        const char *item = g_strstrip(items[i]);
        if (*item == '\0' && items[i + 1] == NULL && i > 0)
            break;
        g_autofree char *quoted = base_error_quote(item);
        if (*item == '\0')
            return ini_refuse(ini, section, key, error,
                              "found an empty value in a list, wanted such as 'a; b; c'");
        if (!g_hash_table_add(seen, items[i]) && !grid->zip)
            return ini_refuse(ini, section, key, error, "found '%s' twice in a list, wanted it once", quoted);
        g_ptr_array_add(axis->values, g_strdup(item));
    }
    return TRUE;
}

static gboolean grid_count(ScenarioGrid *grid, const Ini *ini, GError **error)
{
    if (grid->axes->len == 0)
        return base_error_set(
            error, BASE_ERROR_USAGE, ini_name(ini),
            "found no list, wanted one at least: a key such as bucket = 1 MiB; 25 MiB, there or in --set");
    guint64 points = 1;
    const ScenarioAxis *first = grid->axes->pdata[0];
    for (guint i = 0; i < grid->axes->len; i++) {
        const ScenarioAxis *axis = grid->axes->pdata[i];
        if (grid->zip && axis->values->len != first->values->len)
            return base_error_set(error, BASE_ERROR_USAGE, "--zip",
                                  "found %u values of %s and %u of %s, wanted lists of one length",
                                  first->values->len, first->name, axis->values->len, axis->name);
        points = grid->zip ? axis->values->len : points * axis->values->len;
        if (points > SCENARIO_GRID_POINTS_MAX)
            return base_error_set(error, BASE_ERROR_USAGE, ini_name(ini),
                                  "found more than %d points, wanted fewer", SCENARIO_GRID_POINTS_MAX);
    }
    grid->points = (guint)points;
    return TRUE;
}

// "section.key" of an assignment that ini_set has taken. Caller frees.
static char *grid_set_name(const char *set)
{
    g_auto(GStrv) sides = g_strsplit(set, "=", 2);
    g_auto(GStrv) words = g_strsplit(sides[0], ".", 2);
    return g_strconcat(g_strstrip(words[0]), ".", g_strstrip(words[1]), NULL);
}

// When a key was first set: its place among the names, or their number.
static guint grid_set_place(const GPtrArray *names, const char *section, const char *key)
{
    g_autofree char *name = g_strconcat(section, ".", key, NULL);
    guint i = 0;
    while (i < names->len && strcmp(names->pdata[i], name) != 0)
        i++;
    return i;
}

// --set without what is an axis by now.
static void grid_add_sets(ScenarioGrid *grid, const char *const *sets)
{
    for (guint i = 0; sets != NULL && sets[i] != NULL; i++) {
        g_autofree char *name = grid_set_name(sets[i]);
        gboolean axis = FALSE;
        for (guint j = 0; j < grid->axes->len; j++)
            axis = axis || strcmp(((ScenarioAxis *)grid->axes->pdata[j])->name, name) == 0;
        if (!axis)
            g_ptr_array_add(grid->sets, g_strdup(sets[i]));
    }
}

static int grid_compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Every key: an axis or not. First those of the file, then those of --set in the order in which they came.
static gboolean grid_add_entries(ScenarioGrid *grid, const Ini *ini, const char *const *sets, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; sets != NULL && sets[i] != NULL; i++)
        g_ptr_array_add(names, grid_set_name(sets[i]));
    const char *section, *key, *value;
    for (guint pass = 0; pass <= names->len; pass++) {
        guint wanted = pass == 0 ? names->len : pass - 1; // the file's own come first
        for (guint i = 0; ini_peek(ini, i, &section, &key, &value); i++) {
            if (grid_set_place(names, section, key) != wanted)
                continue;
            if (scenario_grid_is_list(section, value)) {
                if (!grid_add_axis(grid, ini, section, key, value, error))
                    return FALSE;
            } else if (strcmp(section, "scenario") != 0) {
                g_ptr_array_add(grid->entries, g_strconcat(section, ".", key, "=", value, NULL));
            }
        }
    }
    return TRUE;
}

ScenarioGrid *scenario_grid_new(Ini *ini, const char *const *sets, gboolean zip, GError **error)
{
    for (guint i = 0; sets != NULL && sets[i] != NULL; i++)
        if (!ini_set(ini, sets[i], error))
            return NULL;
    g_autoptr(ScenarioGrid) grid = g_new0(ScenarioGrid, 1);
    grid->file = g_strdup(ini_name(ini));
    grid->text = g_strdup(ini_text(ini));
    grid->zip = zip;
    grid->sets = g_ptr_array_new_with_free_func(g_free);
    grid->axes = g_ptr_array_new_with_free_func(grid_free_axis);
    grid->entries = g_ptr_array_new_with_free_func(g_free);
    if (!grid_add_entries(grid, ini, sets, error))
        return NULL;
    g_ptr_array_sort(grid->entries, grid_compare);
    grid_add_sets(grid, sets);
    return grid_count(grid, ini, error) ? g_steal_pointer(&grid) : NULL;
}

const char *scenario_grid_value(const ScenarioGrid *grid, guint point, guint axis)
{
    g_assert(point < grid->points && axis < grid->axes->len);
    for (guint i = grid->axes->len - 1; !grid->zip && i > axis; i--)
        point /= ((ScenarioAxis *)grid->axes->pdata[i])->values->len;
    const ScenarioAxis *own = grid->axes->pdata[axis];
    return own->values->pdata[grid->zip ? point : point % own->values->len];
}

// "NAME=VALUE" of every axis after the others.
static GPtrArray *grid_assignments(const ScenarioGrid *grid, const GPtrArray *others, guint point)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < others->len; i++)
        g_ptr_array_add(all, g_strdup(others->pdata[i]));
    for (guint i = 0; i < grid->axes->len; i++)
        g_ptr_array_add(all, g_strconcat(((ScenarioAxis *)grid->axes->pdata[i])->name, "=",
                                         scenario_grid_value(grid, point, i), NULL));
    return all;
}

char **scenario_grid_sets(const ScenarioGrid *grid, guint point)
{
    GPtrArray *all = grid_assignments(grid, grid->sets, point);
    g_ptr_array_add(all, NULL);
    return (char **)g_ptr_array_free(all, FALSE);
}

char *scenario_grid_words(const ScenarioGrid *grid, guint point)
{
    GString *words = g_string_new(NULL);
    for (guint i = 0; i < grid->axes->len; i++)
        g_string_append_printf(words, "%s%s = %s", i == 0 ? "" : ", ",
                               ((ScenarioAxis *)grid->axes->pdata[i])->name,
                               scenario_grid_value(grid, point, i));
    return g_string_free(words, FALSE);
}

// An assignment, and the text of the file that it names, where it does.
static guint64 grid_hash_add(guint64 hash, const char *assignment)
{
    const char *value = strchr(assignment, '=') + 1;
    hash = hash_add_text(hash, assignment);
    if ((strchr(value, '/') == NULL && strchr(value, '.') == NULL) ||
        !g_file_test(value, G_FILE_TEST_IS_REGULAR))
        return hash;
    gsize length = 0;
    g_autofree char *text = text_read_file(value, GRID_FILE_MAX, "a text file", &length, NULL);
    return text == NULL ? hash : hash_add_text(hash, text);
}

static char *grid_hash(GPtrArray *assignments, guint64 hash)
{
    g_ptr_array_sort(assignments, grid_compare);
    for (guint i = 0; i < assignments->len; i++)
        hash = grid_hash_add(hash, assignments->pdata[i]);
    return g_strdup_printf("%016" G_GINT64_MODIFIER "x", hash);
}

char *scenario_grid_hash(const ScenarioGrid *grid, guint point)
{
    g_autoptr(GPtrArray) all = grid_assignments(grid, grid->entries, point);
    return grid_hash(all, 0);
}

char *scenario_grid_hash_all(const ScenarioGrid *grid)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < grid->entries->len; i++)
        g_ptr_array_add(all, g_strdup(grid->entries->pdata[i]));
    g_autofree char *axes = scenario_grid_json_all(grid);
    return grid_hash(all, hash_add_text(grid->zip ? 2 : 1, axes));
}

static char *grid_json_text(JsonBuilder *builder)
{
    JsonNode *root = json_builder_get_root(builder);
    char *text = json_to_string(root, FALSE); // strings only: nothing that it would write wrongly
    json_node_unref(root);
    return text;
}

char *scenario_grid_json(const ScenarioGrid *grid, guint point)
{
    g_autoptr(JsonBuilder) builder = json_builder_new();
    json_builder_begin_object(builder);
    for (guint i = 0; i < grid->axes->len; i++) {
        json_builder_set_member_name(builder, ((ScenarioAxis *)grid->axes->pdata[i])->name);
        json_builder_add_string_value(builder, scenario_grid_value(grid, point, i));
    }
    json_builder_end_object(builder);
    return grid_json_text(builder);
}

char *scenario_grid_json_all(const ScenarioGrid *grid)
{
    g_autoptr(JsonBuilder) builder = json_builder_new();
    json_builder_begin_object(builder);
    for (guint i = 0; i < grid->axes->len; i++) {
        const ScenarioAxis *axis = grid->axes->pdata[i];
        json_builder_set_member_name(builder, axis->name);
        json_builder_begin_array(builder);
        for (guint j = 0; j < axis->values->len; j++)
            json_builder_add_string_value(builder, axis->values->pdata[j]);
        json_builder_end_array(builder);
    }
    json_builder_end_object(builder);
    return grid_json_text(builder);
}
