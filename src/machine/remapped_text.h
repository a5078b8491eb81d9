/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remapped_text.h - names program text that a process moved to anonymous memory for huge pages by the file that was
 * mapped at that address before, or is mapped on both sides of it.
 *
 * It does so only if the mapping cannot be generated code, which is placed at free addresses. One thread, while a space
 * is fed.
 *
 *	if (remapped_text_find(space, &binaries, &mapping)) ... mapping.binary and pgoff are the file's
 */
#ifndef MACHINE_REMAPPED_TEXT_H
#define MACHINE_REMAPPED_TEXT_H

#include "machine/address_space.h"
#include "machine/binary_id.h"

/* mapping: new, executable and anonymous, not in the space yet. True: it holds the program text that was mapped there,
 * because it covers whole huge pages of one mapping, or all of that mapping. */
bool remapped_text_find(
	const struct address_space *space, const struct binary_table *binaries, struct mapping *mapping);
/* mapping: new, of a file, in the space. True: the anonymous mapping before it fills a gap between mappings of that
 * file, and gets its name. This finds text that was moved before the recording began. */
bool remapped_text_join(
	struct address_space *space, const struct binary_table *binaries, const struct mapping *mapping);

#endif
