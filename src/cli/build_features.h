/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_features.h - lists the features of this build, by perf's names, for `version --build-options` and `check
 * feature`. A feature is on if tally provides what scripts test it for, even without the library that perf uses.
 */
#ifndef CLI_BUILD_FEATURES_H
#define CLI_BUILD_FEATURES_H

#include "base/bytes.h"

struct build_feature {
	const char *name, *macro; /* Such as "libelf" and "HAVE_LIBELF_SUPPORT". */
	bool is_on;
};

/* Returns all features, a constant array of *count elements. */
const struct build_feature *build_features_all(size_t *count);
/* Finds a feature by its name or macro, ignoring case. Returns NULL if there is none. */
const struct build_feature *build_features_find(struct tally_str name);
void build_feature_print(const struct build_feature *feature);

#endif
