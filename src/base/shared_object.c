/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared_object.h"

#include <stddef.h>

#include "tally_config.h"

#if HAVE_DLOPEN

void *shared_object_open(const char *path, int flags)
{
	return dlopen(path, flags);
}

const char *shared_object_error(void)
{
	const char *why = dlerror();
	return why ? why : "";
}

#else

void *shared_object_open(const char *path, int flags)
{
	(void)path;
	(void)flags;
	return NULL;
}

const char *shared_object_error(void)
{
	return "this tally is statically linked and cannot load shared libraries";
}

#endif
