/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_addresses.h - assigns to each location of a batch an address for a recording, and collects the symbols and
 * lines that belong to it.
 *
 * In files with a build ID, addresses remain those in the file. In others (kernels of several machines, generated code)
 * functions of different machines may have the same address; there each function gets an address range of its own,
 * which is made up, and only an address outside of functions stays as it is. Names are borrowed from the batch. Not
 * thread-safe.
 *
 *	batch_addresses_init(&a, batch);
 *	uint64_t ip = batch_addresses_find(&a, &location);   // for all locations
 *	batch_addresses_pack(&a, &section, err);
 *	batch_addresses_deinit(&a);
 */
#ifndef TASKS_FLEET_BATCH_ADDRESSES_H
#define TASKS_FLEET_BATCH_ADDRESSES_H

#include "base/arena.h"
#include "base/map_u64.h"
#include "base/writer.h"
#include "code/binary.h"
#include "fleet/batch.h"
#include "fleet/batch_locations.h"

/* A location in a binary. */
struct batch_spot {
	uint64_t address; /* Address in the recording, relative to the binary. */
	uint64_t start, end; /* The location's function in the same address space. */
	const uint32_t *frames;
	uint32_t frame_count;
};

/* The address range of a binary. */
struct batch_region {
	struct binary_key key;
	const char *file_name; /* File name in its mapping. */
	uint64_t base; /* Start of the range in the process or the kernel; it corresponds to offset 0 of the file. */
	uint64_t size; /* Size of the part that is used. */
	uint64_t next; /* Start of the part that is free for made-up ranges. */
	bool is_used, is_kernel, keeps_addresses;
	VEC(struct batch_spot) spots;
};

struct batch_addresses {
	const struct fleet_batch *batch;
	struct arena arena; /* Memory for names. */
	struct batch_region *regions; /* Indexed by the profile's binaries. */
	/* Maps a frame to its final address. Also maps a function, or a single address outside of functions, to the
	 * start of its made-up range. */
	struct map_u64 places;
	bool failed; /* Set if memory runs out. */
};

/* Returns false if memory runs out. */
bool batch_addresses_init(struct batch_addresses *a, const struct fleet_batch *batch);
void batch_addresses_deinit(struct batch_addresses *a);
/* Returns the address of the location in the process or the kernel. */
uint64_t batch_addresses_find(struct batch_addresses *a, const struct batch_location *location);
/* Packs all locations that were found; batch_addresses_find must not be called afterwards. */
TALLY_MUST_CHECK enum tally_status batch_addresses_pack(
	struct batch_addresses *a, struct writer *section, struct tally_error *err);

#endif
