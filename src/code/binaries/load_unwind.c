/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_unwind.h"

#include <elf.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "code/binaries/binary_file.h"
#include "code/binaries/load_elf.h"
#include "code/binaries/load_jit.h"

#define X86_PLT_ENTRY	 16
#define X86_PUSH_BYTES	 5
#define X86_HEADER_PUSH	 6
#define AARCH64_PLT_PUSH UINT32_C(0xa9bf7bf0) /* stp x16, x30, [sp, #-16]! */

void load_unwind_init(struct load_unwind *unwind)
{
	pthread_mutex_init(&unwind->lock, NULL);
	atomic_init(&unwind->is_built, false);
}

void load_unwind_deinit(struct load_unwind *unwind)
{
	unwind_table_destroy(unwind->table);
	free(unwind->segments);
	pthread_mutex_destroy(&unwind->lock);
}

struct sections {
	VEC(struct elf_section) open;
	VEC(struct cfi_section) cfi;
	uint64_t moved; /* Added to all addresses, because all libraries of an archive are linked at 0. */
	bool failed; /* Memory ran out. */
};

static void load_unwind_add_section(struct sections *sections, struct elf_section *open, const struct cfi_section *cfi)
{
	struct cfi_section moved = *cfi;
	moved.bytes = open->bytes;
	moved.address += sections->moved;
	moved.data_address += moved.data_address ? sections->moved : 0;
	moved.text_address += sections->moved;
	if (!vec_push(&sections->open, *open)) {
		sections->failed = true;
		elf_section_close(open);
	} else if (!vec_push(&sections->cfi, moved)) {
		sections->failed = true;
	}
}

bool load_unwind_va(
	const struct elf_segment *segments, size_t count, struct tally_file_off offset, struct tally_elf_va *va)
{
	for (size_t i = 0; i < count; i++) {
		if (offset.value >= segments[i].offset && offset.value - segments[i].offset < segments[i].file_size) {
			va->value = offset.value - segments[i].offset + segments[i].vaddr;
			return true;
		}
	}
	return false;
}

struct cfi_section load_unwind_eh_frame(const struct elf_image *image, const struct elf_frames *frames)
{
	return (struct cfi_section){.is_eh = true,
		.ends_at_zero = frames->ends_at_zero,
		.swap = elf_image_is_swapped(image),
		.address_size = elf_image_pointer_bytes(image),
		.address = frames->address,
		.text_address = elf_image_section_address(image, ".text"),
		.data_address =
			frames->header_address ? frames->header_address : elf_image_section_address(image, ".got")};
}

static bool add_eh_frame(struct sections *sections, const struct elf_image *image)
{
	struct elf_frames frames;
	if (!elf_image_eh_frame(image, &frames))
		return false;
	struct cfi_section cfi = load_unwind_eh_frame(image, &frames);
	struct elf_section open = {.bytes = frames.bytes};
	load_unwind_add_section(sections, &open, &cfi);
	return true;
}

static void add_debug_frame(struct sections *sections, const struct elf_image *image, struct cfi_section cfi)
{
	struct elf_section open;
	if (elf_section_open(image, ".debug_frame", &open, NULL) == TALLY_OK)
		load_unwind_add_section(sections, &open, &cfi);
}

struct stubs { /* Frames of code without call-frame information. */
	VEC(struct unwind_stub) items;
	VEC(struct go_frame) go_frames;
	const struct arch *arch;
};

static bool load_unwind_add_stub(struct stubs *stubs, uint64_t low, uint64_t high, int64_t cfa_offset)
{
	struct unwind_stub stub = {.low = low, .high = high, .cfa_offset = cfa_offset};
	return vec_push(&stubs->items, stub);
}

/* A PLT entry jumps or, before its target is resolved, pushes an index and jumps to the header, which pushes one more
 * word. */
static bool add_x86_entry(struct stubs *stubs, const uint8_t *code, uint64_t vaddr)
{
	int64_t word = stubs->arch->pointer_bytes;
	uint64_t end = vaddr + X86_PLT_ENTRY;
	if (code[0] == 0xff && (code[1] == 0x35 || code[1] == 0xb3))
		return load_unwind_add_stub(stubs, vaddr, vaddr + X86_HEADER_PUSH, 2 * word) &&
		       load_unwind_add_stub(stubs, vaddr + X86_HEADER_PUSH, end, 3 * word);
	for (uint64_t i = 0; i + X86_PUSH_BYTES < X86_PLT_ENTRY; i++) {
		/* The push is at the beginning, after endbr64 (4 bytes), or after the jump (6 bytes). */
		bool is_start = i == 0 || i == 4 || i == 6;
		if (code[i] == 0x68 && is_start)
			return load_unwind_add_stub(stubs, vaddr, vaddr + i + X86_PUSH_BYTES, word) &&
			       load_unwind_add_stub(stubs, vaddr + i + X86_PUSH_BYTES, end, 2 * word);
	}
	return load_unwind_add_stub(stubs, vaddr, end, word);
}

/* The PLT header pushes registers; entries only jump, and the return address remains in the link register. */
static bool add_linked_plt(struct stubs *stubs, const struct tally_bytes *code, uint64_t vaddr, bool swap)
{
	struct cursor c = cursor_make(*code, swap);
	uint64_t pushed = 0;
	for (unsigned i = 0; i < 2 && stubs->arch == &arch_aarch64 && pushed == 0; i++)
		if (cursor_u32(&c) == AARCH64_PLT_PUSH)
			pushed = c.pos;
	if (pushed == 0 || code->len <= 32)
		return load_unwind_add_stub(stubs, vaddr, vaddr + code->len, 0);
	return load_unwind_add_stub(stubs, vaddr, vaddr + pushed, 0) &&
	       load_unwind_add_stub(stubs, vaddr + pushed, vaddr + 32, 16) &&
	       load_unwind_add_stub(stubs, vaddr + 32, vaddr + code->len, 0);
}

/* Adds rules for the code of the PLT, because some linkers (lld) give it no call-frame information. */
static bool load_unwind_add_plt(struct stubs *stubs, const struct elf_image *image)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	bool ok = true;
	for (size_t i = 0; i < ARRAY_LEN(names) && ok; i++) {
		struct tally_bytes code = elf_image_section(image, names[i]);
		uint64_t vaddr = elf_image_section_address(image, names[i]);
		if (code.len == 0 || vaddr == 0)
			continue;
		if (stubs->arch->dwarf_link != ARCH_NO_DWARF)
			ok = add_linked_plt(stubs, &code, vaddr, elf_image_is_swapped(image));
		else if (strcmp(names[i], ".plt.got") == 0 || strcmp(names[i], ".plt.sec") == 0)
			ok = load_unwind_add_stub(stubs, vaddr, vaddr + code.len, stubs->arch->pointer_bytes);
		else
			for (size_t at = 0; at + X86_PLT_ENTRY <= code.len && ok; at += X86_PLT_ENTRY)
				ok = add_x86_entry(stubs, code.data + at, vaddr + at);
	}
	return ok;
}

/* The aarch64 kernel has no call-frame information for its signal trampoline on purpose, so it is recognized by name.
 * The instruction before it gets the rule, because the handler seems to have been called from there. */
static bool add_trampoline(struct stubs *stubs, struct elf_image *image)
{
	struct elf_symbol_list list = {0};
	bool ok = elf_image_symbols(image, &list, NULL) == TALLY_OK;
	for (size_t i = 0; i < list.symbols.len && ok; i++) {
		const struct elf_symbol *symbol = &list.symbols.items[i];
		struct unwind_stub stub = {.low = symbol->vaddr - 4, .high = symbol->vaddr + 8, .is_signal = true};
		if (strcmp(symbol->name, "__kernel_rt_sigreturn") == 0)
			ok = vec_push(&stubs->items, stub);
	}
	vec_free(&list.symbols);
	return ok;
}

static bool add_go_frame(void *context, const struct go_frame *frame)
{
	struct stubs *stubs = context;
	return vec_push(&stubs->go_frames, *frame);
}

static int load_unwind_by_low(const void *a, const void *b)
{
	const struct unwind_stub *left = a;
	const struct unwind_stub *right = b;
	return COMPARE(left->low, right->low);
}

static struct unwind_table *load_unwind_make_table(struct sections *sections, struct stubs *stubs)
{
	struct unwind_table *table = NULL;
	if (stubs->items.len > 0)
		qsort(stubs->items.items, stubs->items.len, sizeof(*stubs->items.items), load_unwind_by_low);
	struct unwind_table_source source = {.arch = stubs->arch,
		.sections = sections->cfi.items,
		.section_count = sections->cfi.len,
		.stubs = stubs->items.items,
		.stub_count = stubs->items.len,
		.go_frames = stubs->go_frames.items,
		.go_frame_count = stubs->go_frames.len};
	if (sections->failed || unwind_table_create(&source, &table, NULL) != TALLY_OK)
		table = NULL;
	for (size_t i = 0; i < sections->open.len; i++)
		elf_section_close(&sections->open.items[i]);
	vec_free(&sections->open);
	vec_free(&sections->cfi);
	vec_free(&stubs->items);
	vec_free(&stubs->go_frames);
	return table;
}

struct unwind_table *load_unwind_image(
	struct elf_image *image, const struct elf_image *const *others, size_t other_count, bool is_vdso)
{
	struct sections sections = {0};
	uint8_t pointer_bytes = elf_image_pointer_bytes(image);
	struct stubs stubs = {.arch = arch_find_elf((uint16_t)elf_image_machine(image), pointer_bytes)};
	struct cfi_section cfi = {.swap = elf_image_is_swapped(image), .address_size = pointer_bytes};
	if (!stubs.arch)
		return NULL;
	bool has_eh_frame = add_eh_frame(&sections, image);
	add_debug_frame(&sections, image, cfi);
	for (size_t i = 0; i < other_count && i < LOAD_UNWIND_OTHERS; i++) {
		has_eh_frame = has_eh_frame || add_eh_frame(&sections, others[i]);
		add_debug_frame(&sections, others[i], cfi);
	}
	sections.failed |= !load_unwind_add_plt(&stubs, image);
	/* An incomplete set of frames is still useful, so the result is ignored. */
	go_frames_each(image, add_go_frame, &stubs);
	if (is_vdso && stubs.arch == &arch_aarch64)
		sections.failed |= !add_trampoline(&stubs, image);
	return load_unwind_make_table(&sections, &stubs);
}

#define GO_TABLE_SHARE 4 /* Values of the stack pointer occupy less than a fourth of Go's function table. */
/* Building a table needs up to this many bytes of memory per byte of call-frame information. */
#define BYTES_OF_TABLE 4

static bool is_too_large(const struct binary_store_options *options, const struct elf_image *image)
{
	struct elf_frames frames;
	uint64_t bytes = elf_image_eh_frame(image, &frames) && !frames.ends_at_zero ? frames.bytes.len : 0;
	bytes += elf_image_section(image, ".debug_frame").len;
	bytes += elf_image_section(image, ".gopclntab").len / GO_TABLE_SHARE;
	return options->unwind_bytes > 0 && bytes > options->unwind_bytes / BYTES_OF_TABLE;
}

static void load_unwind_keep(
	const struct binary_store_options *options, struct binary_entry *own, struct load_unwind *unwind)
{
	size_t count;
	const char *path;
	const struct elf_segment *segments = elf_image_segments(own->image, &count);
	unwind->segments = count ? malloc(count * sizeof(*segments)) : NULL;
	if (!unwind->segments)
		return;
	memcpy(unwind->segments, segments, count * sizeof(*segments));
	unwind->segment_count = count;
	unwind->entry = elf_image_entry(own->image);
	unwind->is_refused = is_too_large(options, own->image);
	if (unwind->is_refused)
		return;
	/* A file may have call-frame information for only a part of its code. For each address, the first section that
	 * covers it is used. */
	const struct elf_image *others[LOAD_UNWIND_OTHERS];
	size_t other_count = 0;
	struct elf_image *minidebug = NULL;
	own->debug = binary_file_debug(own, options, DEBUG_FILE_FRAMES, &path);
	if (own->debug && !is_too_large(options, own->debug))
		others[other_count++] = own->debug;
	if (!own->debug && elf_image_open_minidebug(own->image, &minidebug, NULL) == TALLY_OK)
		others[other_count++] = minidebug;
	unwind->table = load_unwind_image(own->image, others, other_count, own->key.kind == BINARY_VDSO);
	elf_image_close(minidebug);
}

/* Each library of an archive is moved to its own range of addresses, so that libraries do not overlap. */
#define ARCHIVE_ROOM_BITS 40

static bool add_moved_segments(struct load_unwind *unwind, const struct archive_image *one, uint64_t moved)
{
	size_t count;
	const struct elf_segment *from = elf_image_segments(one->image, &count);
	struct elf_segment *all = realloc(unwind->segments, (unwind->segment_count + count + 1) * sizeof(*all));
	if (!all)
		return false;
	unwind->segments = all;
	for (size_t i = 0; i < count; i++) {
		struct elf_segment segment = from[i];
		segment.vaddr += moved;
		segment.offset += one->base;
		all[unwind->segment_count++] = segment;
	}
	return true;
}

static void keep_archive(
	const struct binary_store_options *options, const struct archive_images *images, struct load_unwind *unwind)
{
	struct sections sections = {0};
	const struct elf_image *first = images->items.items[0].image;
	uint8_t pointer_bytes = elf_image_pointer_bytes(first);
	struct stubs stubs = {.arch = arch_find_elf((uint16_t)elf_image_machine(first), pointer_bytes)};
	for (size_t i = 0; stubs.arch && i < images->items.len; i++) {
		const struct archive_image *one = &images->items.items[i];
		size_t stub = stubs.items.len;
		sections.moved = (i + 1) << ARCHIVE_ROOM_BITS;
		if (elf_image_machine(one->image) != elf_image_machine(first) || is_too_large(options, one->image))
			continue;
		(void)add_eh_frame(&sections, one->image);
		sections.failed |=
			!load_unwind_add_plt(&stubs, one->image) || !add_moved_segments(unwind, one, sections.moved);
		for (; stub < stubs.items.len; stub++) {
			stubs.items.items[stub].low += sections.moved;
			stubs.items.items[stub].high += sections.moved;
		}
	}
	if (stubs.arch)
		unwind->table = load_unwind_make_table(&sections, &stubs);
}

/* Builds the table of a dump of generated code, in which addresses are offsets. */
static void build_generated(
	const struct binary_store_options *options, const struct binary_entry *entry, struct load_unwind *unwind)
{
	unwind->segments = malloc(sizeof(*unwind->segments));
	if (!unwind->segments)
		return;
	*unwind->segments = (struct elf_segment){.file_size = UINT64_MAX};
	unwind->segment_count = 1;
	unwind->table = load_jit_unwind(options, &entry->key);
}

/* Another thread may load the entry, so the file is opened through a separate entry. */
static void load_unwind_build(const struct binary_store_options *options, struct binary_entry *entry)
{
	struct binary_entry own = {.key = entry->key,
		.root = {.prefix = options->symfs ? options->symfs : ""},
		.is_one_of_several = atomic_load(&entry->is_one_of_several)};
	const char *source = NULL;
	struct archive_images images;
	arena_init(&own.arena);
	if (entry->key.kind == BINARY_USER)
		source = load_open_user_file(options, &own);
	else if (entry->key.kind == BINARY_VDSO)
		source = load_open_vdso(options, &own);
	else if (entry->key.kind == BINARY_JITDUMP)
		build_generated(options, entry, &entry->unwind);
	if (source)
		load_unwind_keep(options, &own, &entry->unwind);
	else if (entry->key.kind == BINARY_USER && load_open_user_archive(options, &own, &images)) {
		keep_archive(options, &images, &entry->unwind);
		load_archive_close(&images);
	}
	elf_image_close(own.debug);
	elf_image_close(own.image);
	free(own.names);
	vec_free(&own.trail);
	arena_deinit(&own.arena);
}

const struct load_unwind *load_unwind(const struct binary_store_options *options, struct binary_entry *entry)
{
	struct load_unwind *unwind = &entry->unwind;
	if (atomic_load_explicit(&unwind->is_built, memory_order_acquire))
		return unwind;
	pthread_mutex_lock(&unwind->lock);
	if (!atomic_load_explicit(&unwind->is_built, memory_order_relaxed)) {
		load_unwind_build(options, entry);
		atomic_store_explicit(&unwind->is_built, true, memory_order_release);
	}
	pthread_mutex_unlock(&unwind->lock);
	return unwind;
}
