// published/recipe.c: writing a published run as a scenario.
#include "published/recipe.h"

#include <string.h>

#include "published/platform.h"

const char *published_precision(const PublishedRun *run)
{
    static const struct {
        const char *start, *name;
    } names[] = {{"bf16", "bf16"}, {"fp16", "fp16"}, {"16bit", "fp16"}, {"fp8", "fp8"},   {"mxfp8", "fp8"},
                 {"nvfp4", "fp4"}, {"fp4", "fp4"},   {"int8", "int8"},  {"fp32", "fp32"}, {"tf32", "tf32"}};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_str_has_prefix(run->precision, names[i].start))
            return names[i].name;
    return run->precision[0] == '\0' ? "bf16" : NULL;
}

char *published_chip_precision(const PublishedRun *run)
{
    const char *precision = published_precision(run);
    return g_strdup_printf("%s %s", run->chip, precision == NULL ? "?" : precision);
}

// A recipe being written.
typedef struct {
    const PublishedRun *run;
    const PublishedModel *model;
    PublishedRecipe *recipe;
    PublishedFamily family;
    PublishedVary vary;
    GString *text;
    guint32 tp, pp, cp, dp;
    gint64 micro; // sequences of a micro-batch
} Recipe;

static void recipe_assume(Recipe *at, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void recipe_assume(Recipe *at, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    g_ptr_array_add(at->recipe->assumptions, g_strdup_vprintf(format, values));
    va_end(values);
}

static gboolean recipe_refuse(Recipe *at, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean recipe_refuse(Recipe *at, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    at->recipe->reason = g_strdup_vprintf(format, values);
    va_end(values);
    return FALSE;
}

static const char *recipe_flag(gboolean flag)
{
    return flag ? "yes" : "no";
}

// What no recipe can be written for, in the order in which one would ask.
static gboolean recipe_possible(Recipe *at)
{
    const PublishedRun *run = at->run;
    if (at->model == NULL)
        return recipe_refuse(at, "its model is in no table");
    if (at->model->experts > 0 || run->ep > 1)
        return recipe_refuse(at, "mixtures of experts are not simulated yet");
    if (strcmp(at->model->attention, "mla") == 0)
        return recipe_refuse(at, "multi-head latent attention is not simulated yet");
    if (at->model->layers == 0 || at->model->hidden == 0 || at->model->heads == 0 || at->model->ffn == 0 ||
        at->model->vocabulary == 0)
        return recipe_refuse(at, "its model's sizes are not all published");
    if (run->sequence == 0 || run->batch == 0)
        return recipe_refuse(at, "its sequence or batch is not published");
    if (run->offload[0] != '\0' && strcmp(run->offload, "none") != 0)
        return recipe_refuse(at, "it offloads in a way that the table does not detail");
    if (strcmp(run->recompute, "custom") == 0)
        return recipe_refuse(at, "it recomputes in a way that the table does not detail");
    if (published_precision(run) == NULL)
        return recipe_refuse(at, "its precision is unknown here");
    if (run->gpus == 0)
        return recipe_refuse(at, "it has no GPUs");
    if (run->tp == 0 && run->pp == 0 && run->dp == 0 && run->gpus > 1)
        return recipe_refuse(at, "its layout is not published");
    return TRUE;
}

static gboolean recipe_split(Recipe *at)
{
    const PublishedRun *run = at->run;
    at->tp = MAX(run->tp, 1);
    at->pp = MAX(run->pp, 1);
    at->cp = MAX(run->cp, 1);
    guint64 others = (guint64)at->tp * at->pp * at->cp;
    if (run->gpus % others != 0)
        return recipe_refuse(at, "tp x pp x cp does not divide its number of GPUs");
    at->dp = (guint32)(run->gpus / others);
    if (run->dp > 0 && run->dp != at->dp)
        return recipe_refuse(at, "tp x pp x cp x dp is not its number of GPUs");
    return TRUE;
}

static void recipe_model(Recipe *at)
{
    const PublishedRun *run = at->run;
    const PublishedModel *model = at->model;
    PublishedPositions positions = published_model_positions(model);
    gint64 layers = run->layers > 0 ? run->layers : model->layers;
    gint64 padded = (model->vocabulary + at->tp - 1) / at->tp * at->tp;
    if (padded != model->vocabulary)
        recipe_assume(at,
                      "vocabulary padded from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ", which tp divides",
                      model->vocabulary, padded);
    gint64 head = model->head_dim > 0 ? model->head_dim : model->hidden / model->heads;
    gboolean dropout = positions == PUBLISHED_POSITIONS_LEARNED;
    if (model->norm_pos[0] == '\0')
        recipe_assume(at, "norm and positions are not published: %s",
                      published_model_rms(model) ? "RMS norm, rotary positions"
                                                 : "layer norm, learned positions");
    g_string_append_printf(
        at->text,
        "\n[model]\ntitle = %s\nsource = the table\nlayers = %" G_GINT64_FORMAT "\nhidden = %" G_GINT64_FORMAT
        "\nheads = %" G_GINT64_FORMAT "\nkv_heads = %" G_GINT64_FORMAT "\nhead_dim = %" G_GINT64_FORMAT
        "\nffn = %" G_GINT64_FORMAT "\ngated = %s\nvocabulary = %" G_GINT64_FORMAT
        "\ntied = %s\nnorm = %s\nbias = %s\nrotary = %s\ndropout = %s\nparallel_block = %s\nsequence = "
        "%" G_GINT64_FORMAT "\n",
        model->name, layers, model->hidden, model->heads,
        model->kv_heads > 0 ? model->kv_heads : model->heads, head, model->ffn, recipe_flag(model->gated),
        padded, recipe_flag(model->tied), published_model_rms(model) ? "rms" : "layer",
        recipe_flag(published_model_bias(model)), recipe_flag(positions == PUBLISHED_POSITIONS_ROTARY),
        recipe_flag(dropout), recipe_flag(model->parallel_block), run->sequence);
    if (positions == PUBLISHED_POSITIONS_LEARNED)
        g_string_append_printf(at->text, "positions = %" G_GINT64_FORMAT "\n", run->sequence);
}

static gboolean recipe_machine(Recipe *at)
{
    PublishedPlatform platform;
    if (!published_platform(at->run, &platform))
        return recipe_refuse(at, "no machine of the library has its chip");
    if (platform.assumed)
        recipe_assume(at, "network not published: the platform's, %s", platform.machine);
    if (platform.far)
        recipe_assume(at, "%s stands for a network of %.3g B/s a GPU; its own is %.3g", platform.machine,
                      at->run->inter, platform.nic);
    g_string_append_printf(at->text, "\n[machine]\nuse = %s\ngpus = %u\n", platform.machine, at->run->gpus);
    at->recipe->machine = g_steal_pointer(&platform.machine);
    published_platform_clear(&platform);
    return TRUE;
}

// The micro-batch and, where it is not published, what is taken for it.
static gboolean recipe_batch(Recipe *at)
{
    const PublishedRun *run = at->run;
    at->micro = run->micro_batch;
    if (at->micro == 0) {
        at->micro = at->vary.micro_batch > 0 ? at->vary.micro_batch : 1;
        if (!at->family.accumulates && at->vary.micro_batch == 0)
            at->micro = MAX(run->batch / at->dp, 1);
        at->recipe->open = TRUE;
        recipe_assume(at, "micro-batch not published: %" G_GINT64_FORMAT, at->micro);
    }
    if (run->batch % (at->micro * at->dp) != 0)
        return recipe_refuse(at, "its batch is no multiple of micro-batch x dp");
    g_string_append_printf(at->text, "batch = %" G_GINT64_FORMAT "\nmicro_batch = %" G_GINT64_FORMAT "\n",
                           run->batch, at->micro);
    return TRUE;
}

// Chunks of a pipeline rank: where they are not published one a layer, if the schedule allows it.
static gint64 recipe_chunks(Recipe *at, gint64 layers)
{
    const PublishedRun *run = at->run;
    if (strstr(run->missing, "vp") == NULL)
        return MAX(run->vp, 1);
    gint64 chunks = at->vary.chunks > 0 ? at->vary.chunks : (layers + at->pp - 1) / at->pp;
    if (run->batch / (at->micro * at->dp) % at->pp != 0) // interleaving wants whole groups of micro-batches
        chunks = 1;
    at->recipe->open = TRUE;
    recipe_assume(at, "virtual stages not published: %" G_GINT64_FORMAT " a GPU", chunks);
    return chunks;
}

// The schedule, and the layers of its ends where those hold one fewer.
static gboolean recipe_pipeline(Recipe *at)
{
    const PublishedRun *run = at->run;
    gboolean gpipe = strcmp(run->pp_schedule, "gpipe") == 0;
    if (at->pp == 1)
        return run->vp <= 1 || recipe_refuse(at, "it has virtual stages and no pipeline");
    if (run->pp_schedule[0] != '\0' && strstr(run->pp_schedule, "1f1b") == NULL && !gpipe)
        return recipe_refuse(at, "its pipeline schedule is not simulated yet");
    gint64 layers = run->layers > 0 ? run->layers : at->model->layers, chunks = recipe_chunks(at, layers);
    g_string_append_printf(at->text, "pp = %u\n", at->pp);
    if (gpipe)
        g_string_append(at->text, "schedule = gpipe\n");
    if (chunks > 1)
        g_string_append_printf(at->text, "%schunks = %" G_GINT64_FORMAT "\n",
                               gpipe ? "" : "schedule = interleaved\n", chunks);
    // Embedding and head counted as a layer each: the ends hold one fewer (Llama 3, BLOOM).
    gint64 slots = at->pp * chunks;
    if (layers % slots != 0 && (layers + 2) % slots == 0) {
        gint64 ends = (layers + 2) / slots - 1;
        g_string_append_printf(at->text,
                               "layers_first = %" G_GINT64_FORMAT "\nlayers_last = %" G_GINT64_FORMAT "\n",
                               ends, ends);
        recipe_assume(at,
                      "%" G_GINT64_FORMAT " layers on %" G_GINT64_FORMAT
                      " stages: the first and the last hold one fewer",
                      layers, slots);
    }
    return TRUE;
}

static void recipe_tensor(Recipe *at)
{
    const PublishedRun *run = at->run;
    const PublishedFamily *family = &at->family;
    gboolean sp = run->sp > 0 || (run->sp < 0 && !g_str_has_prefix(run->chip, "TPU"));
    if (at->tp > 1) {
        if (run->sp < 0)
            recipe_assume(at, "sequence parallelism not published: %s", recipe_flag(sp));
        gboolean overlap = run->tp_overlap > 0 || (run->tp_overlap < 0 && family->tp_overlap_too);
        overlap = overlap && sp && family->tp_overlap > 1; // only sequence parallelism has what overlaps
        g_string_append_printf(at->text, "tp = %u\nsp = %s\n", at->tp, recipe_flag(sp));
        if (overlap)
            g_string_append_printf(at->text, "tp_overlap = %u\n", family->tp_overlap);
        else if (run->tp_overlap > 0)
            recipe_assume(at, "exchanges of tensor parallelism are said to overlap, and do not here");
        if (run->tp_overlap < 0)
            recipe_assume(at, "overlap of tensor-parallel exchanges not published: %s", recipe_flag(overlap));
    }
    if (at->cp > 1)
        g_string_append_printf(at->text, "cp = %u\n", at->cp);
    if (at->pp > 1 && at->tp > 1 && !sp && family->scatter_gather)
        g_string_append(at->text, "scatter_gather = yes\n");
    if (family->order[0] != '\0')
        g_string_append_printf(at->text, "order = %s\n", family->order);
}

static gboolean recipe_data(Recipe *at)
{
    const PublishedRun *run = at->run;
    const PublishedFamily *family = &at->family;
    static const struct {
        const char *kind;
        int zero;
    } kinds[] = {{"", 0},      {"none", 0},  {"ddp", 0},  {"zero1", 1},
                 {"zero2", 2}, {"zero3", 3}, {"fsdp", 3}, {"hsdp", 3}};
    int zero = -1;
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(run->dp_kind, kinds[i].kind) == 0)
            zero = kinds[i].zero;
    if (zero < 0)
        return recipe_refuse(at, "its kind of data parallelism is unknown here");
    if (run->dp_kind[0] == '\0' && at->dp > 1)
        recipe_assume(at, "kind of data parallelism not published: no sharding");
    gboolean overlap = run->dp_overlap < 0 ? family->overlap : run->dp_overlap > 0;
    g_string_append_printf(at->text, "dp = %u\nzero = %d\ngradient_dtype = %s\noverlap = %s\n", at->dp, zero,
                           family->gradient_dtype, recipe_flag(overlap || zero == 3));
    if (zero == 3 && run->shard > 0 && run->shard < at->dp && at->dp % run->shard == 0)
        g_string_append_printf(at->text, "shard = %u\n", run->shard * at->cp);
    if (zero == 2)
        g_string_append(at->text, "gradients = whole\n");
    if (zero == 1 || zero == 2)
        g_string_append_printf(at->text, "overlap_gather = %s\n", recipe_flag(family->gather));
    if (zero < 3)
        g_string_append_printf(at->text, "buckets = %s\n", family->buckets);
    if (zero < 3 && !overlap && strcmp(family->buckets, "torch") == 0)
        g_string_append(at->text, "bucket = whole\n");
    return TRUE;
}

static gboolean recipe_recompute(Recipe *at)
{
    const PublishedRun *run = at->run;
    const char *kind = run->recompute;
    if (kind[0] == '\0') {
        kind = at->vary.recompute ? "selective" : "none";
        at->recipe->open = TRUE;
        recipe_assume(at, "recomputation not published: %s", kind);
    }
    gint64 layers = run->layers > 0 ? run->layers : at->model->layers, some = 0;
    if (strcmp(kind, "partial_full") == 0) { // "5 layers"
        some = g_ascii_strtoll(run->recompute_detail, NULL, 10);
        for (const char *c = run->recompute_detail; some == 0 && *c != '\0'; c++)
            some = g_ascii_strtoll(c, NULL, 10);
        if (some <= 0)
            return recipe_refuse(at, "it recomputes in a way that the table does not detail");
        gint64 stage = (layers + at->pp - 1) / at->pp, every = MAX((stage + some / 2) / some, 1);
        recipe_assume(at,
                      "recomputes every %" G_GINT64_FORMAT "th layer, for %" G_GINT64_FORMAT
                      " of %" G_GINT64_FORMAT,
                      every, some, stage);
        g_string_append_printf(at->text, "recompute = full\nrecompute_every = %" G_GINT64_FORMAT "\n", every);
        return TRUE;
    }
    if (strcmp(kind, "none") != 0 && strcmp(kind, "selective") != 0 && strcmp(kind, "full") != 0)
        return recipe_refuse(at, "its kind of recomputation is unknown here");
    g_string_append_printf(at->text, "recompute = %s\n", kind);
    return TRUE;
}

static gboolean recipe_write(Recipe *at)
{
    if (!recipe_possible(at) || !recipe_split(at))
        return FALSE;
    published_family(at->run, &at->family);
    at->recipe->framework = g_strdup(at->family.framework);
    if (g_str_has_prefix(at->family.why, "assumed"))
        recipe_assume(at, "framework %s: %s", at->family.framework, at->family.why);
    g_string_append_printf(at->text,
                           "# %s: a published run as a scenario\n# Source: %s (%s)\n[scenario]\ntitle = %s\n",
                           at->run->id, at->run->source, at->run->reference, at->run->id);
    recipe_model(at);
    if (!recipe_machine(at))
        return FALSE;
    g_string_append(at->text, "\n[job]\n");
    recipe_tensor(at);
    if (!recipe_batch(at) || !recipe_pipeline(at) || !recipe_data(at) || !recipe_recompute(at))
        return FALSE;
    g_string_append_printf(at->text, "\n[compute]\nframework = %s\nprecision = %s\n", at->family.framework,
                           published_precision(at->run));
    if (at->recipe->layer)
        g_string_append(at->text, "optimizer_time = none\ngradient_norm = no\n");
    g_string_append(at->text, "\n[simulate]\nfidelity = folded\n");
    return TRUE;
}

PublishedRecipe *published_recipe(const PublishedRun *run, GHashTable *models, const PublishedVary *vary)
{
    PublishedRecipe *recipe = g_new0(PublishedRecipe, 1);
    recipe->assumptions = g_ptr_array_new_with_free_func(g_free);
    recipe->layer = strstr(run->variant, "single layer") != NULL;
    Recipe at = {.run = run,
                 .model = g_hash_table_lookup(models, run->model),
                 .recipe = recipe,
                 .text = g_string_new(NULL)};
    if (vary != NULL)
        at.vary = *vary;
    gboolean fine = recipe_write(&at);
    recipe->scenario = g_string_free(at.text, !fine);
    published_family_clear(&at.family);
    return recipe;
}

void published_recipe_free(PublishedRecipe *recipe)
{
    if (recipe == NULL)
        return;
    g_free(recipe->scenario);
    g_free(recipe->machine);
    g_free(recipe->framework);
    g_free(recipe->reason);
    g_ptr_array_unref(recipe->assumptions);
    g_free(recipe);
}
