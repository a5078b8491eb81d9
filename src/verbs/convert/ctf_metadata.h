/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_metadata.h - writes the description of a trace in TSDL, the language of CTF 1.8: packets, clock, events. It only
 * makes text; ctf_trace writes it. Names are changed to identifiers that TSDL allows, and made distinct within an
 * event.
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
