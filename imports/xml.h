// imports/xml.h: a small tree from the dialect of XML that NCCL writes and reads, with the line of every
// element.
//
// NCCL's own reader is no XML parser: elements and attributes only, both quote characters, comments anywhere,
// no entities, no text between elements. GMarkup reads more (entities, CDATA) and less (it refuses a bare '&'
// or '<' in a value, which NCCL takes), and does not tell the line where an element that is never closed
// began, which is what somebody with a file cut in the middle needs. So the dialect is read as it is.
#pragma once

#include <glib.h>

typedef struct ImportXmlElement ImportXmlElement;

struct ImportXmlElement {
    char *name;               // owned
    guint line;               // from 1
    char **keys, **values;    // owned, NULL-terminated, in the file's order; a key stands once
    ImportXmlElement *parent; // borrowed; NULL: the root
    GPtrArray *children;      // of ImportXmlElement, owned
};

// Reads one root element: 32,768 elements, 64 attributes each and 64 levels at most. A byte order mark, blank
// lines, comments and <?...?> may stand before, between and after. NULL with an error "NAME:LINE: found ...,
// wanted ..." for anything else, and for bytes that are not UTF-8. Never reads past length. Caller frees.
ImportXmlElement *import_xml_read(const char *name, const char *text, gsize length, GError **error);
void import_xml_free(ImportXmlElement *root);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImportXmlElement, import_xml_free)

// The value of an attribute as written; NULL where it is absent. Borrowed.
const char *import_xml_find(const ImportXmlElement *element, const char *key);

// How many children have a name, and the first of them (NULL: none).
guint import_xml_count(const ImportXmlElement *element, const char *name);
const ImportXmlElement *import_xml_child(const ImportXmlElement *element, const char *name);
