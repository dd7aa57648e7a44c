// cli/cmd-memory.c: "stepline memory": what a rank holds, by kind and stage; nothing is simulated.
#include "base/error.h"
#include "cli/command.h"
#include "cli/memory-print.h"
#include "cli/memory-read.h"
#include "cli/options.h"

static int memory_run(int argc, char **argv, GError **error)
{
    g_auto(MemoryOptions) options = {0};
    char **text = options.text;
#define MEMORY_ENTRY(name, index, words, what)                                                               \
    {                                                                                                        \
        name, 0, 0, G_OPTION_ARG_STRING, &text[index], words, what                                           \
    }
    const GOptionEntry entries[] = {
        MEMORY_ENTRY("model", MEMORY_MODEL, "A model of the library, or a path", "NAME"),
        MEMORY_ENTRY("machine", MEMORY_MACHINE, "A machine, whose chip counts", "NAME"),
        MEMORY_ENTRY("chip", MEMORY_CHIP, "Or a chip (default h100-sxm)", "NAME"),
        MEMORY_ENTRY("gpus", MEMORY_GPUS, "All GPUs (default: the product of the next four)", "N"),
        MEMORY_ENTRY("dp", MEMORY_DP, "Data-parallel ranks (default: what --gpus leaves, or 1)", "N"),
        MEMORY_ENTRY("tp", MEMORY_TP, "Tensor-parallel ranks", "N"),
        MEMORY_ENTRY("pp", MEMORY_PP, "Pipeline stages", "N"),
        MEMORY_ENTRY("cp", MEMORY_CP, "Context-parallel ranks", "N"),
        {"sp", 0, 0, G_OPTION_ARG_NONE, &options.sp, "Sequence parallelism: norms on 1/tp of the tokens",
         NULL},
        MEMORY_ENTRY("zero", MEMORY_ZERO, "ZeRO stage, 0 to 3 (3: FSDP; default 0)", "STAGE"),
        MEMORY_ENTRY("shard", MEMORY_SHARD, "Ranks that share one copy of the states (default: all)", "N"),
        MEMORY_ENTRY("gradients", MEMORY_GRADIENTS, "sharded (default) or whole, under ZeRO 2 and 3", "HOW"),
        MEMORY_ENTRY("gradient-dtype", MEMORY_GRADIENT_DTYPE, "bf16 (default), fp16 or fp32", "TYPE"),
        MEMORY_ENTRY("micro-batch", MEMORY_MICRO_BATCH, "Sequences of a micro-batch (default 1)", "N"),
        MEMORY_ENTRY("batch", MEMORY_BATCH,
                     "Sequences of a step, all ranks (default: twice as many micro-batches as stages)", "N"),
        MEMORY_ENTRY("sequence", MEMORY_SEQUENCE, "Tokens of a sequence (default: the model's)", "N"),
        MEMORY_ENTRY("schedule", MEMORY_SCHEDULE, "gpipe, 1f1b (default) or interleaved", "NAME"),
        MEMORY_ENTRY("chunks", MEMORY_CHUNKS, "Virtual stages of a pipeline rank (above 1: interleaved)",
                     "N"),
        MEMORY_ENTRY("recompute", MEMORY_RECOMPUTE, "none (default), selective or full", "HOW"),
        MEMORY_ENTRY("recompute-every", MEMORY_RECOMPUTE_EVERY, "full: one of so many layers (default 1)",
                     "N"),
        MEMORY_ENTRY("optimizer", MEMORY_OPTIMIZER, "sgd-momentum, adam (default) or adam-fp32", "NAME"),
        MEMORY_ENTRY("buckets", MEMORY_BUCKETS, "Gradient buckets: torch (default) or megatron", "HOW"),
        MEMORY_ENTRY("bucket", MEMORY_BUCKET, "Their cap (default '25 MiB'), or whole", "SIZE"),
        MEMORY_ENTRY("offload", MEMORY_OFFLOAD, "To the host: optimizer, weights, activations", "LIST"),
        MEMORY_ENTRY("framework", MEMORY_FRAMEWORK, "A framework (default: attention as one kernel)", "NAME"),
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.sets,
         "Override one key of the scenario (repeatable)", "SECTION.KEY=VALUE"},
        {"stages", 0, 0, G_OPTION_ARG_STRING, &options.stages,
         "ends (default: the first, the fullest and the last) or all", "WHICH"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
#undef MEMORY_ENTRY
    if (!options_parse(
            &COMMAND_MEMORY, entries,
            "Closed forms, nothing is simulated. Exit status 3 where it does not fit; what would make it\n"
            "fit is printed then.",
            0, 1, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    g_auto(MemoryQuestion) question = {0};
    if (!memory_read(argc > 1 ? argv[1] : NULL, &options, &question, error))
        return BASE_ERROR_USAGE;
    MemoryPrint what = {
        .model = memory_question_model(&question),
        .device = memory_question_device(&question),
        .framework = question.framework,
        .plan = &question.plan,
        .all = g_strcmp0(options.stages, "all") == 0,
    };
    gboolean fits = options.json ? memory_print_json(&what) : memory_print_text(&what);
    return fits ? 0 : BASE_ERROR_INFEASIBLE;
}

const Command COMMAND_MEMORY = {
    .name = "memory",
    .usage = "(SCENARIO | --model NAME) [OPTION...]",
    .summary = "The memory of a GPU by kind and pipeline stage: does it fit, and what would make it fit",
    .run = memory_run,
};
