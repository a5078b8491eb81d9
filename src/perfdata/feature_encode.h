/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature_encode.h - encodes one feature section: the inverse of feature_decode (feature_table.h).
 *
 * Features that are not decoded are copied from raw[].
 */
#ifndef PERFDATA_FEATURE_ENCODE_H
#define PERFDATA_FEATURE_ENCODE_H

#include "base/writer.h"
#include "perfdata/features.h"

/* Appends the section, or nothing for a feature without contents. */
void feature_encode(struct writer *w, unsigned bit, const struct perfdata_features *features);

#endif
