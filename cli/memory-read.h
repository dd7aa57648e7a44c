// cli/memory-read.h: the question of "stepline memory" from its options, or from a scenario.
#pragma once

#include <glib.h>

#include "plans/framework.h"
#include "step/job.h"
#include "plans/plan.h"
#include "machines/machine.h"

// The options that hold text, and where they go: numbers and names are read from it.
typedef enum {
    MEMORY_MODEL,
    MEMORY_MACHINE,
    MEMORY_CHIP,
    MEMORY_GPUS,
    MEMORY_DP,
    MEMORY_TP,
    MEMORY_PP,
    MEMORY_CP,
    MEMORY_ZERO,
    MEMORY_SHARD,
    MEMORY_GRADIENTS,
    MEMORY_GRADIENT_DTYPE,
    MEMORY_MICRO_BATCH,
    MEMORY_BATCH,
    MEMORY_SEQUENCE,
    MEMORY_SCHEDULE,
    MEMORY_CHUNKS,
    MEMORY_RECOMPUTE,
    MEMORY_RECOMPUTE_EVERY,
    MEMORY_OPTIMIZER,
    MEMORY_BUCKETS,
    MEMORY_BUCKET,
    MEMORY_OFFLOAD,
    MEMORY_FRAMEWORK,
    MEMORY_TEXTS,
} MemoryText;

typedef struct {
    char *text[MEMORY_TEXTS]; // owned; NULL: not typed
    char **sets;              // owned
    char *stages;             // owned
    gboolean sp, json;
} MemoryOptions;

void memory_options_clear(MemoryOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MemoryOptions, memory_options_clear)

// The question; job holds model and machine where a scenario was named.
typedef struct {
    StepJob *job;             // owned, or NULL
    ModelSpec *model;         // owned, or NULL: the job's
    TopoMachine *machine;     // owned, or NULL
    TopoDevice *device;       // owned, or NULL: the machine's
    PlanFramework *framework; // owned, or NULL
    Plan plan;
} MemoryQuestion;

void memory_question_clear(MemoryQuestion *question);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MemoryQuestion, memory_question_clear)

// The model that it is about, and the chip. Borrowed.
const ModelSpec *memory_question_model(const MemoryQuestion *question);
const TopoDevice *memory_question_device(const MemoryQuestion *question);

// Fills an empty question; scenario may be NULL. FALSE with a usage error, or what a file has wrong; question
// is then only good to be cleared.
gboolean memory_read(const char *scenario, const MemoryOptions *options, MemoryQuestion *question,
                     GError **error);
