/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/proc_maps.h"

#include <sys/mman.h>

/* Returns the next word of blank-separated text; false at the end. */
static bool proc_maps_next_word(struct tally_str *text, struct tally_str *word)
{
	while (text->len && *text->data == ' ') {
		text->data++;
		text->len--;
	}
	return text->len && str_next(text, ' ', word);
}

static bool parse_pair(struct tally_str text, char separator, uint64_t *a, uint64_t *b)
{
	struct tally_str first;
	return str_next(&text, separator, &first) && str_to_u64(first, 16, a) && str_to_u64(text, 16, b);
}

bool proc_map_parse(struct tally_str line, struct proc_map *map)
{
	struct tally_str range, perms, offset, device, inode;
	struct proc_map m = {0};
	uint64_t major, minor;
	if (!proc_maps_next_word(&line, &range) || !proc_maps_next_word(&line, &perms) ||
		!proc_maps_next_word(&line, &offset) || !proc_maps_next_word(&line, &device) ||
		!proc_maps_next_word(&line, &inode))
		return false;
	if (!parse_pair(range, '-', &m.start, &m.end) || m.end <= m.start || perms.len < 4 ||
		!str_to_u64(offset, 16, &m.pgoff) || !parse_pair(device, ':', &major, &minor) ||
		!str_to_u64(inode, 10, &m.inode))
		return false;
	m.major = (uint32_t)major;
	m.minor = (uint32_t)minor;
	m.prot = (perms.data[0] == 'r' ? PROT_READ : 0u) | (perms.data[1] == 'w' ? PROT_WRITE : 0u) |
		 (perms.data[2] == 'x' ? PROT_EXEC : 0u);
	m.flags = perms.data[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	while (line.len && *line.data == ' ') {
		line.data++;
		line.len--;
	}
	m.path = line;
	*map = m;
	return true;
}

bool proc_module_parse(struct tally_str line, struct proc_module *module)
{
	struct tally_str name, size, users, by, state, address;
	struct proc_module m;
	if (!proc_maps_next_word(&line, &name) || !proc_maps_next_word(&line, &size) ||
		!proc_maps_next_word(&line, &users) || !proc_maps_next_word(&line, &by) ||
		!proc_maps_next_word(&line, &state) || !proc_maps_next_word(&line, &address))
		return false;
	if (!str_to_u64(size, 10, &m.size) || !str_to_u64(address, 0, &m.start))
		return false;
	m.name = name;
	*module = m;
	return true;
}
