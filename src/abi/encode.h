/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode.h - encodes the records that a recorder synthesizes: comm, mmap2, fork and others.
 *
 * Each function appends a whole record, padded to 8 bytes. Values are in the byte order of w.
 */
#ifndef ABI_ENCODE_H
#define ABI_ENCODE_H

#include "abi/sample.h"

/* Encodes a record of type fields->type, with a sample_id_all trailer that contains id unless layout is NULL; the
 * inverse of record_decode. Returns false if there is no encoder for the type, or if the record is larger than 65,535
 * bytes. */
bool record_encode(struct writer *w, const struct record_fields *fields, uint16_t misc,
	const struct record_layout *layout, const struct sample_id *id);
/* Encodes a sample of this layout; the inverse of sample_decode. Arrays of words are copied unchanged, so they must be
 * in the byte order of w. */
bool sample_encode(struct writer *w, const struct record_layout *layout, uint16_t misc, const struct sample *sample);

#endif
