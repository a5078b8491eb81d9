/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_image.h - opens one ELF file and reads its segments, function symbols, build ID and debug link. Any class, either
 * byte order.
 *
 * The caller owns the image (elf_image_close); names and slices are borrowed from it. libelf does the decoding; counts
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

struct elf_segment { /* PT_LOAD */
	uint64_t offset, vaddr, file_size, memory_size;
	bool is_executable;
};

struct elf_symbol {
	uint64_t vaddr, size;
	const char *name;
	char binding; /* 'l' 'g' 'w' 'u' */
	bool is_function, is_object; /* neither: a label */
	bool is_resolver; /* of an IFUNC: a function that says which one to call */
	uint32_t section; /* its index; from 0xff00 on: none */
};

struct elf_build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[ELF_BUILD_ID_MAX];
};

struct elf_origin { /* which file was read: another one with the same build id has another */
	uint64_t device, inode, bytes, mtime_ns;
	uint64_t head; /* checksum of its first page: headers, and notes where they usually are */
};

struct elf_symbol_list {
	VEC(struct elf_symbol) symbols;
	bool with_all_labels; /* set by the caller: also those of sections without code or data ("_end"), and hidden ones */
};

struct elf_reference { /* a slot that the dynamic linker fills with a symbol's address */
	uint64_t slot;
	uint64_t value; /* the symbol's address; the slot's where it is defined elsewhere */
	const char *name; /* with its version */
	bool is_jump; /* of the PLT */
};

struct elf_reference_list {
	VEC(struct elf_reference) references;
};

struct elf_plt_entry {
	uint64_t vaddr, size;
	const char *target; /* function's name; NULL: the function that the code at resolver chooses, or the header */
	uint64_t resolver;
	bool is_header;
};

struct elf_section {
	struct tally_bytes bytes;
	uint8_t *owned; /* NULL: bytes are the image's */
	uint64_t counted; /* bytes of what is unpacked in this run, until it is closed */
};

struct elf_section_info {
	const char *name;
	uint64_t address; /* as the file has it; 0 in relocatable files */
	uint64_t size, alignment;
	bool is_in_memory, is_executable;
};

struct elf_frames { /* .eh_frame */
	struct tally_bytes bytes;
	uint64_t address;
	uint64_t header_address; /* of .eh_frame_hdr; 0: there is none */
	bool ends_at_zero; /* its size is not known: its terminating entry ends it */
};

struct elf_plt {
	VEC(struct elf_plt_entry) entries;
};

/* Also of a file that is compressed as a whole (.ko.xz, .ko.zst, .ko.gz). */
TALLY_MUST_CHECK enum tally_status elf_image_open(const char *path, struct elf_image **image, struct tally_error *err);
/* The same for what is open; path is for messages. fd stays the caller's. */
TALLY_MUST_CHECK enum tally_status elf_image_open_fd(
	int fd, const char *path, struct elf_image **image, struct tally_error *err);
/* bytes outlive the image. */
TALLY_MUST_CHECK enum tally_status elf_image_open_bytes(
	struct tally_bytes bytes, struct elf_image **image, struct tally_error *err);
void elf_image_close(struct elf_image *image);

const struct elf_segment *elf_image_segments(const struct elf_image *image, size_t *count);
struct elf_build_id elf_image_build_id(const struct elf_image *image);
unsigned elf_image_machine(const struct elf_image *image); /* e_machine */
uint64_t elf_image_entry(const struct elf_image *image); /* e_entry: link-time address where it begins; 0: nowhere */
/* The distance from addresses in the debug file to those in image: prelink moves a program, but not its debug file. */
uint64_t elf_image_moved(const struct elf_image *image, const struct elf_image *debug);
/* The file ends before its sections do. */
bool elf_image_is_cut(const struct elf_image *image);
/* False: the file, at path, was written or cut since it was opened. */
bool elf_image_is_unchanged(const struct elf_image *image, const char *path);
/* Tells the kernel that little of the image will be read again: its pages leave this process's memory. */
void elf_image_drop(const struct elf_image *image);
uint8_t elf_image_pointer_bytes(const struct elf_image *image);
bool elf_image_has_symtab(const struct elf_image *image);
/* The symbols of .symtab, or those of .dynsym if there is no .symtab; the only failure is NOMEM. */
TALLY_MUST_CHECK enum tally_status elf_image_symbols(
	struct elf_image *image, struct elf_symbol_list *list, struct tally_error *err);
/* The same; those of .dynsym have their versions: "free@@GLIBC_2.2.5". */
TALLY_MUST_CHECK enum tally_status elf_image_versioned_symbols(
	struct elf_image *image, struct elf_symbol_list *list, struct tally_error *err);
/* By relocation, in the file's order; NOMEM only. */
TALLY_MUST_CHECK enum tally_status elf_image_references(
	struct elf_image *image, struct elf_reference_list *list, struct tally_error *err);
/* Entries of .plt, .plt.sec and .plt.got whose target is known, and the PLT's header; NOMEM only. */
TALLY_MUST_CHECK enum tally_status elf_image_plt(struct elf_image *image, struct elf_plt *plt, struct tally_error *err);
/* The symbols that a stripped file carries compressed in .gnu_debugdata, as an image of its own, which the caller
 * closes; NOT_FOUND if it has none, UNSUPPORTED if this build has no liblzma. */
TALLY_MUST_CHECK enum tally_status elf_image_open_minidebug(
	const struct elf_image *image, struct elf_image **out, struct tally_error *err);
/* False if the file has none. */
bool elf_image_eh_frame(const struct elf_image *image, struct elf_frames *frames);
enum elf_frame_found { ELF_FRAME_NO_INDEX, ELF_FRAME_NONE, ELF_FRAME_FOUND };
/* The offset of the frame entry that covers an address or ends before it, from the search table of .eh_frame_hdr.
 * NO_INDEX: there is no table of the usual format; NONE: all entries are for code after the address. */
enum elf_frame_found elf_image_frame_at(
	const struct elf_image *image, const struct elf_frames *frames, uint64_t address, uint64_t *offset);
/* File name and CRC of .gnu_debuglink; false if there is none. */
bool elf_image_debuglink(const struct elf_image *image, struct tally_str *name, uint32_t *crc);
/* Bytes of a section by name; len 0 if it is missing or has none in the file. */
struct tally_bytes elf_image_section(const struct elf_image *image, const char *name);
/* Link-time address of a section; 0 if there is none or it is not in memory. */
uint64_t elf_image_section_address(const struct elf_image *image, const char *name);
/* The contents of a section, decompressed if needed (SHF_COMPRESSED by zlib or zstd, or .zdebug_*). They are borrowed
 * from the image unless owned, and must be closed before the image. NOT_FOUND, CORRUPT, LIMIT, UNSUPPORTED. */
TALLY_MUST_CHECK enum tally_status elf_section_open(
	const struct elf_image *image, const char *name, struct elf_section *section, struct tally_error *err);
/* All sections of this name, concatenated: an object file has one for each type that other files may describe, too. */
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
/* False: there is no such section. */
bool elf_image_section_info(const struct elf_image *image, size_t index, struct elf_section_info *info);
/* The whole file; unpacked if it is stored compressed. */
struct tally_bytes elf_image_bytes(const struct elf_image *image);
bool elf_image_is_swapped(const struct elf_image *image);
struct elf_origin elf_image_origin(const struct elf_image *image);
/* The build id in a note section or segment (also /sys/kernel/notes); size 0 if none. */
struct elf_build_id elf_notes_build_id(struct tally_bytes notes, bool swap);
/* Opens, looks and closes. NOT_FOUND if the file has no build id. */
TALLY_MUST_CHECK enum tally_status elf_file_build_id(
	const char *path, struct elf_build_id *id, struct tally_error *err);

#endif
