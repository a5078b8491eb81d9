/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remapped_text.h - attributes program text that a process has moved to anonymous memory for huge pages to the file
 * that was mapped at that address before, or is mapped on both sides of it.
 *
 * It does so only if the mapping cannot be generated code, which is placed at free addresses. Used by one thread, while
 * mappings are added to a space.
 *
 *	if (remapped_text_find(space, &binaries, &mapping)) ... mapping.binary and pgoff are the file's
 */
#ifndef MACHINE_REMAPPED_TEXT_H
#define MACHINE_REMAPPED_TEXT_H

#include "machine/address_space.h"
#include "machine/binary_id.h"

/*
 * mapping is new, executable and anonymous, and not in the space yet. Returns true if it contains the program text that
 * was mapped there, because it covers whole huge pages of one mapping, or all of that mapping; then attributes it to
 * the file, by setting binary and pgoff.
 */
bool remapped_text_find(
	const struct address_space *space, const struct binary_table *binaries, struct mapping *mapping);
/*
 * mapping is new, has a file, and is in the space. Returns true if the anonymous mapping before it fills a gap between
 * mappings of that file, and attributes it to the file. This finds text that was moved before the recording began.
 */
bool remapped_text_join(
	struct address_space *space, const struct binary_table *binaries, const struct mapping *mapping);

#endif
