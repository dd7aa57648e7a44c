// published/platform.h: which library machine, and which framework, stand for a published run's.
#pragma once

#include <glib.h>

#include "published/run.h"

typedef struct {
    char *machine;    // owned
    double nic;       // bytes/s one way of a GPU's NIC there, nominal
    gboolean assumed; // the run does not say its network
    gboolean far;     // it does, and no machine of the chip comes within 10 % of it
} PublishedPlatform;

// By validation/data/platforms.csv. FALSE where no machine of the library has the run's chip.
gboolean published_platform(const PublishedRun *run, PublishedPlatform *platform);
void published_platform_clear(PublishedPlatform *platform);

typedef struct {
    char *framework, *gradient_dtype, *buckets, *order, *why; // owned
    gboolean overlap, gather, scatter_gather, accumulates;
    guint32 tp_overlap;      // chunks, where exchanges of tp overlap
    gboolean tp_overlap_too; // they do where the run does not say
} PublishedFamily;

// By validation/data/families.csv; its last line fits any run.
void published_family(const PublishedRun *run, PublishedFamily *family);
void published_family_clear(PublishedFamily *family);
