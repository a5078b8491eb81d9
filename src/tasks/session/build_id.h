/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id.h - reads the build ID of a file, of the running kernel, and of this machine's vdso. It reads only program
 * headers and notes. Functions return false if there is no build ID. Source: elf(5), "Notes"; sysfs /sys/kernel/notes.
 */
#ifndef TASKS_SESSION_BUILD_ID_H
#define TASKS_SESSION_BUILD_ID_H

#include "abi/record.h"

bool build_id_of_file(const char *path, struct record_build_id *id);
bool build_id_of_kernel(struct record_build_id *id);
/* name: as in a recording, [vdso] or [vdso32]. */
bool build_id_of_vdso(struct tally_str name, struct record_build_id *id);
/* Looks through notes (4-byte aligned, this machine's byte order unless swap). */
bool build_id_in_notes(struct tally_bytes notes, bool swap, struct record_build_id *id);
/* Looks through the PT_NOTE and SHT_NOTE parts of an ELF image. */
bool build_id_in_elf(struct tally_bytes elf, struct record_build_id *id);

#endif
