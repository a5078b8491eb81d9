/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_features.h - lists what this build can do, by perf's names, for `version --build-options` and `check feature`.
 * A feature of perf is reported as on if tally can do what scripts test for, with any library or none.
 */
#ifndef CLI_BUILD_FEATURES_H
#define CLI_BUILD_FEATURES_H

#include "base/bytes.h"

struct build_feature {
	const char *name, *macro;
	bool is_on;
};

const struct build_feature *build_features_all(size_t *count);
/* By name or macro, in any case; NULL if there is none. */
const struct build_feature *build_features_find(struct tally_str name);
void build_feature_print(const struct build_feature *feature);

#endif
