// tests/test-imports-xml.c: NCCL's dialect of XML: what it takes, and the line of everything that is refused.
#include "tests/check.h"

#include "imports/xml.h"

static ImportXmlElement *read(const char *text, GError **error)
{
    return import_xml_read("t.xml", text, strlen(text), error);
}

static void test_tree(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(ImportXmlElement) root =
        read("\xef\xbb\xbf\r\n\r\n<?xml version='1.0'?><!-- <a> -->\n<a x=\"1\" y = 'a<&\"b'>\n"
             "  <b/><!-- - -- <b/> --><c/>\r\n  <b k=''\n   l=\"2\" ></b >\n</a>\n<!-- end -->\n",
             &error);
    check_fine(error);
    assert_string_equal(root->name, "a");
    assert_int_equal(root->line, 4);
    assert_string_equal(import_xml_find(root, "x"), "1");
    assert_string_equal(import_xml_find(root, "y"), "a<&\"b");
    assert_null(import_xml_find(root, "z"));
    assert_int_equal(root->children->len, 3);
    assert_int_equal(import_xml_count(root, "b"), 2);
    assert_null(import_xml_child(root, "d"));
    const ImportXmlElement *last = root->children->pdata[2];
    assert_int_equal(last->line, 6);
    assert_string_equal(import_xml_find(last, "k"), "");
    assert_string_equal(import_xml_find(last, "l"), "2");
    assert_ptr_equal(last->parent, root);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "t.xml:1: found no element"},
        {"\n \n", "t.xml:3: found no element"},
        {"<!-- \n", "t.xml:1: found a comment that never ends"},
        {"\n<a>\n<!--", "t.xml:3: found a comment that never ends"},
        {"<a", "t.xml:1: found the end of the file inside <a>"},
        {"<a>\n<b>\n", "t.xml:3: found the end of the file inside <b> (opened in line 2)"},
        {"<a>\n</b>", "t.xml:2: found </b>, wanted </a> (opened in line 1)"},
        {"<a></a", "found </a without '>'"},
        {"<a/>\n<b/>", "t.xml:2: found more after </a>"},
        {"<a/>\ntext", "t.xml:2: found the text 'text'"},
        {"text", "t.xml:1: found the text 'text'"},
        {"<a>text</a>", "found the text 'text</a>'"},
        {"<a x>", "a.x: found no '='"},
        {"<a x=1>", "a.x: found no quote"},
        {"<a x", "after 'x', wanted its value"},
        {"<a x='1\n'/>", "t.xml:1: a.x: found a value over several lines"},
        {"<a x='1", "a.x: found a value that never ends"},
        {"<a x='1' x='2'/>", "a.x: found twice"},
        {"< a/>", "found ' a/>', wanted an element's name"},
        {"<>", "wanted an element's name"},
        {"</a>", "wanted an element's name"},
        {"<!DOCTYPE a><a/>", "wanted an element's name"},
        {"<a/ >", "wanted an attribute"},
        {"<a \x01/>", "wanted an attribute"},
        {"<a>\n\xff</a>", "t.xml:2: found bytes that are not UTF-8"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        assert_null(read(cases[i].text, &error));
        check_says(error, cases[i].says);
    }
}

static void test_limits(void **state)
{
    (void)state;
    static const struct {
        const char *head, *part, *tail;
        guint fine, many;
        const char *says;
    } cases[] = {
        {"<a>", "<b/>", "</a>", 32767, 32768, "more than 32768 elements"},
        {"", "<a>", "", 0, 65, "more than 64 levels"},
        {"", "<a>", "", 0, 1000000, "more than 64 levels"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        for (guint many = 0; many < 2; many++) {
            guint n = many ? cases[i].many : cases[i].fine;
            g_autoptr(GError) error = NULL;
            g_autoptr(GString) text = g_string_new(cases[i].head);
            for (guint k = 0; k < n; k++)
                g_string_append(text, cases[i].part);
            g_string_append(text, cases[i].tail);
            g_autoptr(ImportXmlElement) root = read(text->str, &error);
            if (many)
                check_says(error, cases[i].says);
            else if (n > 0)
                assert_non_null(root);
        }
    }
    g_autoptr(GString) text = g_string_new("<a");
    for (guint k = 0; k < 65; k++)
        g_string_append_printf(text, " x%u='1'", k);
    g_string_append(text, "/>");
    g_autoptr(GError) error = NULL;
    assert_null(read(text->str, &error));
    check_says(error, "more than 64 attributes");
    g_autofree char *name = g_strnfill(300, 'a');
    g_autofree char *tag = g_strdup_printf("<%s/>", name);
    g_clear_error(&error);
    assert_null(read(tag, &error));
    check_says(error, "a name of more than 255 letters");
}

// No bytes crash it, and it reads none past the end (each piece is an allocation of its own).
static void test_damage(void **state)
{
    (void)state;
    static const char text[] = "<a x=\"1\"><!-- c --><b y='2'/>\n<c></c></a>\n";
    for (gsize cut = 0; cut < sizeof text - 1; cut++) {
        g_autofree char *piece = g_memdup2(text, MAX(cut, 1));
        g_autoptr(GError) error = NULL;
        g_autoptr(ImportXmlElement) root = import_xml_read("t.xml", piece, cut, &error);
        assert_true((root == NULL) == (error != NULL) && (root == NULL || cut >= sizeof text - 2));
    }
    for (gsize bit = 0; bit < (sizeof text - 1) * 8; bit++) {
        g_autofree char *piece = g_memdup2(text, sizeof text - 1);
        piece[bit / 8] = (char)(piece[bit / 8] ^ (1 << bit % 8));
        g_autoptr(GError) error = NULL;
        g_autoptr(ImportXmlElement) root = import_xml_read("t.xml", piece, sizeof text - 1, &error);
        assert_true((root == NULL) == (error != NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
