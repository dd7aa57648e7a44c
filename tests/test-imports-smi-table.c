// tests/test-imports-smi-table.c: 'nvidia-smi topo -m' text in all the ways in which it arrives: tabs,
// blanks, neither, cut, surrounded, contradictory.
#include "tests/check.h"

#include "imports/smi-row.h"
#include "imports/smi-table.h"

typedef struct {
    GPtrArray *notes, *assumed; // owned
    ImportSmiTable *table;      // owned; NULL: refused
    GError *error;              // owned
} Reading;

static void reading_init(Reading *reading, const char *text, gsize length)
{
    *reading = (Reading){.notes = g_ptr_array_new_with_free_func(g_free),
                         .assumed = g_ptr_array_new_with_free_func(g_free)};
    reading->table =
        import_smi_table_read("box.txt", text, length, reading->notes, reading->assumed, &reading->error);
    assert_true((reading->table == NULL) == (reading->error != NULL));
}

static void reading_clear(Reading *reading)
{
    g_ptr_array_unref(reading->notes);
    g_ptr_array_unref(reading->assumed);
    import_smi_table_free(reading->table);
    g_clear_error(&reading->error);
}

// All cells, row by row: "X NV12 PIX|NV12 X PIX|...". Caller frees.
static char *spell(const ImportSmiTable *table)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < table->devices->len; i++) {
        for (guint j = 0; j < table->devices->len; j++) {
            g_autofree char *cell = import_smi_cell_name(import_smi_table_get(table, i, j));
            g_string_append_printf(out, "%s%s", j > 0 ? " " : i > 0 ? "|" : "", i == j ? "X" : cell);
        }
    }
    return g_string_free(out, FALSE);
}

static gboolean says(const GPtrArray *lines, const char *words)
{
    for (guint i = 0; i < lines->len; i++)
        if (strstr(g_ptr_array_index(lines, i), words) != NULL)
            return TRUE;
    return FALSE;
}

#define TWO "X NV2|NV2 X"
#define SIX "X NODE PIX|NODE X NODE|PIX NODE X"

// Text that means something: its cells, the label of its last device, what must be said.
static const struct {
    const char *name, *text, *cells, *last, *said;
} FINE[] = {
    {"tabs, as the driver prints",
     "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tNV2\t0-3\t0\t\tN/A\n"
     "GPU1\tNV2\t X \t0-3\t0\t\tN/A\n",
     TWO, "GPU1", NULL},
    {"blanks",
     "        GPU0    GPU1    CPU Affinity\nGPU0     X      NV2     0-3\nGPU1    NV2      X      0-3\n", TWO,
     "GPU1", NULL},
    {"escapes", "\t\033[4mGPU0\tGPU1\tCPU Affinity\033[0m\nGPU0\t X \tNV2\t0-3\nGPU1\tNV2\t X \t0-3\n", TWO,
     "GPU1", NULL},
    {"CR LF", "GPU0 GPU1 CPU Affinity\r\nGPU0 X NV2 0-3\r\nGPU1 NV2 X 0-3\r\n", TWO, "GPU1", NULL},
    {"no last line end", "GPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X", TWO, "GPU1", NULL},
    {"byte order mark", "\xef\xbb\xbfGPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\n", TWO, "GPU1", NULL},
    {"non-breaking blanks", "GPU0\xc2\xa0GPU1\nGPU0\xc2\xa0X\xc2\xa0NV2\nGPU1\xc2\xa0NV2\xc2\xa0X\n", TWO,
     "GPU1", NULL},
    {"a table of a web page", "| | GPU0 | GPU1 |\n|---|---|---|\n| GPU0 | X | NV2 |\n| GPU1 | NV2 | X |\n",
     TWO, "GPU1", NULL},
    {"tagged lines",
     "[1,0]<stdout>:\tGPU0\tGPU1\n[1,0]<stdout>:GPU0\t X \tNV2\n[1,0]<stdout>:GPU1\tNV2\t X\n", TWO, "GPU1",
     NULL},
    {"numbered lines", "0:         GPU0  GPU1\n0: GPU0  X  NV2\n0: GPU1  NV2  X\n", TWO, "GPU1", NULL},
    {"no header", "GPU0 X NV2 0-3 0\nGPU1 NV2 X 0-3 0\n", TWO, "GPU1", "no header"},
    {"tabs lost in the header",
     "GPU0GPU1CPU AffinityNUMA AffinityGPU NUMA ID   \nGPU0  X  NV2  0-3  0  N/A\nGPU1  NV2  X  0-3 0 N/A\n",
     TWO, "GPU1", NULL},
    {"tabs lost everywhere", "GPU0GPU1NIC0CPU Affinity\nGPU0 X NV12SYS0-3\nGPU1NV12 X SYS0-3\nNIC0SYSSYS X\n",
     "X NV12 SYS|NV12 X SYS|SYS SYS X", "NIC0", "held more than one cell"},
    {"a header with names that ran together",
     "GPU0GPU1mlx5_0mlx5_1\nGPU0 X NV2 PIX SYS\nGPU1 NV2 X SYS PIX\nmlx5_0 PIX SYS X SYS\nmlx5_1 SYS PIX SYS "
     "X\n",
     "X NV2 PIX SYS|NV2 X SYS PIX|PIX SYS X SYS|SYS PIX SYS X", "mlx5_1", NULL},
    {"fused cells", "GPU0 GPU1 NIC0 CPU Affinity\nGPU0 X NODEPIX 0-3\nGPU1 NODE X NODE 0-3\nNIC0 PIXNODE X\n",
     SIX, "NIC0", "more than one cell and were taken apart: 2"},
    {"two tabs in the header only", "\t\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n", TWO, "GPU1", NULL},
    {"tabs and blanks mixed",
     "\tGPU0\tGPU1\tmlx5_0\nGPU0\t X \t\tNODE\t    PIX\nGPU1\tNODE\t \tX \tNODE\t\nmlx5_0\tPIX\t\tNODE\t \tX "
     "\t\t\n",
     SIX, "mlx5_0", NULL},
    {"the first words of old drivers",
     "\tGPU0\tGPU1\tmlx4_0\tCPU Affinity\nGPU0\t X \tPHB\tSOC\t0-5\nGPU1\tPHB\t X "
     "\tSOC\t0-5\nmlx4_0\tSOC\tSOC\t X\n",
     "X PHB SYS|PHB X SYS|SYS SYS X", "mlx4_0", NULL},
    {"NIC rows missing", "GPU0 GPU1 mlx5_0 CPU Affinity\nGPU0 X NODE PIX 0-3\nGPU1 NODE X NODE 0-3\n", SIX,
     "mlx5_0", "columns without a row: 1"},
    {"NIC columns missing", "GPU0 GPU1 CPU Affinity\nGPU0 X NODE 0-3\nGPU1 NODE X 0-3\nNIC0 PIX NODE\n", SIX,
     "NIC0", NULL},
    {"NIC rows and header missing", "GPU0 X NODE PIX\nGPU1 NODE X NODE\n", SIX, "NIC0", "no header"},
    {"cut in the NIC rows", "GPU0 GPU1 NIC0 NIC1\nGPU0 X SYS PIX SYS\nGPU1 SYS X SYS PIX\nNIC0 PIX\n",
     "X SYS PIX SYS|SYS X SYS PIX|PIX SYS X nothing|SYS PIX nothing X", "NIC1",
     "pairs of devices that are not in the text: 1"},
    {"a row that a narrow window broke",
     "GPU0 GPU1 NIC0\nGPU0 X NODE\n PIX 0-3\nGPU1 NODE X\nNODE 0-3\nNIC0 PIX NODE\nX\n", SIX, "NIC0", NULL},
    {"prompts and prose",
     "user@host:~$ nvidia-smi topo -m\n GPU0 GPU1\nGPU0 X NV2\nthis is PIX or\nGPU1 NV2 X\n```\nGPU0 PIX is "
     "best\n",
     TWO, "GPU1",
     "ignored: 4 lines around the matrix, the first is line 1: 'user@host:~$ nvidia-smi topo -m'"},
    {"two hosts", "host a\nGPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\nhost b\nGPU0\nGPU0 X\n", TWO, "GPU1",
     "matrices behind the first one: 1, from line 7 on"},
    {"two hosts without a word between", "GPU0 X NV2\nGPU1 NV2 X\nGPU0 X PIX\nGPU1 PIX X\n", TWO, "GPU1",
     "from line 3 on"},
    {"one GPU, GPU NUMA ID", "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-19\t0\t\tN/A\n",
     "X", "GPU0", NULL},
    {"a header of other names", "GPU0 GPU1 ib0\nGPU0 X NODE PIX\nGPU1 NODE X NODE\nmlx5_0 PIX NODE X\n", SIX,
     "mlx5_0", "line 1: the header's names are not those of the rows"},
    {"one row missing, which the others make up for", "GPU0 GPU1 GPU2\nGPU0 X NV2 NV1\nGPU1 NV2 X NV2\n",
     "X NV2 NV1|NV2 X NV2|NV1 NV2 X", "GPU2", "columns without a row: 1"},
    {"a damaged affinity", "GPU0 GPU1 CPU Affinity\nGPU0 X NV2 -31,64-95\nGPU1 NV2 X 3-0\n", TWO, "GPU1",
     "line 2: the affinity '-31,64-95'"},
    {"words behind the last column", "GPU0 GPU1 CPU Affinity\nGPU0 X NV2 0-3 what\nGPU1 NV2 X 0-3\n", TWO,
     "GPU1", "'what' behind the last column"},
    {"a prompt that holds a capability matrix first",
     "GPU0 GPU1\nGPU0 X OK\nGPU1 OK X\nGPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\n", TWO, "GPU1", NULL},
};

static void test_fine(void **state)
{
    (void)state;
    for (gsize i = 0; i < G_N_ELEMENTS(FINE); i++) {
        Reading reading;
        reading_init(&reading, FINE[i].text, strlen(FINE[i].text));
        if (reading.error != NULL)
            fail_msg("%s: %s", FINE[i].name, reading.error->message);
        g_autofree char *cells = spell(reading.table);
        const ImportSmiDevice *last = import_smi_table_device(reading.table, reading.table->devices->len - 1);
        if (strcmp(cells, FINE[i].cells) != 0 || strcmp(last->label, FINE[i].last) != 0)
            fail_msg("%s: found %s, last %s", FINE[i].name, cells, last->label);
        if (FINE[i].said != NULL && !says(reading.assumed, FINE[i].said))
            fail_msg("%s: '%s' is not said", FINE[i].name, FINE[i].said);
        if (import_smi_table_sniff(FINE[i].text, strlen(FINE[i].text)) < 90)
            fail_msg("%s: not recognised", FINE[i].name);
        reading_clear(&reading);
    }
}

static const struct {
    const char *text, *error;
} REFUSED[] = {
    {"", "box.txt: found no matrix of links, wanted the output of 'nvidia-smi topo -m'"},
    {"<system version=\"1\"></system>\n", "found no matrix of links"},
    {"  CPU Affinity NUMA Affinity\nGPU0 48-63,176-191 3\nGPU1 0-15 1\n",
     "box.txt:2: found affinities without a matrix (nvidia-smi topo -mp)"},
    {" GPU0 GPU1\n GPU0 X OK\n GPU1 OK X\n", "box.txt:2: found only what 'nvidia-smi topo -p2p' prints"},
    {" GPU0 GPU1\n GPU0 X CNS\n GPU1 CNS X\n", "topo -p2p"},
    {"GPU1 NV2 X\nGPU2 NV2 NV2 X\n", "box.txt:1: found the row of a GPU, but not the first GPU's row"},
    {"GPU0 GPU1\nGPU0 X NV2\nGPU1 NV1 X\n",
     "box.txt:3: GPU1 to GPU0: found NV1, wanted NV2 as line 2 has it"},
    {"GPU0 GPU1 NIC0\nGPU0 X NV2 PIX\nGPU1 NV2 X SYS\nNIC0 PHB SYS X\n",
     "box.txt:4: NIC0 to GPU0: found PHB, wanted PIX as line 2 has it"},
    {"GPU0 GPU1 GPU2 GPU3\nGPU0 X NV2 NV2 NV2\nGPU1 NV2 X NV2 NV2\n",
     "box.txt:3: found nothing between GPU2 and GPU3, wanted the rows of all 4 GPUs"},
    {"GPU0 GPU1\nGPU0 X NV2\nGPU1 X NV2\n", "box.txt:3: GPU1: found X in column 1, wanted X in column 2"},
    {"GPU0 GPU1\nGPU0 X FOO 0-3\nGPU1 FOO X 0-3\n", "box.txt:2: GPU0: found 'FOO' as link 2 of 2"},
    {"GPU0 GPU1\nGPU0 X NV2\nGPU1 NV X\n", "box.txt:3: GPU1: found 'NV' as link 1 of 2"},
    {"GPU0 GPU1\nGPU0 X NV2 PIX PIX\nGPU1 NV2 X PIX PIX\nNIC0 PIX PIX X\n",
     "box.txt:2: GPU0: found 4 links, wanted one for each of 2 columns"},
    {"GPU0 GPU1\nGPU0 X OK PIX\nGPU1 OK X\n", "topo -p2p"},
    {"GPU0 GPU1 NIC0\nGPU0 X NV2 OK\nGPU1 NV2 X OK\n", "box.txt:2: GPU0: found a word of -p2p in column 3"},
    {"GPU0 GPU1 GPU1\nGPU0 X NV2 NV2\nGPU1 NV2 X NV2\nGPU1 NV2 NV2 X\n", "box.txt:4: found GPU1 twice"},
};

static void test_refused(void **state)
{
    (void)state;
    for (gsize i = 0; i < G_N_ELEMENTS(REFUSED); i++) {
        Reading reading;
        reading_init(&reading, REFUSED[i].text, strlen(REFUSED[i].text));
        if (reading.error == NULL)
            fail_msg("not refused: %s", REFUSED[i].text);
        check_says(reading.error, REFUSED[i].error);
        reading_clear(&reading);
    }
}

static void test_affinity(void **state)
{
    (void)state;
    static const struct {
        const char *header, *words, *cpus, *numa;
    } cases[] = {
        {"CPU Affinity", "0-3", "0-3", NULL},
        {"CPU Affinity", "", NULL, NULL},
        {"CPU Affinity NUMA Affinity", "0,2,4,6,8 1", "0,2,4,6,8", "1"},
        {"CPU Affinity NUMA Affinity", "0-23 N/A", "0-23", NULL},
        {"CPU Affinity NUMA Affinity GPU NUMA ID", "0-19 0  N/A", "0-19", "0"},
        {"CPU Affinity NUMA Affinity GPU NUMA ID", "0 0-1 N/A", "0", "0-1"},
        {"CPU Affinity NUMA Affinity GPU NUMA ID", "\t1\t\tN/A", NULL, "1"}, // the CPU column is empty
        {"CPU Affinity NUMA Affinity GPU NUMA ID", "0-19", "0-19", NULL},
        {"CPU Affinity NUMA Affinity GPU NUMA ID", "N/A N/A N/A", NULL, NULL},
        {"CPU Affinity NUMA Affinity", "0-3, 1", NULL, "1"},
        {"CPU Affinity NUMA Affinity", "99999999999999999999-1 0", NULL, "0"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strdup_printf("\tGPU0\t%s\nGPU0\tX\t%s\n", cases[i].header, cases[i].words);
        Reading reading;
        reading_init(&reading, text, strlen(text));
        check_fine(reading.error);
        const ImportSmiDevice *gpu = import_smi_table_device(reading.table, 0);
        if (g_strcmp0(gpu->cpus, cases[i].cpus) != 0 || g_strcmp0(gpu->numa, cases[i].numa) != 0)
            fail_msg("'%s': found CPUs %s, NUMA %s", cases[i].words, gpu->cpus, gpu->numa);
        reading_clear(&reading);
    }
}

// UTF-16, as a redirection of PowerShell writes it.
static void test_utf16(void **state)
{
    (void)state;
    gsize length = 0;
    g_autofree char *wide = g_convert("\xef\xbb\xbfGPU0 GPU1\r\nGPU0 X NV2\r\nGPU1 NV2 X\r\n", -1, "UTF-16LE",
                                      "UTF-8", NULL, &length, NULL);
    assert_non_null(wide);
    Reading reading;
    reading_init(&reading, wide, length);
    check_fine(reading.error);
    assert_int_equal(reading.table->gpus, 2);
    assert_int_equal(import_smi_table_sniff(wide, length), 95);
    reading_clear(&reading);
}

// A full matrix of n GPUs. Caller frees.
static char *matrix(guint n)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < n; i++) {
        g_string_append_printf(out, "GPU%u", i);
        for (guint j = 0; j < n; j++)
            g_string_append(out, i == j ? "\t X " : "\tNV6");
        g_string_append(out, "\t0-3\n");
    }
    return g_string_free(out, FALSE);
}

static void test_sizes(void **state)
{
    (void)state;
    static const guint sizes[] = {1, 3, 16, 100, IMPORT_SMI_DEVICES};
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *text = matrix(sizes[i]);
        Reading reading;
        reading_init(&reading, text, strlen(text));
        check_fine(reading.error);
        assert_int_equal(reading.table->gpus, sizes[i]);
        reading_clear(&reading);
    }
    g_autofree char *large = matrix(IMPORT_SMI_DEVICES + 1);
    Reading reading;
    reading_init(&reading, large, strlen(large));
    check_says(reading.error, "box.txt:257: found more than 256 rows");
    reading_clear(&reading);
}

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *word, *rest;
        guint cells;
    } cases[] = {
        {"X", "", 1},      {"NV12", "", 1},      {"NV1", "", 1},    {"NODENODE", "", 2},
        {"NV12X", "", 2},  {"PIXPXBPHB", "", 3}, {"CNS", "", 1},    {"NV120-23", "0-23", 1},
        {"NV#", "NV#", 0}, {"NV0", "NV0", 0},    {"SY", "SY", 0},   {"SYSSY", "SY", 1},
        {"", "", 0},       {"SYS0-3", "0-3", 1}, {"nv2", "nv2", 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(ImportSmiCell));
        assert_string_equal(import_smi_cell_read(cases[i].word, cells), cases[i].rest);
        assert_int_equal(cells->len, cases[i].cells);
    }
}

// Whatever happens to the bytes, there is a table or one line that says why not.
static void test_damage(void **state)
{
    (void)state;
    g_autoptr(GRand) rand = g_rand_new_with_seed(21);
    static const char *const files[] = {"smi-switch.txt", "smi-cube.txt", "smi-pcie.txt"};
    for (gsize f = 0; f < G_N_ELEMENTS(files); f++) {
        g_autofree char *path =
            g_build_filename(g_getenv("STEPLINE_SOURCE"), "tests", "data", files[f], NULL);
        g_autofree char *text = NULL;
        gsize length = 0;
        assert_true(g_file_get_contents(path, &text, &length, NULL));
        for (gsize n = 0; n < length; n++) {
            g_autofree char *cut = g_memdup2(text, n);
            Reading reading;
            reading_init(&reading, cut, n);
            if (reading.error != NULL)
                check_says(reading.error, "wanted");
            reading_clear(&reading);
        }
        for (guint round = 0; round < 3000; round++) {
            g_autofree char *bent = g_memdup2(text, length);
            for (gint flips = g_rand_int_range(rand, 1, 5); flips > 0; flips--)
                bent[g_rand_int_range(rand, 0, (gint32)length)] ^= (char)(1 << g_rand_int_range(rand, 0, 8));
            Reading reading;
            reading_init(&reading, bent, length);
            if (reading.error != NULL)
                check_says(reading.error, "wanted");
            import_smi_table_sniff(bent, length);
            reading_clear(&reading);
        }
    }
}

// Large and dull input ends in reasonable time and space.
static void test_bulk(void **state)
{
    (void)state;
    static const char *const pieces[] = {"GPU0 X\n", "GPU0", "X",         "NODE",   "GPU0 X X\n",  " X",
                                         "GPU1 X ",  "\n",   "NIC0: a\n", "\033[4", "GPU0 GPU1\n", "0-3 "};
    for (gsize i = 0; i < G_N_ELEMENTS(pieces); i++) {
        g_autoptr(GString) text = g_string_new("GPU0 X");
        while (text->len < 1 << 20)
            g_string_append(text, pieces[i]);
        Reading reading;
        reading_init(&reading, text->str, text->len);
        if (reading.error != NULL)
            check_says(reading.error, "wanted");
        reading_clear(&reading);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),    cmocka_unit_test(test_fine),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_affinity), cmocka_unit_test(test_utf16), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_damage),   cmocka_unit_test(test_bulk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
