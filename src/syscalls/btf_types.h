/* SPDX-License-Identifier: Apache-2.0 */
/*
 * btf_types.h - reads type information in BTF (Documentation/bpf/btf.rst of Linux), which the kernel has of its own
 * types in /sys/kernel/btf/vmlinux, and prints structs by it.
 *
 * The bytes are untrusted, and the caller's: they stay until btf_types_close. Pure; any thread may read.
 *
 *	btf_types_open(bytes, &types, err);
 *	btf_types_print(types, "clone_args", copied, &style, &text);   // {.flags = 0x11200,.pidfd = 0, ...}
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
/* Bytes of a struct or union; 0: there is none of this name. */
size_t btf_types_size(const struct btf_types *types, struct tally_str name);
/* Fields that the bytes reach, in the layout of this machine; those that are zero are left out unless with_zeros.
 * False: there is no such struct. */
bool btf_types_print(const struct btf_types *types, struct tally_str name, struct tally_bytes bytes, bool with_names,
	bool with_zeros, struct text *t);
/* The name of an enumerator of this value; NULL: none. */
const char *btf_types_enumerator(const struct btf_types *types, struct tally_str enum_name, int64_t value);

#endif
