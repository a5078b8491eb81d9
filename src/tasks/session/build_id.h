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
/* name is [vdso] or [vdso32], as in a recording. */
bool build_id_of_vdso(struct tally_str name, struct record_build_id *id);
/* Searches notes, which are aligned to 4 bytes and have this machine's byte order unless swap is set. */
bool build_id_in_notes(struct tally_bytes notes, bool swap, struct record_build_id *id);
/* Searches the PT_NOTE segments and SHT_NOTE sections of an ELF image. */
bool build_id_in_elf(struct tally_bytes elf, struct record_build_id *id);

#endif
