/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_maps.h - parses lines of /proc/PID/maps and /proc/modules; malformed lines are rejected. Pure; strings point
 * into the line.
 * Source: proc(5).
 */
#ifndef KERNEL_RECORDING_PROC_MAPS_H
#define KERNEL_RECORDING_PROC_MAPS_H

#include "base/bytes.h"

struct proc_map {
	uint64_t start, end, pgoff, inode;
	uint32_t major, minor;
	uint32_t prot, flags; /* PROT_* bits; MAP_SHARED or MAP_PRIVATE. */
	struct tally_str path; /* Empty for an anonymous mapping. */
};
struct proc_module {
	struct tally_str name;
	uint64_t start, size;
};

/* Both functions return false if the line is malformed. */
bool proc_map_parse(struct tally_str line, struct proc_map *map);
bool proc_module_parse(struct tally_str line, struct proc_module *module);

#endif
