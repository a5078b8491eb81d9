/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_versions.h - lists the supported versions of CPython: the names of files with their interpreters, and the
 * offsets of the fields of their structs. The offsets of 3.11 are those of its headers on 64-bit machines, which
 * tests/unit/bpf/python_versions.c compares with the installed headers. Versions since 3.12 contain a table of such
 * offsets themselves.
 *
 * Another version of CPython needs a row in the table; another interpreter needs a file like python.bpf.h, as README.md
 * describes.
 */
#ifndef BPF_PYTHON_VERSIONS_H
#define BPF_PYTHON_VERSIONS_H

#include <stdbool.h>

#include "base/bytes.h"
#include "bpf/python_layout.h"

struct python_version {
	const char *program, *library; /* Names of the files that contain the interpreter. */
	struct python_offsets at;
};

/* Returns the version that the name of the file indicates; NULL if it is not that of a supported interpreter. */
const struct python_version *python_version_of(struct tally_str path);

#endif
