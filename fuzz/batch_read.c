/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_read.c - decodes batches from arbitrary bytes: a batch that is accepted has indexes in range and bounded
 * stacks, and has the same samples after it is written and read again.
 */
#include <stdlib.h>

#include "fleet/batch.h"

static void check_profile(const struct fleet_batch *batch)
{
	const struct profile *p = batch->profile;
	for (size_t i = 0; i < p->thread_count; i++)
		if (batch->set_of_thread[i] >= batch->set_count || p->threads[i].label_set != batch->set_of_thread[i])
			abort();
	for (size_t i = 0; i < list_table_len(&p->stacks); i++) {
		struct list stack = profile_stack(p, (uint32_t)i);
		for (uint32_t j = 0; j < stack.count; j++)
			if (stack.items[j] >= p->frame_count)
				abort();
	}
	for (size_t i = 0; i < batch->set_count; i++)
		for (size_t j = 0; j < batch->sets[i].count; j++)
			if (!label_name_is_valid(batch->sets[i].items[j].name) ||
				!label_value_is_valid(batch->sets[i].items[j].value))
				abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fleet_batch *batch, *again;
	struct text bytes = {0};
	if (fleet_batch_read((struct tally_bytes){data, size}, &batch, NULL) != TALLY_OK)
		return 0;
	check_profile(batch);
	if (fleet_batch_write(batch, NULL, &bytes, NULL) != TALLY_OK ||
		fleet_batch_read((struct tally_bytes){(const uint8_t *)bytes.data, bytes.len}, &again, NULL) !=
			TALLY_OK)
		abort();
	if (fleet_batch_sample_count(again) != fleet_batch_sample_count(batch))
		abort();
	fleet_batch_destroy(again);
	fleet_batch_destroy(batch);
	text_deinit(&bytes);
	return 0;
}
