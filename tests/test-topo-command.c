// tests/test-topo-command.c: stepline topo as it is typed: what it prints, and its exit status.
#include "tests/check.h"

#include <json-glib/json-glib.h>

// Runs "stepline topo WORDS", words parted by blanks; returns the exit status.
static int run(const char *words, char **out, char **err)
{
    g_autoptr(GError) error = NULL;
    int status = 0;
    const char *program = g_getenv("STEPLINE");
    g_autofree char *line = g_strdup_printf("topo %s", words);
    g_auto(GStrv) parts = g_strsplit(line, " ", -1);
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, (gpointer)(program == NULL ? "./stepline" : program));
    for (guint i = 0; parts[i] != NULL; i++)
        g_ptr_array_add(argv, parts[i]);
    g_ptr_array_add(argv, NULL);
    g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, out, err, &status, &error);
    check_fine(error);
    assert_true(status >= 0 && (status & 0x7f) == 0); // it ended by itself
    return status >> 8;
}

static void test_cases(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int status;
        const char *says; // on stdout where status is 0, else on stderr
    } cases[] = {
        {"show deck-nvlink-8", 0, "nodes    9: 8 gpu, 1 nvswitch\nlinks    16: 16 nvlink\n"},
        {"show deck-nvlink-8", 0, "Path gpu0 to gpu7: 2 links, latency 5 us, bottleneck 450 GB/s\n"},
        {"show deck-nvlink-8 --gpus 4", 0, "Path gpu0 to gpu3: 2 links"},
        {"show deck-network-400g --gpus 1024", 0,
         "Path gpu0 to gpu1023: 4 links, latency 10 us, bottleneck 50 GB/s\n"},
        {"show deck-network-400g --gpus 1", 0, "nodes    3: 1 gpu, 1 nic, 1 switch\n"},
        {"show primer-nvlink-8", 0, "both directions"},
        {"show wan-2x32", 0, "latency 20.01 ms, bottleneck 12.5 GB/s\n"},
        {"check h100-8rail --gpus 16384", 0,
         "h100-8rail: 16384 GPUs, 34817 nodes, 98304 links: every GPU reaches"},
        {"--help", 0, "show NAME [--gpus N] [--json] | check NAME|FILE [--gpus N]"},
        {"", 2, "stepline: "},
        {"show", 2, "wanted: stepline topo show NAME"},
        {"show a b", 2, "wanted: stepline topo show NAME"},
        {"shwo deck-nvlink-8", 2, "found 'shwo', wanted show or check (did you mean 'show'?)"},
        {"check deck-nvlink-8 --json", 2, "found --json"},
        {"show deck-nvlink-8 --gpu 4", 2, "--gpu"},
        {"show deck-nvlink-8 --gpus 0", 2, "--gpus: found 0"},
        {"show deck-nvlink-8 --gpus many", 2, "--gpus: found 'many'"},
        {"show deck-nvlink-8 --gpus -8", 2, "--gpus: found '-8' (negative)"},
        {"show deck-nvlink-8 --gpus 16", 1, "found 16 GPUs, wanted at most 8: deck-nvlink-8 has 8 GPUs"},
        {"check deck-network-400g --gpus 1000000000", 1, "found 1000000000 GPUs, wanted at most 65536"},
        {"check deck-network-400g --gpus 1e15", 2, "--gpus: found 1e15"},
        {"check deck-nvlink8", 1, "did you mean 'deck-nvlink-8'?"},
        {"check ./none.ini", 1, "./none.ini: no such file"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *out = NULL, *err = NULL;
        int status = run(cases[i].words, &out, &err);
        const char *said = cases[i].status == 0 ? out : err;
        if (status != cases[i].status || strstr(said, cases[i].says) == NULL)
            fail_msg("topo %s: exit %d, stdout '%s', stderr '%s'", cases[i].words, status, out, err);
        assert_string_equal(cases[i].status == 0 ? err : out, "");
    }
}

static void test_json(void **state)
{
    (void)state;
    g_autofree char *out = NULL, *err = NULL;
    assert_int_equal(run("show wan-2x32 --json", &out, &err), 0);
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) error = NULL;
    json_parser_load_from_data(parser, out, -1, &error);
    check_fine(error);
    JsonObject *root = json_node_get_object(json_parser_get_root(parser));
    assert_int_equal(json_object_get_int_member(root, "gpus"), 64);
    assert_string_equal(json_object_get_string_member(root, "chip"), "h100-sxm");
    assert_int_equal(json_object_get_int_member(json_object_get_object_member(root, "nodes"), "gateway"), 2);
    assert_int_equal(json_object_get_int_member(json_object_get_object_member(root, "links"), "wan"), 2);
    JsonArray *classes = json_object_get_array_member(root, "link_classes");
    gint64 links = 0;
    for (guint i = 0; i < json_array_get_length(classes); i++)
        links += json_object_get_int_member(json_array_get_object_element(classes, i), "links");
    assert_int_equal(links, json_object_get_int_member(root, "link_count"));
    JsonObject *path = json_array_get_object_element(json_object_get_array_member(root, "paths"), 1);
    assert_string_equal(json_object_get_string_member(path, "to"), "gpu63");
    assert_true(json_object_get_double_member(path, "bottleneck_Bps") == 12.5e9);
    assert_true(json_object_get_double_member(path, "latency_s") == 0.02001);
    JsonArray *hops = json_object_get_array_member(path, "hops");
    assert_int_equal(json_array_get_length(hops), 7);
    JsonObject *wan = json_array_get_object_element(hops, 3);
    assert_string_equal(json_object_get_string_member(wan, "class"), "wan");
    assert_string_equal(json_object_get_string_member(wan, "from"), "gateway0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
