/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remapped_text.h - names program text that a process moved to anonymous memory for huge pages by the file that was
 * mapped at that address before, or is mapped on both sides of it.
 *
 * Only where nothing else can be meant: generated code takes a free place. One thread, while a space is fed.
 *
 *	if (remapped_text_find(space, &binaries, &mapping)) ... mapping.binary and pgoff are the file's
 */
#ifndef MACHINE_REMAPPED_TEXT_H
#define MACHINE_REMAPPED_TEXT_H

#include "machine/address_space.h"
#include "machine/binary_id.h"

/* mapping: new, executable and anonymous, not in the space yet. True: it is the text that was mapped there; it lies on
 * whole huge pages of one mapping, or takes the place of all of it. */
bool remapped_text_find(
	const struct address_space *space, const struct binary_table *binaries, struct mapping *mapping);
/* mapping: new, of a file, in the space. True: the anonymous mapping before it fills a hole in that file's, whose name
 * it is given. For processes that had done it when the recording began. */
bool remapped_text_join(
	struct address_space *space, const struct binary_table *binaries, const struct mapping *mapping);

#endif
