/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_versions.h - lists the versions of CPython whose frames can be read: by which files they are recognised, and
 * where the fields of their structs are. Versions as of 3.12 say that themselves; 3.11 does not, so the numbers are
 * those of its headers on 64-bit machines, which tests/unit/bpf/python_versions.c compares with the installed ones.
 *
 * The next version is a row here. Another interpreter is a file beside python.bpf.h: README.md says what it needs.
 */
#ifndef BPF_PYTHON_VERSIONS_H
#define BPF_PYTHON_VERSIONS_H

#include <stdbool.h>

#include "base/bytes.h"
#include "bpf/python_layout.h"

struct python_version {
	const char *program, *library; /* names of the files that have the interpreter */
	struct python_offsets at;
};

/* NULL: a file of that path has no interpreter that is known. */
const struct python_version *python_version_of(struct tally_str path);

#endif
