/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sdt_notes.h - reads the statically defined probes (SDT, USDT) of a program, which <sys/sdt.h> and similar headers
 * describe in notes of the section .note.stapsdt: a provider, a name, the address of a nop, the locations of the
 * arguments, and a semaphore that is above zero while a tracer is attached. code/probing/sdt_arguments.h parses the
 * arguments.
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
	const char *provider, *name; /* Provider and name of the probe; neither is empty. */
	const char *arguments; /* Argument string such as "-4@%edi 8@-8(%rbp)"; "" if there are none. */
	uint64_t address; /* Link-time address in the current file: prelink moves programs, but not their notes. */
	uint64_t offset; /* Offset of address in the file. */
	uint64_t semaphore; /* Offset in the file of the 16-bit counter; 0 if there is none. */
};

struct sdt_note_list {
	struct arena arena;
	VEC(struct sdt_note) notes; /* In file order. */
	size_t damaged;
};

bool sdt_notes_are_there(const struct elf_image *image);
/* Reads the notes of a program; the list is empty if there are none. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status sdt_notes_read(
	const struct elf_image *image, struct sdt_note_list *list, struct tally_error *err);
void sdt_notes_deinit(struct sdt_note_list *list);

#endif
