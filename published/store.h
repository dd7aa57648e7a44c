// published/store.h: published runs beside simulated ones, into a timeline file (timeline/published.h).
#pragma once

#include "published/simulate.h"

// Appends cases (of PublishedCase *, simulated) as one validation. FALSE with an error, and the file is as
// before.
gboolean published_store(const char *path, const GPtrArray *cases, GError **error);
