#include "code/binaries/load_unwind.h"

#include <elf.h>
#include <stdlib.h>

#include "code/binaries/binary_file.h"
#include "code/binaries/load_elf.h"

#define SECTIONS 3 /* .eh_frame, .debug_frame, .debug_frame of the debug file */

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
	struct elf_section open[SECTIONS];
	struct cfi_section cfi[SECTIONS];
	size_t count;
};

static void add_section(
	struct sections *sections, const struct elf_image *image, const struct arch *arch, const char *name)
{
	struct elf_section section;
	uint64_t address;
	bool is_eh = strcmp(name, ".eh_frame") == 0;
	if (elf_section_open(image, name, &section, NULL) != TALLY_OK)
		return;
	struct cfi_section *cfi = &sections->cfi[sections->count];
	*cfi = (struct cfi_section){.bytes = section.bytes,
		.is_eh = is_eh,
		.swap = elf_image_is_swapped(image),
		.address_size = arch->pointer_bytes};
	cfi->address = elf_image_section_address(image, name);
	cfi->text_address = elf_image_section_address(image, ".text");
	address = elf_image_section_address(image, ".eh_frame_hdr");
	cfi->data_address = address ? address : elf_image_section_address(image, ".got");
	sections->open[sections->count++] = section;
}

struct unwind_table *load_unwind_image(const struct elf_image *image, const struct elf_image *debug)
{
	struct sections sections = {.count = 0};
	struct unwind_table *table = NULL;
	uint8_t pointer_bytes = elf_image_pointer_bytes(image);
	const struct arch *arch = arch_find_elf((uint16_t)elf_image_machine(image), pointer_bytes);
	if (!arch)
		return NULL;
	add_section(&sections, image, arch, ".eh_frame");
	add_section(&sections, image, arch, ".debug_frame");
	if (debug)
		add_section(&sections, debug, arch, ".debug_frame");
	struct unwind_table_source source = {.arch = arch, .sections = sections.cfi, .section_count = sections.count};
	if (unwind_table_create(&source, &table, NULL) != TALLY_OK)
		table = NULL;
	for (size_t i = 0; i < sections.count; i++)
		elf_section_close(&sections.open[i]);
	return table;
}

static void keep(const struct binary_store_options *options, struct binary_entry *own, struct load_unwind *unwind)
{
	size_t count;
	const char *path;
	const struct elf_segment *segments = elf_image_segments(own->image, &count);
	unwind->segments = count ? malloc(count * sizeof(*segments)) : NULL;
	if (!unwind->segments)
		return;
	memcpy(unwind->segments, segments, count * sizeof(*segments));
	unwind->segment_count = count;
	if (elf_image_section(own->image, ".eh_frame").len == 0)
		own->debug = binary_file_debug(own, options, DEBUG_FILE_SYMBOLS, &path);
	unwind->table = load_unwind_image(own->image, own->debug);
}

/* The entry may be loaded in another thread: the file is opened anew, as of an entry of its own. */
static void build(const struct binary_store_options *options, struct binary_entry *entry)
{
	struct binary_entry own = {.key = entry->key, .root = {.prefix = options->symfs ? options->symfs : ""}};
	const char *source = NULL;
	arena_init(&own.arena);
	if (entry->key.kind == BINARY_USER)
		source = load_open_user_file(options, &own);
	else if (entry->key.kind == BINARY_VDSO)
		source = load_open_vdso(options, &own);
	if (source)
		keep(options, &own, &entry->unwind);
	elf_image_close(own.debug);
	elf_image_close(own.image);
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
		build(options, entry);
		atomic_store_explicit(&unwind->is_built, true, memory_order_release);
	}
	pthread_mutex_unlock(&unwind->lock);
	return unwind;
}
