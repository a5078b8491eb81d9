/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/binary_trail.h"

#include <string.h>

/* Maximum number of steps, so that a malicious file cannot make the list of places long. */
#define MORE_THAN_ENOUGH 256

static struct binary_step *binary_trail_find(struct binary_entry *entry, const char *source, const char *path)
{
	for (size_t i = 0; i < entry->trail.len; i++) {
		struct binary_step *step = &entry->trail.items[i];
		if (strcmp(step->source, source) == 0 && strcmp(step->path, path) == 0)
			return step;
	}
	return NULL;
}

void binary_trail_add(
	struct binary_entry *entry, const char *source, const char *path, enum binary_found found, const char *detail)
{
	if (!path)
		return;
	struct binary_step *known = binary_trail_find(entry, source, path);
	if (known) {
		known->found = found;
		known->detail = detail;
		return;
	}
	struct binary_step step = {.source = source, .found = found, .detail = detail};
	step.path = arena_string(&entry->arena, path, strlen(path));
	if (step.path && entry->trail.len < MORE_THAN_ENOUGH)
		(void)vec_push(&entry->trail, step);
}

enum binary_found binary_trail_found(enum tally_status status)
{
	switch (status) {
	case TALLY_OK:
		return BINARY_FOUND_USED;
	case TALLY_DENIED:
		return BINARY_FOUND_CLOSED;
	case TALLY_CORRUPT:
	case TALLY_LIMIT:
		return BINARY_FOUND_DAMAGED;
	case TALLY_INVALID:
		return BINARY_FOUND_NO_REGULAR_FILE;
	case TALLY_END:
	case TALLY_NOT_FOUND:
		return BINARY_FOUND_NOTHING;
	case TALLY_NOMEM:
	case TALLY_IO:
	case TALLY_UNSUPPORTED:
		break;
	}
	return BINARY_FOUND_UNREADABLE;
}
