/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_roots.h"

#include <stdlib.h>

#include "code/binaries/binary_file.h"
#include "code/binaries/load_elf.h"
#include "code/binaries/load_unwind.h"

/* The code at the entry point of C libraries (_start) makes its call within this many bytes. */
#define STARTUP_BYTES 64

static bool load_roots_is_startup(uint64_t entry, struct tally_elf_va va)
{
	return entry && va.value >= entry && va.value - entry < STARTUP_BYTES;
}

static bool load_roots_in_table(const struct load_unwind *unwind, uint64_t address)
{
	struct tally_elf_va va;
	if (!load_unwind_va(unwind->segments, unwind->segment_count, (struct tally_file_off){address}, &va))
		return false;
	const struct unwind_rule *rule = unwind->table ? unwind_table_find(unwind->table, va.value) : NULL;
	return (rule && rule->is_root) || load_roots_is_startup(unwind->entry, va);
}

static bool has_debug_frame(const struct elf_image *image)
{
	return image && elf_image_section(image, ".debug_frame").len > 0;
}

/* Returns whether a section or file other than the program's .eh_frame has call-frame information. */
static bool load_roots_has_more(const struct binary_store_options *options, struct binary_entry *own)
{
	const char *path;
	struct elf_image *minidebug = NULL;
	if (has_debug_frame(own->image))
		return true;
	own->debug = binary_file_debug(own, options, DEBUG_FILE_FRAMES, &path);
	if (own->debug)
		return has_debug_frame(own->debug);
	bool has_more =
		elf_image_open_minidebug(own->image, &minidebug, NULL) == TALLY_OK && has_debug_frame(minidebug);
	elf_image_close(minidebug);
	return has_more;
}

static bool is_executable(const struct elf_segment *segments, size_t count, struct tally_elf_va va)
{
	for (size_t i = 0; i < count; i++)
		if (va.value >= segments[i].vaddr && va.value - segments[i].vaddr < segments[i].memory_size)
			return segments[i].is_executable;
	return false;
}

/* Returns false if the answer requires the complete unwind table. */
static bool load_roots_by_index(const struct binary_store_options *options, struct binary_entry *own,
	const uint64_t *addresses, size_t count, bool *are_roots)
{
	struct elf_frames frames;
	size_t segment_count;
	const struct elf_segment *segments = elf_image_segments(own->image, &segment_count);
	uint64_t entry = elf_image_entry(own->image);
	bool is_elsewhere = false;
	struct cfi_fde called = {0}; /* Range of code that is known to have callers. */
	if (!elf_image_eh_frame(own->image, &frames))
		return false;
	struct cfi_section section = load_unwind_eh_frame(own->image, &frames);
	section.bytes = frames.bytes;
	for (size_t i = 0; i < count; i++) {
		struct tally_elf_va va;
		uint64_t offset = 0;
		if (!load_unwind_va(segments, segment_count, (struct tally_file_off){addresses[i]}, &va))
			continue;
		enum cfi_caller caller = CFI_HAS_CALLER;
		if (va.value < called.low || va.value >= called.high) {
			enum elf_frame_found found = elf_image_frame_at(own->image, &frames, va.value, &offset);
			if (found == ELF_FRAME_NO_INDEX)
				return false;
			caller = found == ELF_FRAME_FOUND ? cfi_caller_at(&section, offset, va.value, &called)
							  : CFI_CALLER_UNKNOWN;
		}
		are_roots[i] = caller == CFI_HAS_NO_CALLER || load_roots_is_startup(entry, va);
		is_elsewhere |= caller == CFI_CALLER_UNKNOWN && is_executable(segments, segment_count, va);
	}
	return !is_elsewhere || !load_roots_has_more(options, own);
}

/* Another thread may load the entry, so the file is opened through a separate entry, as for the unwind table. */
static bool load_roots_quickly(const struct binary_store_options *options, const struct binary_entry *entry,
	const uint64_t *addresses, size_t count, bool *are_roots)
{
	struct binary_entry own = {.key = entry->key,
		.root = {.prefix = options->symfs ? options->symfs : ""},
		.is_one_of_several = atomic_load(&entry->is_one_of_several)};
	bool ok = false;
	arena_init(&own.arena);
	if (entry->key.kind == BINARY_USER && load_open_user_file(options, &own))
		ok = load_roots_by_index(options, &own, addresses, count, are_roots);
	elf_image_close(own.debug);
	elf_image_close(own.image);
	free(own.names);
	vec_free(&own.trail);
	arena_deinit(&own.arena);
	return ok;
}

void load_roots(const struct binary_store_options *options, struct binary_entry *entry, const uint64_t *addresses,
	size_t count, bool *are_roots)
{
	memset(are_roots, 0, count * sizeof(*are_roots));
	bool is_built = atomic_load_explicit(&entry->unwind.is_built, memory_order_acquire);
	if (!is_built && load_roots_quickly(options, entry, addresses, count, are_roots))
		return;
	const struct load_unwind *unwind = load_unwind(options, entry);
	for (size_t i = 0; i < count; i++)
		are_roots[i] = load_roots_in_table(unwind, addresses[i]);
}
