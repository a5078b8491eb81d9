/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_metadata.h - formats the metadata of a trace (packets, clock, events) in TSDL, the language of CTF 1.8. ctf_trace
 * writes it to the file. Names are converted to valid TSDL identifiers and made distinct within an event.
 */
#ifndef VERBS_CONVERT_CTF_METADATA_H
#define VERBS_CONVERT_CTF_METADATA_H

#include "base/text.h"
#include "verbs/convert/ctf_types.h"

#define CTF_UUID_BYTES 16

void ctf_metadata_begin(struct text *t, const uint8_t uuid[CTF_UUID_BYTES], const struct ctf_trace_info *info);
void ctf_metadata_class(
	struct text *t, uint32_t id, struct tally_str name, const struct ctf_field *fields, size_t count);

#endif
