/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_code.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "code/binaries/kernel_files.h"
#include "code/binaries/load_module.h"
#include "object/elf/go_table.h"

#define KCORE "/proc/kcore"

static void load_code_describe(struct binary_code *code, const struct elf_image *image)
{
	code->elf_machine = elf_image_machine(image);
	code->is_64 = elf_image_pointer_bytes(image) == 8;
	const uint16_t one = 1;
	bool host_is_big = *(const uint8_t *)&one == 0;
	code->is_big_endian = elf_image_is_swapped(image) != host_is_big;
}

/* Returns the name of the section that contains a link-time address, for the heading of a listing. Sets *left to the
 * number of bytes up to the end of the section, or UINT64_MAX if it is not known. */
static const char *section_at(const struct elf_image *image, uint64_t address, uint64_t *left)
{
	*left = UINT64_MAX;
	size_t count = elf_image_section_count(image);
	for (size_t i = 0; i < count; i++) {
		struct elf_section_info info;
		if (!elf_image_section_info(image, i, &info) || !info.is_in_memory || !info.name)
			continue;
		if (!info.address || address < info.address || address - info.address >= info.size)
			continue;
		*left = info.size - (address - info.address);
		return info.name;
	}
	return ".text";
}

static enum tally_status from_program(
	struct binary_entry *entry, const struct code_range *range, struct binary_code *code, struct tally_error *err)
{
	uint64_t start = range->start, end = range->end;
	size_t count;
	if (!entry->image)
		return error_set(err, TALLY_NOT_FOUND, "%s", entry->text ? entry->text : "the file was not found");
	struct tally_bytes file = elf_image_bytes(entry->image);
	const struct elf_segment *segments = elf_image_segments(entry->image, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t inside = start - segments[i].offset;
		if (start < segments[i].offset || inside >= segments[i].file_size || start >= file.len)
			continue;
		uint64_t len = end - start, left = segments[i].file_size - inside, in_file = file.len - start;
		len = MIN(len, left);
		len = MIN(len, in_file);
		load_code_describe(code, entry->image);
		code->bytes = (struct tally_bytes){file.data + start, (size_t)len};
		code->address = segments[i].vaddr + inside;
		/* Code of unknown size ends with its section, because padding and tables follow. */
		code->section = section_at(entry->image, code->address, &left);
		if (code->bytes.len > left)
			code->bytes.len = (size_t)left;
		code->path = entry->used_path;
		code->has_symtab = elf_image_has_symtab(entry->image);
		return TALLY_OK;
	}
	return error_set(err, TALLY_NOT_FOUND, "the file has no code at this address");
}

/* Returns whether all bytes are zero: packing a dump replaces code that is not needed by zeros. */
static bool load_code_is_blank(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

static enum tally_status from_jitdump(
	struct binary_entry *entry, const struct code_range *range, struct binary_code *code, struct tally_error *err)
{
	uint64_t start = range->start, end = range->end;
	const struct jitdump_code *function = jitdump_find(&entry->jitdump, start);
	struct tally_bytes bytes = entry->jitdump.bytes;
	if (!function || start >= bytes.len || end > bytes.len || end < start)
		return error_set(err, TALLY_NOT_FOUND, "the dump has no code at this address");
	if (load_code_is_blank(bytes.data + start, (size_t)(end - start)))
		return error_set(err, TALLY_NOT_FOUND, "its code was not packed");
	const uint16_t one = 1;
	bool host_is_big = *(const uint8_t *)&one == 0;
	*code = (struct binary_code){.bytes = {bytes.data + start, (size_t)(end - start)},
		.address = function->address + (start - function->offset),
		.elf_machine = entry->jitdump.elf_machine,
		.is_64 = true,
		.is_big_endian = entry->jitdump.swap != host_is_big,
		.section = ".text",
		.path = entry->used_path};
	return TALLY_OK;
}

/* Reads code from an image of the kernel that is linked at addresses lower by moved than where it ran. */
static enum tally_status from_image(struct binary_entry *entry, const struct elf_image *image, uint64_t moved,
	const struct code_range *range, struct binary_code *code, struct tally_error *err)
{
	uint64_t start = range->start, end = range->end;
	size_t count;
	struct tally_bytes file = elf_image_bytes(image);
	const struct elf_segment *segments = elf_image_segments(image, &count);
	uint64_t address = start - moved;
	for (size_t i = 0; i < count; i++) {
		uint64_t inside = address - segments[i].vaddr;
		if (address < segments[i].vaddr || inside >= segments[i].file_size)
			continue;
		uint64_t offset = segments[i].offset + inside, left = segments[i].file_size - inside;
		if (offset >= file.len)
			break;
		uint64_t len = MIN(end - start, left);
		load_code_describe(code, image);
		code->bytes = (struct tally_bytes){file.data + offset, (size_t)MIN(len, file.len - offset)};
		code->address = start;
		code->section = section_at(image, address, &left);
		code->path = entry->code_path;
		return TALLY_OK;
	}
	return error_set(err, TALLY_NOT_FOUND, "%s has no code at this address", entry->code_path);
}

/* /proc/kcore is in this machine's byte order. Returns false if no segment contains the whole range. */
static bool find_in_kcore(int fd, const Elf64_Ehdr *header, uint64_t start, size_t len, off_t *offset)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		off_t at = (off_t)(header->e_phoff + i * sizeof(segment));
		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return false;
		uint64_t inside = start - segment.p_vaddr;
		if (segment.p_type != PT_LOAD || start < segment.p_vaddr || inside >= segment.p_filesz ||
			segment.p_filesz - inside < len)
			continue;
		*offset = (off_t)(segment.p_offset + inside);
		return true;
	}
	return false;
}

static bool read_kcore_fd(struct binary_entry *entry, int fd, uint64_t start, size_t len, struct binary_code *code)
{
	Elf64_Ehdr header;
	off_t offset;
	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
		memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
		header.e_phentsize != sizeof(Elf64_Phdr) || !find_in_kcore(fd, &header, start, len, &offset))
		return false;
	uint8_t *bytes = arena_array(&entry->arena, uint8_t, len);
	if (!bytes || pread(fd, bytes, len, offset) != (ssize_t)len)
		return false;
	*code = (struct binary_code){.bytes = {bytes, len},
		.address = start + entry->moved,
		.elf_machine = header.e_machine,
		.is_64 = true,
		.is_big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB,
		.section = "load0"};
	return true;
}

/* Reads kernel memory at its addresses in this file, which may differ from the recorded ones. Returns false if that is
 * not permitted or not present. */
static bool read_kcore(
	struct binary_entry *entry, const char *path, uint64_t start, size_t len, struct binary_code *code)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool found = read_kcore_fd(entry, fd, start, len, code);
	close(fd);
	code->path = found ? path : NULL;
	return found;
}

/* Returns the path of kcore beside the kallsyms that names came from; NULL if they came from another file. */
static const char *copied_kcore(struct binary_entry *entry)
{
	const char *list = entry->image || !entry->used_path ? NULL : entry->used_path;
	const char *slash = list ? strrchr(list, '/') : NULL;
	if (!slash || strcmp(slash, "/kallsyms") != 0)
		return NULL;
	return arena_printf(&entry->arena, "%.*s/kcore", (int)(slash - list), list);
}

static void open_kernel_image(const struct binary_store_options *options, struct binary_entry *entry)
{
	if (entry->code_is_looked_for)
		return;
	entry->code_is_looked_for = true;
	if (entry->image) {
		entry->code_path = entry->used_path;
		entry->code_moved = entry->moved;
		return;
	}
	entry->code_image = kernel_files_open(options, entry, KERNEL_FILE_NAMES, &entry->code_path);
	if (entry->code_image && entry->key.kind == BINARY_KERNEL)
		entry->code_moved = load_kernel_displacement(entry, entry->code_image);
}

static enum tally_status from_kernel(const struct binary_store_options *options, struct host_kernel *host,
	struct binary_entry *entry, const struct code_range *range, struct binary_code *code, struct tally_error *err)
{
	uint64_t start = range->start, end = range->end;
	open_kernel_image(options, entry);
	const struct elf_image *image = entry->code_image ? entry->code_image : entry->image;
	if (image && entry->key.kind == BINARY_KERNEL)
		return from_image(entry, image, entry->code_moved, range, code, err);
	const char *kcore = kernel_files_system_path(&entry->arena, options, KCORE);
	const char *copy = entry->key.kind == BINARY_KERNEL ? copied_kcore(entry) : NULL;
	bool is_short = end - start <= LIMIT_FUNCTION_BYTES;
	/* After a reboot, each module lies at another address. */
	bool is_own =
		host_kernel_is_recorded(options, host) && (entry->key.kind == BINARY_KERNEL || entry->is_loaded_now);
	if (is_short && copy && read_kcore(entry, copy, start - entry->moved, (size_t)(end - start), code))
		return TALLY_OK;
	if (is_short && is_own && kcore && read_kcore(entry, kcore, start - entry->moved, (size_t)(end - start), code))
		return TALLY_OK;
	return error_set(err, TALLY_NOT_FOUND, "no %s of the recorded build id was found%s",
		entry->key.kind == BINARY_KERNEL ? "vmlinux" : "code of the module",
		is_own ? ", and " KCORE " cannot be read (it takes CAP_SYS_RAWIO)" : "");
}

enum tally_status load_code(const struct binary_store_options *options, struct host_kernel *host,
	struct binary_entry *entry, const struct code_range *range, struct binary_code *code, struct tally_error *err)
{
	switch (entry->key.kind) {
	case BINARY_USER:
	case BINARY_VDSO:
		return from_program(entry, range, code, err);
	case BINARY_JITDUMP:
		return from_jitdump(entry, range, code, err);
	case BINARY_KERNEL:
	case BINARY_MODULE:
		return from_kernel(options, host, entry, range, code, err);
	case BINARY_PERF_MAP:
		return error_set(
			err, TALLY_NOT_FOUND, "a perf map holds the names of generated code, not its instructions");
	case BINARY_NONE:
		break;
	}
	return error_set(err, TALLY_NOT_FOUND, "there is no file");
}

/* Adds functions from the table of a Go program without .symtab, as symbolization of samples does. */
static bool add_go_names(struct binary_entry *entry)
{
	struct go_function_list list = {0};
	if (elf_image_has_symtab(entry->image) || (entry->debug && elf_image_has_symtab(entry->debug)))
		return true;
	bool ok = elf_image_go_functions(entry->image, &list, NULL) != TALLY_NOMEM;
	for (size_t i = 0; i < list.functions.len && ok; i++) {
		const struct go_function *function = &list.functions.items[i];
		ok = address_names_add_function(&entry->address_names, function->vaddr, function->size, function->name);
	}
	vec_free(&list.functions);
	return ok;
}

bool load_code_names(struct binary_entry *entry)
{
	bool ok = true;
	if (entry->names_are_made || entry->key.kind == BINARY_KERNEL || entry->key.kind == BINARY_MODULE)
		return true;
	entry->names_are_made = true;
	if (entry->debug)
		ok = address_names_add(&entry->address_names, entry->debug, entry->moved);
	if (entry->image && ok)
		ok = address_names_add(&entry->address_names, entry->image, 0) && add_go_names(entry);
	return address_names_finish(&entry->address_names) && ok;
}

void unload_code(struct binary_entry *entry)
{
	address_names_deinit(&entry->address_names);
	elf_image_close(entry->code_image);
}
