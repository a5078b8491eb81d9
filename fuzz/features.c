/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.c - decodes and encodes feature sections: a second round gives the same bytes. The first byte is the
 * feature bit, the second the byte order.
 */
#include <stdlib.h>

#include "perfdata/bpf_functions.h"
#include "perfdata/feature_encode.h"
#include "perfdata/feature_table.h"

static bool decode(
	unsigned bit, struct tally_bytes section, bool swap, struct arena *arena, struct perfdata_features *features)
{
	struct feature_input input = {.section = section, .swap = swap, .arena = arena, .features = features};
	return feature_decode(bit, &input, NULL) == TALLY_OK && features->damaged == 0;
}

static void name_functions(const struct perfdata_features *features, bool swap)
{
	struct bpf_functions *functions;
	if (bpf_functions_create(features, swap, &functions, NULL) != TALLY_OK)
		return;
	for (size_t i = 0; i < features->bpf_program_count; i++) {
		const struct perfdata_bpf_program *program = &features->bpf_programs[i];
		struct bpf_function function;
		for (size_t k = 0; bpf_function_at(functions, program, k, &function); k++)
			if (function.name.len == 0)
				abort();
	}
	bpf_functions_destroy(functions);
}

/* Decodes both features that name BPF functions from the two halves of one input. */
static void try_bpf(struct tally_bytes bytes, bool swap, struct arena *arena)
{
	struct perfdata_features both = {0};
	size_t half = bytes.len / 2;
	(void)decode(FEATURE_BPF_PROG_INFO, (struct tally_bytes){bytes.data, half}, swap, arena, &both);
	both.damaged = 0;
	(void)decode(FEATURE_BPF_BTF, (struct tally_bytes){bytes.data + half, bytes.len - half}, swap, arena, &both);
	name_functions(&both, swap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	unsigned bit = data[0];
	bool swap = (data[1] & 1) != 0;
	struct tally_bytes section = {data + 2, size - 2};
	struct arena arena;
	arena_init(&arena);
	struct perfdata_features first = {.cpus_available = 2}, second = {.cpus_available = 2};
	struct writer once = {.swap = swap}, twice = {.swap = swap};
	if (decode(bit, section, swap, &arena, &first)) {
		feature_encode(&once, bit, &first);
		if (!decode(bit, writer_view(&once), swap, &arena, &second))
			abort();
		feature_encode(&twice, bit, &second);
		if (once.len != twice.len || (once.len > 0 && memcmp(once.data, twice.data, once.len) != 0))
			abort();
	}
	name_functions(&first, swap);
	try_bpf(section, swap, &arena);
	writer_deinit(&once);
	writer_deinit(&twice);
	arena_deinit(&arena);
	return 0;
}
