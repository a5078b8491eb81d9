/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_types.h - declares the parts of a CTF trace's metadata: field types, environment and clock.
 */
#ifndef VERBS_CONVERT_CTF_TYPES_H
#define VERBS_CONVERT_CTF_TYPES_H

#include "base/bytes.h"

enum ctf_kind {
	CTF_U32,
	CTF_S32,
	CTF_U64,
	CTF_S64,
	CTF_HEX64,
	CTF_STRING,
	CTF_SEQUENCE_HEX32, /* A field NAME_size (32 bits) with the number of items, followed by the items. */
	CTF_SEQUENCE_HEX64,
};

struct ctf_field {
	struct tally_str name;
	enum ctf_kind kind;
	uint32_t count; /* Length of an array of numbers; 0 for a single value. */
};

struct ctf_trace_info { /* The environment and the clock of a trace. */
	struct tally_str host, release, version, machine;
	struct tally_str clock;
	uint64_t clock_offset_ns; /* Time since 1970 at which the clock was zero. */
	uint32_t cpu_count; /* Events of higher-numbered CPUs are stored under CPU 0. 0 if unknown. */
};

#endif
