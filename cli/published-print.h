// cli/published-print.h: published runs beside simulated ones, as tables, CSV and JSON.
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "published/score.h"

// The rows that everybody asks for: published step, MFU and HFU beside ours, and where ours spends its time.
// Those of split headline, of source narayanan2021, and marked where constants were fitted to them.
void published_print_headline(const GPtrArray *cases);
// What all cases of every split are worth, beside the baselines; and the families, worst first, most of them
// (0: all).
void published_print_scores(const GPtrArray *cases, guint most);
// Every case: a line.
void published_print_rows(const GPtrArray *cases);
void published_print_csv(const GPtrArray *cases);
// Why cases are not scored: each reason, with its number of rows.
void published_print_reasons(const GPtrArray *cases);
// All of it. Caller unrefs.
JsonNode *published_print_json(const GPtrArray *cases);
