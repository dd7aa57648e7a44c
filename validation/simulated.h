// validation/simulated.h: the documents' figures by simulation, where they are times or bytes sent.
#pragma once

#include <glib.h>

#include "validation/figures.h"

// The runs made so far: each collective is simulated once.
typedef struct ValidationSimulated ValidationSimulated;

ValidationSimulated *validation_simulated_new(void);
void validation_simulated_free(ValidationSimulated *simulated);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ValidationSimulated, validation_simulated_free)

typedef struct {
    double value;     // SI units, as validation_figures_compute; NAN: this figure is not simulated
    gboolean binding; // whether it must agree with the printed figure
    char *note;       // owned: what else the run showed, or NULL
} ValidationSimulatedValue;

// FALSE with an error where a machine cannot be read or a run fails. Caller clears value->note with g_free.
gboolean validation_simulated_run(ValidationSimulated *simulated, const ValidationFigure *figure,
                                  const char *case_name, ValidationSimulatedValue *value, GError **error);
