/* SPDX-License-Identifier: Apache-2.0 */
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "tally_config.h"
#if HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/array.h"
#include "base/error.h"
#include "base/limit_note.h"
#include "base/limits.h"
#include "base/vec.h"
#include "object/elf/elf_internal.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif
#define ZDEBUG_HEADER_BYTES 12 /* The header is "ZLIB" and the uncompressed size as a big-endian number. */

struct packed {
	struct tally_bytes bytes;
	uint64_t unpacked_bytes;
	uint32_t method;
};

static bool elf_section_unzlib(const struct packed *from, uint8_t *to)
{
#if HAVE_LIBDEFLATE
	/* libdeflate is two to three times as fast as zlib, and decompression takes half of the time of reading lines
	 * from a distribution's debug packages. */
	struct libdeflate_decompressor *fast = libdeflate_alloc_decompressor();
	if (fast) {
		enum libdeflate_result result = libdeflate_zlib_decompress(
			fast, from->bytes.data, from->bytes.len, to, (size_t)from->unpacked_bytes, NULL);
		libdeflate_free_decompressor(fast);
		return result == LIBDEFLATE_SUCCESS;
	}
#endif
	uLongf size = (uLongf)from->unpacked_bytes;
	return uncompress(to, &size, from->bytes.data, (uLong)from->bytes.len) == Z_OK && size == from->unpacked_bytes;
}

static bool elf_section_unzstd(const struct packed *from, uint8_t *to)
{
#if HAVE_ZSTD
	size_t size = ZSTD_decompress(to, (size_t)from->unpacked_bytes, from->bytes.data, from->bytes.len);
	return !ZSTD_isError(size) && size == from->unpacked_bytes;
#else
	(void)from;
	(void)to;
	return false;
#endif
}

/* Total size of the decompressed sections that are in memory, which is limited: many small files could exhaust
 * memory. */
static uint64_t unpacked_now;

static void elf_section_give_back(uint64_t bytes)
{
	__atomic_sub_fetch(&unpacked_now, bytes, __ATOMIC_RELAXED);
}

static bool may_unpack(const struct elf_image *image, uint64_t bytes)
{
	/* The image is const for callers, but this counter is internal. */
	uint64_t *of_file = (uint64_t *)(uintptr_t)&image->unpacked_bytes;
	uint64_t most = LIMIT_UNPACKED_SECTIONS + (uint64_t)image->bytes.len * LIMIT_UNPACKED_SECTIONS_RATIO;
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	uint64_t most_now = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes / 2 : UINT64_MAX;
	most_now = MAX(most_now, LIMIT_UNPACKED_SECTIONS);
	if (__atomic_add_fetch(of_file, bytes, __ATOMIC_RELAXED) > most) {
		__atomic_sub_fetch(of_file, bytes, __ATOMIC_RELAXED);
		return false;
	}
	if (__atomic_add_fetch(&unpacked_now, bytes, __ATOMIC_RELAXED) <= most_now)
		return true;
	__atomic_sub_fetch(&unpacked_now, bytes, __ATOMIC_RELAXED);
	return false;
}

static enum tally_status elf_section_unpack(
	const struct elf_image *image, const struct packed *from, struct elf_section *out, struct tally_error *err)
{
	if (from->unpacked_bytes > LIMIT_DEBUG_SECTION ||
		from->unpacked_bytes / LIMIT_DEBUG_SECTION_RATIO > from->bytes.len)
		return error_set(err, TALLY_LIMIT, "a section of %zu bytes claims to unpack to %llu", from->bytes.len,
			(unsigned long long)from->unpacked_bytes);
	if (!may_unpack(image, from->unpacked_bytes)) {
		limit_note("debug information of a file of %zu bytes is left out: it unpacks to more than is "
			   "plausible, or than half the memory",
			image->bytes.len);
		return error_set(err, TALLY_LIMIT, "its sections unpack to more than %u times its size",
			LIMIT_UNPACKED_SECTIONS_RATIO);
	}
	uint8_t *to = malloc(from->unpacked_bytes ? (size_t)from->unpacked_bytes : 1);
	if (!to) {
		elf_section_give_back(from->unpacked_bytes);
		return error_nomem(err);
	}
	bool is_known = from->method == ELFCOMPRESS_ZLIB || from->method == ELFCOMPRESS_ZSTD;
	if (!is_known ||
		!(from->method == ELFCOMPRESS_ZLIB ? elf_section_unzlib(from, to) : elf_section_unzstd(from, to))) {
		free(to);
		elf_section_give_back(from->unpacked_bytes);
		return is_known ? error_set(err, TALLY_CORRUPT, "a compressed section cannot be unpacked")
				: error_set(err, TALLY_UNSUPPORTED, "compression method %u of a section is unknown",
					  from->method);
	}
	*out = (struct elf_section){
		.bytes = {to, (size_t)from->unpacked_bytes}, .owned = to, .counted = from->unpacked_bytes};
	return TALLY_OK;
}

/* Opens GNU's older form of compression: the name begins with .z, and the data with a header. */
static enum tally_status open_zdebug(
	const struct elf_image *image, const char *name, struct elf_section *out, struct tally_error *err)
{
	char zname[64] = ".z";
	size_t length = strlen(name);
	if (length + 2 > sizeof(zname) || name[0] != '.')
		return error_set(err, TALLY_NOT_FOUND, "no section %s", name);
	memcpy(zname + 2, name + 1, length);
	struct tally_bytes bytes = elf_image_section(image, zname);
	if (bytes.len < ZDEBUG_HEADER_BYTES || memcmp(bytes.data, "ZLIB", 4) != 0)
		return error_set(err, TALLY_NOT_FOUND, "no section %s", name);
	struct packed packed = {.bytes = {bytes.data + ZDEBUG_HEADER_BYTES, bytes.len - ZDEBUG_HEADER_BYTES},
		.method = ELFCOMPRESS_ZLIB};
	for (size_t i = 4; i < ZDEBUG_HEADER_BYTES; i++)
		packed.unpacked_bytes = packed.unpacked_bytes << 8 | bytes.data[i];
	return elf_section_unpack(image, &packed, out, err);
}

static enum tally_status open_plain(const struct elf_image *image, const char *name, const GElf_Shdr *header,
	struct elf_section *out, struct tally_error *err)
{
	struct tally_bytes bytes = elf_internal_section_bytes(image, header);
	if (bytes.len == 0)
		return error_set(err, TALLY_NOT_FOUND, "section %s is empty", name);
	if (!(header->sh_flags & SHF_COMPRESSED)) {
		out->bytes = bytes;
		return TALLY_OK;
	}
	bool is_64 = gelf_getclass(image->elf) == ELFCLASS64;
	struct cursor c = cursor_make(bytes, image->swap);
	struct packed packed = {.method = cursor_u32(&c)};
	cursor_skip(&c, is_64 ? 4 : 0);
	packed.unpacked_bytes = is_64 ? cursor_u64(&c) : cursor_u32(&c);
	cursor_skip(&c, is_64 ? 8 : 4);
	packed.bytes = cursor_bytes(&c, cursor_left(&c));
	if (c.failed)
		return error_set(err, TALLY_CORRUPT, "compressed section %s is cut", name);
	return elf_section_unpack(image, &packed, out, err);
}

enum tally_status elf_section_open(
	const struct elf_image *image, const char *name, struct elf_section *out, struct tally_error *err)
{
	GElf_Shdr header;
	*out = (struct elf_section){.bytes = {NULL, 0}};
	Elf_Scn *section = elf_internal_section(image, name, &header);
	if (!section)
		return open_zdebug(image, name, out, err);
	enum tally_status status = open_plain(image, name, &header, out, err);
	if (status == TALLY_OK)
		status = elf_internal_relocate(image, elf_ndxscn(section), out, err);
	if (status != TALLY_OK)
		elf_section_close(out);
	return status;
}

typedef VEC(uint8_t) joined_bytes;

static bool elf_section_append(joined_bytes *to, struct tally_bytes bytes)
{
	if (bytes.len > LIMIT_DEBUG_SECTION - to->len)
		return true; /* A section that exceeds the limit is ignored. */
	if (!vec_reserve(to, to->len + bytes.len))
		return false;
	memcpy(to->items + to->len, bytes.data, bytes.len);
	to->len += bytes.len;
	return true;
}

enum tally_status elf_section_open_all(
	const struct elf_image *image, const char *name, struct elf_section *out, struct tally_error *err)
{
	GElf_Shdr header;
	enum tally_status status = elf_section_open(image, name, out, err);
	if (status != TALLY_OK)
		return status;
	joined_bytes joined = {0};
	bool is_done = true;
	Elf_Scn *section = elf_internal_section(image, name, &header);
	while (is_done && (section = elf_internal_section_after(image, name, section, &header))) {
		struct elf_section more = {.bytes = {NULL, 0}};
		is_done = joined.len > 0 || elf_section_append(&joined, out->bytes);
		if (is_done && open_plain(image, name, &header, &more, NULL) == TALLY_OK)
			is_done = elf_section_append(&joined, more.bytes);
		elf_section_close(&more);
	}
	if (joined.len > 0) {
		elf_section_close(out);
		*out = (struct elf_section){.bytes = {joined.items, joined.len}, .owned = joined.items};
	}
	if (is_done)
		return TALLY_OK;
	elf_section_close(out);
	return error_nomem(err);
}

void elf_section_close(struct elf_section *section)
{
	free(section->owned);
	elf_section_give_back(section->counted);
	*section = (struct elf_section){.bytes = {NULL, 0}};
}
