// step/lower.h: a job as programs of operations, one for every pipeline stage; the ranks of a stage share it.
//
// Streams appear as they are needed: "compute"; "dp" (gradients and gathered weights, in the order in which
// the framework launches them: PyTorch's FSDP and DDP have one NCCL stream a process group); "replica"
// (HSDP's sum over copies); "tp", "cp"; a send and a receive stream for either direction of the pipeline;
// "ends" (tied embeddings); "world" (the gradient's norm); "copy out", "copy in" (offload); "loader"; "host"
// (kernel launches).
//
// Forward and backward passes of a chunk run block by block, an operation ends where something else must wait
// for it: at the end of a block, before and after an exchange of tensor or context parallelism, where a
// gradient bucket becomes ready. Times of operations are differences of rounded running totals, so that their
// sum is the whole, rounded up once.
//
// - Tensor parallel: a column operator gathers its input (sp), and backward sums its input's gradient while
//   the weight's gradient is computed (Megatron-LM, linear_with_grad_accumulation); a row operator sums its
//   output. tp_overlap = n cuts exchange and operator in n chunks that overlap.
// - Gradients: a bucket is reduced when its gradients are ready (overlap) or after the last backward pass;
//   in the last micro-batch only, unless sync_every, or sharded gradients of ZeRO 2 and 3. With copies =
//   last the copies of the states still sum theirs after the last one only. A backward pass that reduces
//   ends when its reductions do: DDP's reducer and FSDP wait for them before they give control back
//   (NVIDIA/cosmos-framework#161 measures it: four such micro-batches take four times as long as one). Not
//   in a pipeline, where another micro-batch's pass may follow at once.
// - ZeRO 3: a unit a block; the unit used as k-th is gathered when use k - prefetch - 1 is over (limiter),
//   freed after its use (reshard = no: after the backward pass, step/lower-unit.c); the head is kept from
//   its forward to its backward pass. The first gather waits for whatever ran before, so it is exposed, as
//   is the last reduce-scatter.
// - ZeRO 1 and 2: updated weights are gathered after the optimizer, or (overlap_gather) at the start of the
//   step while the first forward pass runs: in the steady state the previous step's.
// - Pipeline: receives are posted ahead; a transfer starts when both ends are there.
// - Launches: the kernels of an operation are launched one after the other by the host; an operation starts
//   when its first kernel has been launched, the next one not before the rest have.
// - The loader reads one micro-batch ahead.
#pragma once

#include <glib.h>

#include "sim/task.h"
#include "step/job.h"
#include "plans/place.h"

// Groups that joint operations name as their dimension: those of plans/place.h, then pairs of neighbouring
// stages.
enum {
    STEP_JOINT_SEND_FORWARD = PLAN_GROUPS,
    STEP_JOINT_RECV_FORWARD,
    STEP_JOINT_SEND_BACKWARD,
    STEP_JOINT_RECV_BACKWARD,
    STEP_JOINTS,
};

typedef struct {
    GPtrArray *programs; // of SimProgram *, by pipeline stage; owned
    guint32 *runs;       // [rank]: its stage; owned
    guint32 buckets;     // gradient buckets of a stage, at most
    gint64 parameters;   // on one rank of the fullest stage
    gint64 chunk;        // bytes, of messages
} StepLowered;

// Whether the job's operations find room: at most STEP_LOWER_OPS in the programs of all stages. An upper
// bound of their number is compared. FALSE with an error that starts with the job's name.
enum { STEP_LOWER_OPS = 8000000, STEP_LOWER_SPANS = 100000000 };
gboolean step_lower_check(const StepJob *job, GError **error);

// Chunks of messages, where the job leaves them open: COLL_CHUNK_DEFAULT where one dimension of groups is all
// there is. Else flows of several share links, as packets do, and a small exchange must not wait behind a
// chunk of a large one: as small as STEP_LOWER_CHUNKS chunks of all messages together allow, from 64 KiB up
// to the default.
enum { STEP_LOWER_CHUNKS = 2000000 };

// The job must have passed step_lower_check.
void step_lower(const StepJob *job, StepLowered *lowered);
// Whether all ranks' operations, each a span of the timeline, find room: at most STEP_LOWER_SPANS (some 3 GB;
// a bound of ours, not measured). FALSE with an error.
gboolean step_lower_check_spans(const StepJob *job, const StepLowered *lowered, GError **error);
void step_lower_clear(StepLowered *lowered);
