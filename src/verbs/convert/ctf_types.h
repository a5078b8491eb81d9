/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_types.h - declares the parts of a CTF trace's description: kinds of fields, environment, clock. No code.
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
	CTF_SEQUENCE_HEX32, /* a count as a 32-bit field NAME_size, then the items */
	CTF_SEQUENCE_HEX64,
};

struct ctf_field {
	struct tally_str name;
	enum ctf_kind kind;
	uint32_t count; /* of a number: an array of so many; 0: one */
};

struct ctf_trace_info { /* of the environment and the clock */
	struct tally_str host, release, version, machine;
	struct tally_str clock;
	uint64_t clock_offset_ns; /* of the clock's zero from 1970 */
	uint32_t cpu_count; /* a CPU that is not below it is taken for 0; 0: unknown */
};

#endif
