// base/hash.h: 64-bit mixing for fingerprints, flow hashes and counter-based random numbers; the same
// everywhere.
#pragma once

#include <glib.h>

// A bijection of 64-bit words that flips about half the bits for any one bit changed: the finaliser of
// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
static inline guint64 hash_mix(guint64 x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Folds word into hash; the order of words matters.
static inline guint64 hash_add(guint64 hash, guint64 word)
{
    return hash_mix(hash ^ hash_mix(word));
}

// The counter-th number of the stream seed: no state, so that it does not matter who asks first.
static inline guint64 hash_random(guint64 seed, guint64 counter)
{
    return hash_mix(hash_mix(seed) + counter);
}

// Folds text (NUL-terminated) into hash.
static inline guint64 hash_add_text(guint64 hash, const char *text)
{
    guint64 length = 0;
    for (; text[length] != '\0'; length++)
        hash = hash_add(hash, (guint8)text[length]);
    return hash_add(hash, length);
}
