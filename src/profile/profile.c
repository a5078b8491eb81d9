#include "profile/profile.h"

#include <stdlib.h>

void profile_destroy(struct profile *profile)
{
	if (!profile)
		return;
	intern_deinit(&profile->strings);
	list_table_deinit(&profile->stacks);
	spool_deinit(&profile->row_spool);
	arena_deinit(profile->arena);
	free(profile->arena);
	free(profile);
}
