/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include <string.h>

#include "base/array.h"
#include "base/checked.h"

bool vec_grow(void *items, size_t *cap, size_t item_size, size_t need)
{
	size_t new_cap = MAX(8, *cap);
	while (new_cap < need)
		if (!checked_mul(new_cap, (size_t)2, &new_cap))
			return false;
	size_t bytes;
	if (!checked_mul(new_cap, item_size, &bytes))
		return false;
	void *old;
	memcpy(&old, items, sizeof(old));
	void *grown = realloc(old, bytes);
	if (!grown)
		return false;
	memcpy(items, &grown, sizeof(grown));
	*cap = new_cap;
	return true;
}
