// models/convnet.c: residual networks as lists of tensors.
#include "models/convnet.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

enum { STEM = 64, CLASSES = 1000 };

const ModelConvnet MODEL_CONVNETS[] = {
    {"resnet-18", "ResNet-18", {2, 2, 2, 2}, FALSE},   {"resnet-34", "ResNet-34", {3, 4, 6, 3}, FALSE},
    {"resnet-50", "ResNet-50", {3, 4, 6, 3}, TRUE},    {"resnet-101", "ResNet-101", {3, 4, 23, 3}, TRUE},
    {"resnet-152", "ResNet-152", {3, 8, 36, 3}, TRUE}, {0},
};

const ModelConvnet *model_convnet_find(const char *name, const char *where, GError **error)
{
    const char *names[G_N_ELEMENTS(MODEL_CONVNETS)] = {0};
    for (guint i = 0; MODEL_CONVNETS[i].name != NULL; i++) {
        names[i] = MODEL_CONVNETS[i].name;
        if (strcmp(names[i], name) == 0)
            return &MODEL_CONVNETS[i];
    }
    g_autofree char *quoted = base_error_quote(name);
    g_autofree char *all = g_strjoinv(", ", (char **)names);
    g_autofree char *hint = suggest_hint(name, names);
    base_error_set(error, BASE_ERROR_FAILED, where, "found '%s', wanted one of: %s%s", quoted, all, hint);
    return NULL;
}

// A square convolution and the norm behind it.
static void convnet_add(GArray *tensors, gint64 in, gint64 out, gint64 kernel)
{
    const gint64 own[] = {out * in * kernel * kernel, out, out};
    g_array_append_vals(tensors, own, G_N_ELEMENTS(own));
}

GArray *model_convnet_tensors(const ModelConvnet *net)
{
    GArray *tensors = g_array_new(FALSE, FALSE, sizeof(gint64));
    convnet_add(tensors, 3, STEM, 7);
    gint64 in = STEM;
    for (guint stage = 0; stage < G_N_ELEMENTS(net->blocks); stage++) {
        gint64 width = STEM << stage, out = net->bottleneck ? 4 * width : width;
        for (guint block = 0; block < net->blocks[stage]; block++) {
            convnet_add(tensors, in, width, net->bottleneck ? 1 : 3);
            convnet_add(tensors, width, width, 3);
            if (net->bottleneck)
                convnet_add(tensors, width, out, 1);
            if (in != out)
                convnet_add(tensors, in, out, 1);
            in = out;
        }
    }
    const gint64 linear[] = {in * CLASSES, CLASSES};
    g_array_append_vals(tensors, linear, G_N_ELEMENTS(linear));
    return tensors;
}
