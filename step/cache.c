// step/cache.c: measured collectives in an SQLite file.
#include "step/cache.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#include "base/hash.h"

enum { CACHE_WAIT_MS = 2000, CACHE_SHARES_MAX = 1 << 20 };

static const char CACHE_TABLE[] = "CREATE TABLE IF NOT EXISTS collective (key INTEGER PRIMARY KEY, time "
                                  "INTEGER NOT NULL, spread INTEGER NOT NULL,"
                                  " messages INTEGER NOT NULL, shares BLOB NOT NULL, sum INTEGER NOT NULL)";

// The program's own file: another build may simulate otherwise.
static guint64 cache_program(guint64 hash)
{
    GStatBuf status;
    if (g_stat("/proc/self/exe", &status) != 0)
        return 0;
    return hash_add(hash_add(hash_add(hash, (guint64)status.st_size), (guint64)status.st_mtime),
                    (guint64)status.st_ino);
}

// The graph, what NCCL does on it, the plan's split, and what chooses algorithms.
static guint64 cache_job(const StepSiblings *siblings)
{
    const StepJob *job = siblings->job;
    const TopoGraph *graph = job->machine->graph;
    const Plan *plan = &job->plan;
    guint64 hash = cache_program(1);
    if (hash == 0)
        return 0;
    guint64 sum = 0; // of words that hold their place, so that no one waits for the one before
    for (guint32 i = 0; i < graph->nodes->len; i++) {
        const TopoNode *node = topo_graph_node(graph, i);
        guint64 place = (guint64)node->kind << 60 ^ (guint64)node->number << 30 ^ node->island;
        sum += hash_mix(hash_mix(i) ^ place);
    }
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        guint64 word;
        memcpy(&word, &link->bandwidth, sizeof word);
        guint64 own = hash_mix((guint64)i << 32 ^ 1) ^ ((guint64)link->from << 32 | link->to);
        sum += hash_mix(hash_mix(own) ^ word ^ hash_mix((guint64)link->latency << 4 | link->class));
    }
    hash = hash_add(hash_add(hash_add(hash, sum), graph->nodes->len), graph->links->len);
    g_autofree char *tuning = machine_tuning_write(&job->machine->tuning);
    hash = hash_add_text(hash, tuning);
    const guint32 sizes[] = {plan->gpus, plan->tp, plan->cp, plan->dp, plan->pp, plan->shard};
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
        hash = hash_add(hash, sizes[i]);
    for (guint i = 0; i < PLAN_DIMENSIONS; i++)
        hash = hash_add(hash, plan->order[i]);
    hash = hash_add(hash_add(hash, (guint64)siblings->lowered->chunk), (guint64)job->nccl);
    hash = hash_add_text(hash, job->algorithm == NULL ? "" : job->algorithm->name);
    return hash_add_text(hash, job->protocol == NULL ? "" : job->protocol);
}

static guint64 cache_key(guint64 job, const StepCollective *own)
{
    guint64 hash = hash_add(hash_add(job, own->stage), own->other);
    return hash_add(hash_add(hash_add(hash, own->dimension), (guint64)own->kind), (guint64)own->bytes);
}

// So that a row that was written otherwise is not believed.
static guint64 cache_sum(guint64 key, const StepCollective *own, const void *shares, gsize length)
{
    guint64 hash = hash_add(hash_add(hash_add(key, (guint64)own->time), (guint64)own->spread), own->messages);
    for (gsize i = 0; i < length; i++)
        hash = hash_add(hash, ((const guint8 *)shares)[i]);
    return hash;
}

static sqlite3 *cache_open(const StepJob *job)
{
    if (job->no_cache)
        return NULL;
    g_autofree char *folder = g_build_filename(g_get_user_cache_dir(), "stepline", NULL);
    g_autofree char *path = g_build_filename(folder, "collectives.db", NULL);
    sqlite3 *database = NULL;
    if (g_mkdir_with_parents(folder, 0700) != 0 || sqlite3_open(path, &database) != SQLITE_OK) {
        sqlite3_close(database);
        return NULL;
    }
    sqlite3_busy_timeout(database, CACHE_WAIT_MS);
    sqlite3_exec(database, "PRAGMA synchronous = OFF", NULL, NULL, NULL); // what is lost is measured again
    if (sqlite3_exec(database, CACHE_TABLE, NULL, NULL, NULL) == SQLITE_OK)
        return database;
    sqlite3_close(database);
    return NULL;
}

// One row into a collective; FALSE where it makes no sense.
static gboolean cache_read(sqlite3_stmt *statement, guint64 key, StepCollective *own)
{
    own->time = sqlite3_column_int64(statement, 0);
    own->spread = sqlite3_column_int64(statement, 1);
    own->messages = (guint64)sqlite3_column_int64(statement, 2);
    gsize length = (gsize)sqlite3_column_bytes(statement, 3);
    const void *shares = sqlite3_column_blob(statement, 3);
    if (own->time < 0 || own->time > PS_MAX / 4 || own->spread < 0 || length % sizeof(StepLinkShare) != 0 ||
        length > CACHE_SHARES_MAX ||
        (guint64)sqlite3_column_int64(statement, 4) != cache_sum(key, own, shares, length))
        return FALSE;
    own->shares = g_array_new(FALSE, FALSE, sizeof(StepLinkShare));
    if (length > 0)
        g_array_append_vals(own->shares, shares, (guint)(length / sizeof(StepLinkShare)));
    return TRUE;
}

void step_cache_find(StepSiblings *siblings)
{
    sqlite3 *database = cache_open(siblings->job);
    guint64 job = database == NULL ? 0 : cache_job(siblings);
    sqlite3_stmt *statement = NULL;
    if (job != 0 && sqlite3_prepare_v2(
                        database, "SELECT time, spread, messages, shares, sum FROM collective WHERE key = ?",
                        -1, &statement, NULL) == SQLITE_OK)
        for (guint i = 0; i < siblings->all->len; i++) {
            StepCollective *own = &g_array_index(siblings->all, StepCollective, i);
            guint64 key = cache_key(job, own);
            sqlite3_bind_int64(statement, 1, (gint64)key);
            own->known = sqlite3_step(statement) == SQLITE_ROW && cache_read(statement, key, own);
            siblings->found += own->known ? 1 : 0;
            sqlite3_reset(statement);
        }
    sqlite3_finalize(statement);
    sqlite3_close(database);
}

void step_cache_store(const StepSiblings *siblings)
{
    sqlite3 *database = cache_open(siblings->job);
    guint64 job = database == NULL ? 0 : cache_job(siblings);
    sqlite3_stmt *statement = NULL;
    if (job != 0 && sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(
            database,
            "INSERT OR REPLACE INTO collective (key, time, spread, messages, shares, sum) VALUES "
            "(?, ?, ?, ?, ?, ?)",
            -1, &statement, NULL) == SQLITE_OK)
        for (guint i = 0; i < siblings->all->len; i++) {
            const StepCollective *own = step_siblings_get(siblings, i);
            guint64 key = cache_key(job, own);
            gsize length = own->shares->len * sizeof(StepLinkShare);
            sqlite3_bind_int64(statement, 1, (gint64)key);
            sqlite3_bind_int64(statement, 2, own->time);
            sqlite3_bind_int64(statement, 3, own->spread);
            sqlite3_bind_int64(statement, 4, (gint64)own->messages);
            sqlite3_bind_blob(statement, 5, length == 0 ? "" : own->shares->data, (int)length, SQLITE_STATIC);
            sqlite3_bind_int64(statement, 6, (gint64)cache_sum(key, own, own->shares->data, length));
            sqlite3_step(statement);
            sqlite3_reset(statement);
        }
    sqlite3_finalize(statement);
    if (database != NULL)
        sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(database);
}
