/* SPDX-License-Identifier: Apache-2.0 */
/*
 * btf_types.h - reads type information in BTF (Documentation/bpf/btf.rst of Linux), such as that of the kernel in
 * /sys/kernel/btf/vmlinux, and prints structs by it.
 *
 * The bytes are untrusted. They belong to the caller, and must remain valid until btf_types_close. Any thread may read.
 *
 *	btf_types_open(bytes, &types, err);
 *	btf_types_print(types, STR("clone_args"), copied, true, false, &text);   // { .flags: 70144, .exit_signal: 17 }
 *	btf_types_close(types);
 */
#ifndef SYSCALLS_BTF_TYPES_H
#define SYSCALLS_BTF_TYPES_H

#include <tally/status.h>

#include "base/text.h"

struct btf_types;

TALLY_MUST_CHECK enum tally_status btf_types_open(
	struct tally_bytes bytes, struct btf_types **types, struct tally_error *err);
void btf_types_close(struct btf_types *types);
/* Returns the size in bytes of a struct or union; 0 if there is none of this name. */
size_t btf_types_size(const struct btf_types *types, struct tally_str name);
/*
 * Appends the fields of a struct or union that lie within the bytes, in the layout of this machine. Fields that are
 * zero are omitted unless with_zeros is set. Returns false if there is no such type.
 */
bool btf_types_print(const struct btf_types *types, struct tally_str name, struct tally_bytes bytes, bool with_names,
	bool with_zeros, struct text *t);
/* Returns the name of the enumerator with this value, borrowed from the bytes; NULL if there is none. */
const char *btf_types_enumerator(const struct btf_types *types, struct tally_str enum_name, int64_t value);

#endif
