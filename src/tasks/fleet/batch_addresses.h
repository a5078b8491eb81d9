/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_addresses.h - gives each location of a batch an address at which a recording can have it, and collects the
 * symbols and lines that belong there.
 *
 * In files with a build ID, addresses stay what they are in the file. Elsewhere (kernels of several machines, generated
 * code) functions of different machines may share an address; there each function gets a place of its own, and only an
 * address without a function stays. Names are borrowed from the batch. One thread.
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

struct batch_spot { /* a location in a binary */
	uint64_t address; /* as the recording has it, in the binary */
	uint64_t start, end; /* of its function there */
	const uint32_t *frames;
	uint32_t frame_count;
};

struct batch_region { /* where a binary is mapped */
	struct binary_key key;
	const char *file_name; /* of its mapping */
	uint64_t base; /* in the process or the kernel; its first byte is offset 0 of the file */
	uint64_t size; /* of what is used */
	uint64_t next; /* the next place that is free; only where places are made up */
	bool is_used, is_kernel, keeps_addresses;
	VEC(struct batch_spot) spots;
};

struct batch_addresses {
	const struct fleet_batch *batch;
	struct arena arena; /* of names */
	struct batch_region *regions; /* by the profile's binaries */
	struct map_u64 places; /* by function: where it begins */
	bool failed; /* out of memory */
};

/* False: out of memory. */
bool batch_addresses_init(struct batch_addresses *a, const struct fleet_batch *batch);
void batch_addresses_deinit(struct batch_addresses *a);
/* In the process or the kernel. */
uint64_t batch_addresses_find(struct batch_addresses *a, const struct batch_location *location);
/* Of all locations that were looked up; after it no more may be. */
TALLY_MUST_CHECK enum tally_status batch_addresses_pack(
	struct batch_addresses *a, struct writer *section, struct tally_error *err);

#endif
