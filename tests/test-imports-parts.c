// tests/test-imports-parts.c: the rates of parts against the figures of their sources.
#include "tests/check.h"

#include "imports/parts.h"

static void check_rate(double found, double wanted, const char *what)
{
    if (found > wanted || found < wanted)
        fail_msg("%s: found %g, wanted %g", what, found, wanted);
}

static void test_pcie(void **state)
{
    (void)state;
    static const struct {
        const char *speed;
        double x16; // GB/s
    } cases[] = {
        {"2.5 GT/s PCIe", 3}, {"5.0 GT/s PCIe", 6},
        {"8 GT/s", 12},       {"8.0 GT/s PCIe", 12},
        {"16 GT/s", 24},      {"16.0 GT/s PCIe", 24},
        {"32.0 GT/s", 48},    {"64.0 GT/s PCIe", 96},
        {"16GT/s", 24},       {"", 0},
        {"Unknown", 0},       {"16", 0},
        {"16 Gb/s", 0},       {"-8 GT/s", 0},
        {"nan GT/s", 0},      {"1e999 GT/s", 0},
        {"16 GT/s x", 0},     {"7 GT/s", 0},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        check_rate(import_parts_pcie_lane(cases[i].speed) * 16, cases[i].x16 * 1e9, cases[i].speed);
}

static void test_links(void **state)
{
    (void)state;
    check_rate(import_parts_nvlink(60), 20e9, "sm60");
    check_rate(import_parts_nvlink(70) * 6, 150e9, "V100");
    check_rate(import_parts_nvlink(80) * 12, 300e9, "A100");
    check_rate(import_parts_nvlink(86) * 4, 56.25e9, "A6000");
    check_rate(import_parts_nvlink(90) * 18, 450e9, "H100");
    check_rate(import_parts_nvlink(100) * 18, 900e9, "B200");
    check_rate(import_parts_nvlink(0), 0, "sm 0");
    check_rate(import_parts_nvlink(304), 0, "sm 304");
    check_rate(import_parts_xgmi("906"), 24e9, "MI50");
    check_rate(import_parts_xgmi("910"), 36e9, "MI200");
    check_rate(import_parts_xgmi("gfx90a"), 36e9, "MI200");
    check_rate(import_parts_xgmi("gfx942"), 48e9, "MI300X");
    check_rate(import_parts_xgmi(NULL), 24e9, "no gcn");
}

static void test_sockets(void **state)
{
    (void)state;
    static const struct {
        const char *arch, *vendor;
        gint64 family, model;
        double rate; // GB/s
    } cases[] = {
        {"x86_64", "GenuineIntel", 6, 79, 6},
        {"x86_64", "GenuineIntel", 6, 85, 10},
        {"x86_64", "GenuineIntel", 6, 143, 22},
        {"x86_64", "GenuineIntel", 6, 207, 40},
        {"x86_64", "GenuineIntel", 6, 0xad, 40},
        {"x86_64", "AuthenticAMD", 143, 49, 16},
        {"x86_64", "AuthenticAMD", 175, 1, 24},
        {"x86_64", "AuthenticAMD", 26, 2, 32},
        {"x86_64", "AMD", 159, 2, 16},
        {"arm64", NULL, 0, 0, 6},
        {"ppc64", NULL, 0, 0, 32},
        {"x86_64", "CentaurHauls", 7, 91, 6},
        {"x86_64", "Somebody", 6, 143, 0},
        {NULL, NULL, 0, 0, 0},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        check_rate(import_parts_socket(cases[i].arch, cases[i].vendor, cases[i].family, cases[i].model),
                   cases[i].rate * 1e9, cases[i].vendor == NULL ? "no vendor" : cases[i].vendor);
}

static void test_gpus(void **state)
{
    (void)state;
    assert_string_equal(import_parts_find_gpu(0x10de, 0x2330)->chip, "h100-sxm");
    assert_string_equal(import_parts_find_gpu(0x10de, 0x2324)->near, "h100-sxm");
    assert_null(import_parts_find_gpu(0x1002, 0x2330));
    assert_null(import_parts_find_gpu(0, 0));
    assert_string_equal(import_parts_chip_of_sm(80, FALSE), "a100-pcie-80g");
    assert_null(import_parts_chip_of_sm(0, TRUE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pcie),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_sockets),
        cmocka_unit_test(test_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
