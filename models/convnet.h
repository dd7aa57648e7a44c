// models/convnet.h: the parameter tensors of residual networks, in the order in which torchvision registers
// them.
//
// He et al., Deep Residual Learning for Image Recognition (arXiv:1512.03385), table 1: a stem of 7 x 7 to 64
// channels, four stages of blocks with 64, 128, 256 and 512 channels, one linear layer of 1,000 classes. A
// basic block is two 3 x 3 convolutions, a bottleneck 1 x 1, 3 x 3 and 1 x 1 to four times the channels; the
// first block of a stage that changes the width has a 1 x 1 convolution on its shortcut. Convolutions have no
// bias; each is followed by a batch norm with a weight and a bias. Running statistics are no parameters.
// They are here for their gradients (plans/bucket.h); stepline does not time convolutions.
#pragma once

#include <glib.h>

typedef struct {
    const char *name;  // "resnet-50"
    const char *title; // one line for people
    guint blocks[4];   // of each stage
    gboolean bottleneck;
} ModelConvnet;

extern const ModelConvnet MODEL_CONVNETS[]; // ends with a name of NULL

// By name. NULL with an error that names the known ones; where (may be NULL) starts it.
const ModelConvnet *model_convnet_find(const char *name, const char *where, GError **error);

// Parameters of every tensor, in order of registration: stem, blocks (their convolutions and norms in turn,
// then the shortcut's), linear layer (weight, bias). GArray of gint64; caller unrefs.
GArray *model_convnet_tensors(const ModelConvnet *net);
