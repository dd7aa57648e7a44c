// coll/mesh.h: rings over the NVLinks of GPUs that no switch joins.
#pragma once

#include <glib.h>

#include "coll/algo.h"
#include "topo/graph.h"

// As many rings over all n GPUs (numbers of the graph) as share no NVLink, each way round counted: what NCCL
// searches for (src/graph/search.cc). A cable of several NVLinks holds as many rings. NULL: the GPUs are no
// such mesh (a pair without a cable is fine, a GPU without any is not), or there are more than COLL_MESH_MAX.
// Caller frees.
CollRings *coll_mesh_find(const TopoGraph *graph, const guint32 *gpus, guint32 n);
void coll_mesh_free(CollRings *rings);

enum { COLL_MESH_MAX = 16 };
