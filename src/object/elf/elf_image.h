/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_image.h - opens one ELF file and reads its segments, function symbols, build ID and debug link. Both classes and
 * both byte orders are supported.
 *
 * The caller owns the image (elf_image_close); names and slices are borrowed from it. libelf decodes the file; counts
 * and offsets are checked before use. Bad input: a file that libelf refuses is unusable; a damaged section is skipped.
 *
 *	struct elf_image *image;
 *	if (elf_image_open(path, &image, err) == TALLY_OK) ... elf_image_close(image);
 */
#ifndef OBJECT_ELF_ELF_IMAGE_H
#define OBJECT_ELF_ELF_IMAGE_H

#include <tally/status.h>

#include "base/address.h"
#include "base/bytes.h"
#include "base/vec.h"

#define ELF_BUILD_ID_MAX 20

struct elf_image;

/* A PT_LOAD segment. */
struct elf_segment {
	uint64_t offset, vaddr, file_size, memory_size;
	bool is_executable;
};

struct elf_symbol {
	uint64_t vaddr, size;
	const char *name;
	char binding; /* 'l' for local, 'g' global, 'w' weak, 'u' unique. */
	bool is_function, is_object; /* Both are false for a label. */
	bool is_resolver; /* It is the resolver of an IFUNC: a function that returns the address of the one to call. */
	uint32_t section; /* Section index; values from 0xff00 (SHN_LORESERVE) on are not sections. */
};

struct elf_build_id {
	uint8_t size; /* 0 if there is no build ID. */
	uint8_t bytes[ELF_BUILD_ID_MAX];
};

/* Identity of the file that was read, which distinguishes files with the same build ID. */
struct elf_origin {
	uint64_t device, inode, bytes, mtime_ns;
	uint64_t head; /* Checksum of its first page, which has the headers and usually the notes. */
};

struct elf_symbol_list {
	VEC(struct elf_symbol) symbols;
	/* Set by the caller: includes labels in sections without code or data ("_end"), and hidden ones. */
	bool with_all_labels;
};

/* A slot that the dynamic linker fills with a symbol's address. */
struct elf_reference {
	uint64_t slot;
	uint64_t value; /* Address of the symbol; slot if the symbol is defined in another file. */
	const char *name; /* Symbol name with its version. */
	bool is_jump; /* The PLT jumps through the slot. */
};

struct elf_reference_list {
	VEC(struct elf_reference) references;
};

struct elf_plt_entry {
	uint64_t vaddr, size;
	/* Name of the function; NULL for the PLT's header, or if the function is chosen by the code at resolver. */
	const char *target;
	uint64_t resolver;
	bool is_header;
};

struct elf_section {
	struct tally_bytes bytes;
	uint8_t *owned; /* The buffer to free; NULL if bytes belong to the image. */
	/* Number of decompressed bytes that count towards the process-wide limit until the section is closed. */
	uint64_t counted;
};

struct elf_section_info {
	const char *name;
	uint64_t address; /* Address as in the file; 0 in relocatable files. */
	uint64_t size, alignment;
	bool is_in_memory, is_executable;
};

/* The section .eh_frame. */
struct elf_frames {
	struct tally_bytes bytes;
	uint64_t address;
	uint64_t header_address; /* Address of .eh_frame_hdr; 0 if there is none. */
	bool ends_at_zero; /* The size of the section is not known: it ends at its terminating entry. */
};

struct elf_plt {
	VEC(struct elf_plt_entry) entries;
};

/* Opens a file, which may be compressed as a whole (.ko.xz, .ko.zst, .ko.gz). */
TALLY_MUST_CHECK enum tally_status elf_image_open(const char *path, struct elf_image **image, struct tally_error *err);
/* Opens the file of a descriptor; path is used in messages. The caller still owns fd, and may close it after the
 * call. */
TALLY_MUST_CHECK enum tally_status elf_image_open_fd(
	int fd, const char *path, struct elf_image **image, struct tally_error *err);
/* Opens an image in memory; bytes must outlive the image. */
TALLY_MUST_CHECK enum tally_status elf_image_open_bytes(
	struct tally_bytes bytes, struct elf_image **image, struct tally_error *err);
void elf_image_close(struct elf_image *image);

const struct elf_segment *elf_image_segments(const struct elf_image *image, size_t *count);
struct elf_build_id elf_image_build_id(const struct elf_image *image);
unsigned elf_image_machine(const struct elf_image *image); /* e_machine */
/* Returns e_entry, the link-time address of the entry point; 0 if there is none. */
uint64_t elf_image_entry(const struct elf_image *image);
/* Returns the distance from addresses in the debug file to those in image: prelink moves a program, but not its debug
 * file. */
uint64_t elf_image_moved(const struct elf_image *image, const struct elf_image *debug);
/* Returns whether the file ends before its sections do. */
bool elf_image_is_cut(const struct elf_image *image);
/* Returns false if the file at path was written or truncated since it was opened. */
bool elf_image_is_unchanged(const struct elf_image *image, const char *path);
/* Hints that the file will probably not be read again, so that its pages leave this process's memory. */
void elf_image_drop(const struct elf_image *image);
uint8_t elf_image_pointer_bytes(const struct elf_image *image);
bool elf_image_has_symtab(const struct elf_image *image);
/* Reads the symbols of .symtab, or those of .dynsym if there is no .symtab. The caller frees list->symbols with
 * vec_free; names are borrowed from the image. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status elf_image_symbols(
	struct elf_image *image, struct elf_symbol_list *list, struct tally_error *err);
/* Does the same; symbols of .dynsym have their versions: "free@@GLIBC_2.2.5". */
TALLY_MUST_CHECK enum tally_status elf_image_versioned_symbols(
	struct elf_image *image, struct elf_symbol_list *list, struct tally_error *err);
/* Reads the slots of the relocations, in file order. The caller frees list->references with vec_free. NOMEM is the only
 * error. */
TALLY_MUST_CHECK enum tally_status elf_image_references(
	struct elf_image *image, struct elf_reference_list *list, struct tally_error *err);
/* Reads the entries of .plt and, on x86, of .plt.sec, .plt.got and .iplt that have a known target, and the PLT's
 * header. The caller frees plt->entries with vec_free. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status elf_image_plt(struct elf_image *image, struct elf_plt *plt, struct tally_error *err);
/* Opens the compressed symbols in .gnu_debugdata of a stripped file as a separate image, which the caller closes.
 * NOT_FOUND: there are none; UNSUPPORTED: this build has no liblzma. */
TALLY_MUST_CHECK enum tally_status elf_image_open_minidebug(
	const struct elf_image *image, struct elf_image **out, struct tally_error *err);
/* Returns false if the file has no .eh_frame. */
bool elf_image_eh_frame(const struct elf_image *image, struct elf_frames *frames);
enum elf_frame_found { ELF_FRAME_NO_INDEX, ELF_FRAME_NONE, ELF_FRAME_FOUND };
/* Finds the offset of the frame entry that covers an address, or is the last one before it, in the search table of
 * .eh_frame_hdr. NO_INDEX: there is no table of the usual format; NONE: all entries are for code after the address. */
enum elf_frame_found elf_image_frame_at(
	const struct elf_image *image, const struct elf_frames *frames, uint64_t address, uint64_t *offset);
/* Reads the file name and CRC of .gnu_debuglink; returns false if there is none. */
bool elf_image_debuglink(const struct elf_image *image, struct tally_str *name, uint32_t *crc);
/* Returns the bytes of a section by name; len is 0 if it is missing or has no bytes in the file. */
struct tally_bytes elf_image_section(const struct elf_image *image, const char *name);
/* Returns the link-time address of a section; 0 if there is none or it is not in memory. */
uint64_t elf_image_section_address(const struct elf_image *image, const char *name);
/* Opens the contents of a section, decompressed if needed (SHF_COMPRESSED by zlib or zstd, or .zdebug_*). They are
 * borrowed from the image unless owned, and must be closed before the image. NOT_FOUND, CORRUPT, LIMIT, UNSUPPORTED. */
TALLY_MUST_CHECK enum tally_status elf_section_open(
	const struct elf_image *image, const char *name, struct elf_section *section, struct tally_error *err);
/* Opens all sections with this name, concatenated: an object file has one for each type that other files may describe,
 * too. */
TALLY_MUST_CHECK enum tally_status elf_section_open_all(
	const struct elf_image *image, const char *name, struct elf_section *section, struct tally_error *err);
void elf_section_close(struct elf_section *section);
/* Sets the addresses of the sections, by index, of a relocatable file (a kernel module), which has none itself; 0: the
 * section is not in memory. Symbols and debug sections that are opened afterwards have these addresses. The array is
 * copied; the only failure is NOMEM. */
TALLY_MUST_CHECK enum tally_status elf_image_place_sections(
	struct elf_image *image, const uint64_t *addresses, size_t count, struct tally_error *err);
bool elf_image_is_relocatable(const struct elf_image *image);
size_t elf_image_section_count(const struct elf_image *image);
/* Returns false if there is no such section. */
bool elf_image_section_info(const struct elf_image *image, size_t index, struct elf_section_info *info);
/* Returns the whole file, decompressed if it is stored compressed. */
struct tally_bytes elf_image_bytes(const struct elf_image *image);
bool elf_image_is_swapped(const struct elf_image *image);
struct elf_origin elf_image_origin(const struct elf_image *image);
/* Returns the build ID in a note section or segment (also /sys/kernel/notes); its size is 0 if there is none. */
struct elf_build_id elf_notes_build_id(struct tally_bytes notes, bool swap);
/* Reads the build ID of a file. NOT_FOUND: it has none. */
TALLY_MUST_CHECK enum tally_status elf_file_build_id(
	const char *path, struct elf_build_id *id, struct tally_error *err);

#endif
