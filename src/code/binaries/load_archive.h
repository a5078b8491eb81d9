/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_archive.h - loads the symbols of libraries that are mapped from inside an uncompressed archive (zip, Android's
 * .apk), where each library starts on a page boundary.
 *
 * The entry gets the symbols of all libraries, at their offsets in the archive.
 *
 *	if (load_archive(options, entry, place)) ...	false: there are none; entry->text describes the file
 */
#ifndef CODE_BINARIES_LOAD_ARCHIVE_H
#define CODE_BINARIES_LOAD_ARCHIVE_H

#include "base/file.h"
#include "base/vec.h"
#include "code/binaries/search_path.h"

struct archive_image {
	struct elf_image *image; /* Borrows bytes of the map. */
	uint64_t base; /* Offset of the library in the archive. */
};

struct archive_images {
	struct file_map map;
	VEC(struct archive_image) items; /* Sorted by base; contains only the first libraries if there are very many. */
};

/* Loads the symbols of the archive at place. The last step of the entry's trail must be that the file at place is not
 * an ELF file; it is replaced by what was found in the archive. */
bool load_archive(
	const struct binary_store_options *options, struct binary_entry *entry, const struct binary_place *place);
/* Opens the libraries for their call-frame information. Returns false if there are none. */
bool load_archive_open(const struct binary_store_options *options, struct binary_entry *entry,
	const struct binary_place *place, struct archive_images *images);
void load_archive_close(struct archive_images *images);

#endif
