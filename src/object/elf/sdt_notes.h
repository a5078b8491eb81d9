/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sdt_notes.h - reads the statically defined probes (SDT, USDT) of a program, which <sys/sdt.h> and its relatives
 * describe in notes of the section .note.stapsdt: a provider, a name, the address of a nop, where the arguments are, and
 * a semaphore that is above zero while somebody traces. What the arguments' text means is in code/probing/sdt_arguments.h.
 *
 * The list owns its strings (sdt_notes_deinit). A damaged note is counted and skipped. Source: the layout that readelf -n
 * prints, https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation.
 *
 *	struct sdt_note_list list;
 *	if (sdt_notes_read(image, &list, err) == TALLY_OK) ... sdt_notes_deinit(&list);
 */
#ifndef OBJECT_ELF_SDT_NOTES_H
#define OBJECT_ELF_SDT_NOTES_H

#include "base/arena.h"
#include "object/elf/elf_image.h"

struct sdt_note {
	const char *provider, *name; /* neither is empty */
	const char *arguments; /* "-4@%edi 8@-8(%rbp)"; "" if there are none */
	uint64_t address; /* link-time, as the file has it now: prelink moves programs, but not their notes */
	uint64_t offset; /* of the same in the file */
	uint64_t semaphore; /* offset in the file of the 16-bit counter; 0: there is none */
};

struct sdt_note_list {
	struct arena arena;
	VEC(struct sdt_note) notes; /* in the file's order */
	size_t damaged;
};

bool sdt_notes_are_there(const struct elf_image *image);
/* A program without notes gives an empty list; NOMEM only. */
TALLY_MUST_CHECK enum tally_status sdt_notes_read(
	const struct elf_image *image, struct sdt_note_list *list, struct tally_error *err);
void sdt_notes_deinit(struct sdt_note_list *list);

#endif
