/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

#include <stdlib.h>

void profile_destroy(struct profile *profile)
{
	if (!profile)
		return;
	intern_deinit(&profile->strings);
	list_table_deinit(&profile->stacks);
	spool_deinit(&profile->row_spool);
	free(profile->events);
	free(profile->binaries);
	free(profile->functions);
	free(profile->frames);
	free(profile->threads);
	free(profile->samples);
	free(profile->fields);
	arena_deinit(profile->arena);
	free(profile->arena);
	free(profile);
}
