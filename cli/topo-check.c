// cli/topo-check.c: stepline topo check: whether every GPU of a machine reaches every other.
#include <stdio.h>

#include "base/error.h"
#include "cli/topo-verb.h"
#include "machines/machine.h"

static int check_run(const TopoVerbArguments *arguments, GError **error)
{
    g_autoptr(TopoMachine) machine = topo_machine_read(arguments->words[0], arguments->gpus, NULL, error);
    if (machine == NULL)
        return BASE_ERROR_FAILED;
    printf("%s: %u GPUs, %u nodes, %u links: every GPU reaches every other\n", machine->name,
           machine->graph->gpus->len, machine->graph->nodes->len, machine->graph->links->len);
    return 0;
}

const TopoVerb TOPO_VERB_CHECK = {
    .name = "check",
    .usage = "NAME|FILE [--gpus N]",
    .words = 1,
    .takes_gpus = TRUE,
    .run = check_run,
};
