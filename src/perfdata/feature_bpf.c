/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature_bpf.c - reads the sections about loaded BPF programs: the kernel's information on each, and their types.
 */
#include "perfdata/feature_read.h"

#define PROGRAM_HEADER_BYTES 16

enum feature_result feature_read_bpf_programs(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, PROGRAM_HEADER_BYTES))
		return FEATURE_DAMAGED;
	struct perfdata_bpf_program *programs = arena_array(in->arena, struct perfdata_bpf_program, count);
	if (!programs)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t info_bytes = cursor_u32(c);
		uint32_t data_bytes = cursor_u32(c);
		programs[i].arrays = cursor_u64(c);
		programs[i].info = cursor_bytes(c, info_bytes);
		programs[i].data = cursor_bytes(c, data_bytes);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->bpf_programs = programs;
	in->features->bpf_program_count = count;
	return FEATURE_GOOD;
}

enum feature_result feature_read_btfs(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 8))
		return FEATURE_DAMAGED;
	struct perfdata_btf *btfs = arena_array(in->arena, struct perfdata_btf, count);
	if (!btfs)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		btfs[i].id = cursor_u32(c);
		uint32_t size = cursor_u32(c);
		btfs[i].data = cursor_bytes(c, size);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->btfs = btfs;
	in->features->btf_count = count;
	return FEATURE_GOOD;
}
