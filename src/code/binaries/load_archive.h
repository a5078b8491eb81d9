/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_archive.h - loads the symbols of libraries that are mapped from inside an uncompressed archive (zip, Android's
 * .apk), where each library starts on a page boundary.
 *
 * The entry gets the symbols of all of them, by their offsets in the file.
 *
 *	if (load_archive(options, entry, place)) ...	false: there are none; the entry's reason says what the file is
 */
#ifndef CODE_BINARIES_LOAD_ARCHIVE_H
#define CODE_BINARIES_LOAD_ARCHIVE_H

#include "base/file.h"
#include "base/vec.h"
#include "code/binaries/search_path.h"

struct archive_image {
	struct elf_image *image; /* borrows of the map */
	uint64_t base; /* where it begins in the archive */
};

struct archive_images {
	struct file_map map;
	VEC(struct archive_image) items; /* by base; only the first ones if there are many */
};

/* After the file at the place was found to be no ELF file, which is the last step of the entry's trail. */
bool load_archive(
	const struct binary_store_options *options, struct binary_entry *entry, const struct binary_place *place);
/* Opens the libraries for their call-frame information. False: there are none. */
bool load_archive_open(const struct binary_store_options *options, struct binary_entry *entry,
	const struct binary_place *place, struct archive_images *images);
void load_archive_close(struct archive_images *images);

#endif
