/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - defines the factor for hashes of small keys: multiply a key by HASH_FACTOR, and take the upper bits of the
 * product as the slot.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

/* 2^64 divided by the golden ratio, which distributes consecutive keys evenly (Knuth, volume 3, section 6.4). */
#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

#endif
