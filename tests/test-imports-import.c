// tests/test-imports-import.c: choosing an importer for a file, machines straight from imported files, and,
// where they lie beside the source tree, the real files that people have.
#include "tests/graphs.h"

#include "imports/import.h"

static char *data_path(const char *name)
{
    const char *source = g_getenv("STEPLINE_SOURCE");
    return g_build_filename(source == NULL ? ".." : source, "tests", "data", name, NULL);
}

static void test_choice(void **state)
{
    (void)state;
    g_autofree char *folder = g_dir_make_tmp("stepline-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "file", NULL);
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "found nothing that looks like a topology, wanted "},
        {"hello\n", "NCCL topology XML (NCCL_TOPO_DUMP_FILE)"},
        {"<html></html>", "wanted <system>"},
        {"<graphs/>", "NCCL_GRAPH_DUMP_FILE"},
        {"a: |\n <system>", "found other text before <system> in line 2"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        Import import;
        import_init(&import);
        assert_true(g_file_set_contents(path, cases[i].text, -1, NULL));
        assert_false(import_read(path, &import, &error));
        check_says(error, cases[i].says);
        check_says(error, path);
        import_clear(&import);
    }
    g_autofree char *large = g_strnfill((4 << 20) + 1, ' ');
    assert_true(g_file_set_contents(path, large, -1, NULL));
    const char *const paths[][2] = {
        {path, "more than 4 MiB"}, {folder, "no regular file"}, {"./none", "no such file"}};
    for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
        g_autoptr(GError) error = NULL;
        Import import;
        import_init(&import);
        assert_false(import_read(paths[i][0], &import, &error));
        check_says(error, paths[i][1]);
        import_clear(&import);
    }
    g_unlink(path);
    g_rmdir(folder);
}

// A machine's name may be a file that is no .ini.
static void test_machine(void **state)
{
    (void)state;
    g_autofree char *path = data_path("nccl-switch-2.xml");
    g_autoptr(GError) error = NULL;
    g_autoptr(TopoMachine) machine = topo_machine_read(path, 2, NULL, &error);
    check_fine(error);
    assert_int_equal(machine->graph->gpus->len, 2);
    assert_string_equal(machine->device->name, "h100-sxm");
    assert_string_equal(machine->name, path);
    assert_string_equal(machine->title, "Imported from nccl-switch-2.xml");
    assert_null(topo_machine_read(path, 8, "--gpus", &error));
    check_says(error, "--gpus: found 8 GPUs, wanted 2");
    g_clear_error(&error);
    g_autofree char *folder = g_dir_make_tmp("stepline-XXXXXX", NULL);
    g_autofree char *other = g_build_filename(folder, "t.xml", NULL);
    assert_true(g_file_set_contents(other, "<system><cpu><pci busid='1' class='0x030200'/></cpu></system>",
                                    -1, NULL));
    assert_null(topo_machine_read(other, 0, NULL, &error));
    g_unlink(other);
    g_rmdir(folder);
    check_says(error, "machine.chip: the file does not say which chip, wanted a machine file");
}

// What the index of the files says of each: GPUs, or why it must be refused. The files are not part of the
// project.
static const struct {
    const char *file;
    guint gpus;       // 0: refused
    const char *says; // of the refusal, or of the lines of what is assumed; NULL: nothing in particular
} REAL[] = {
    {"NEG_invented_schema.xml", 0, ":3: gpu: found directly below <system>"},
    {"NEG_k8s_configmap_wrapped.yaml", 0, "found other text before <system> in line 7"},
    {"a6000_4gpu_pcie_sockets.xml", 4, "line 17 and 7 more: nets with names of virtual devices"},
    {"aws_p4d_24xlarge.xml", 8, "the file has no <gpu>"},
    {"azure_nc48v4_2gpu.xml", 2, "pci.link_speed '' is no PCIe speed"},
    {"azure_ndv2_v100.xml", 8, "the file has no <gpu>"},
    {"azure_ndv5_h100.xml", 8, "the file has no <gpu>"},
    {"frag_dgxa100_three_level_TRUNCATED.xml", 0, ":11: found the end of the file inside <nvlink>"},
    {"frag_g5_minimal_empty_pci.xml", 0, "found no GPU"},
    {"frag_h200_vm_cpu_minus1_BROKEN.xml", 0, "found the end of the file inside <gpu>"},
    {"frag_hygon_dcu_rccl_v2.xml", 0, "found the end of the file inside <gpu>"},
    {"frag_simai_speed_without_unit_suffix.xml", 1, NULL},
    {"h800_8gpu_nvswitch.xml", 8, "PCIe and CPU links carry what NCCL counts on"},
    {"ibm_h100_vm_virtual_switch_2p5GTs_x1.xml", 8, "and 7 more: PCI bridges of 2.5 GT/s x1"},
    {"oci_bm_gpu_h100_k8s.xml", 8, "Broadcom PCIe switches"},
    {"rccl_16p1h.xml", 16, NULL},
    {"rccl_3p_pcie.xml", 3, NULL},
    {"rccl_8p6l_6nic.xml", 8, NULL},
    {"rccl_8p_90a.xml", 8, NULL},
    {"rccl_8p_940.xml", 8, NULL},
    {"rccl_8p_rome.xml", 8, NULL},
    {"rccl_8p_rome_n4.xml", 8, NULL},
    {"rccl_8p_rome_vm1.xml", 8, "net 'eth0' has no <pci>"},
    {"rccl_collnet_n4.xml", 8, NULL},
    {"rtx4090_4gpu_calico_nets.xml", 4, "nets with names of virtual devices"},
};

static void check_real(const char *path, const char *file)
{
    g_autoptr(GError) error = NULL;
    Import import;
    import_init(&import);
    gboolean fine = import_read(path, &import, &error);
    print_message("%s: %u GPUs%s%s\n", file, fine ? import.graph->gpus->len : 0,
                  fine ? "" : ", refused: ", fine ? "" : error->message);
    assert_true(fine == (error == NULL));
    if (fine)
        graphs_check_round_trip(import.graph, "h100-sxm");
    else
        check_says(error, path);
    for (guint i = 0; i < G_N_ELEMENTS(REAL); i++) {
        if (strcmp(REAL[i].file, file) != 0)
            continue;
        assert_int_equal(fine ? import.graph->gpus->len : 0, REAL[i].gpus);
        gboolean said = REAL[i].says == NULL || (!fine && strstr(error->message, REAL[i].says) != NULL);
        for (guint k = 0; fine && !said && k < import.assumed->len; k++)
            said = strstr(import.assumed->pdata[k], REAL[i].says) != NULL;
        if (!said)
            fail_msg("%s: nothing says '%s'", file, REAL[i].says);
    }
    import_clear(&import);
}

static void test_real(void **state)
{
    (void)state;
    const char *inputs = g_getenv("STEPLINE_INPUTS"), *source = g_getenv("STEPLINE_SOURCE");
    g_autofree char *beside =
        g_build_filename(source == NULL ? ".." : source, "..", "shared", "inputs", NULL);
    g_autofree char *folder = g_build_filename(inputs == NULL ? beside : inputs, "nccl-topo", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    if (dir == NULL) {
        print_message("SKIPPED: no real files in %s (set STEPLINE_INPUTS)\n", folder);
        g_clear_pointer(&beside, g_free); // skip() does not come back
        g_clear_pointer(&folder, g_free);
        skip();
    }
    guint files = 0;
    for (const char *name = g_dir_read_name(dir); name != NULL; name = g_dir_read_name(dir), files++) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        check_real(path, name);
    }
    assert_true(files > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
