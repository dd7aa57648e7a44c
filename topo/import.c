// topo/import.c: stand-in until the branch with it is merged
#include "topo/import.h"
void topo_import_init(TopoImport *import) { *import = (TopoImport){.notes = g_ptr_array_new_with_free_func(g_free), .assumed = g_ptr_array_new_with_free_func(g_free)}; }
void topo_import_clear(TopoImport *import) { if (import->graph) topo_graph_free(import->graph); g_free(import->chip); if (import->notes) g_ptr_array_unref(import->notes); if (import->assumed) g_ptr_array_unref(import->assumed); *import = (TopoImport){0}; }
