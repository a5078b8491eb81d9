/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode.h - encodes the records that a recorder synthesizes: comm, mmap2, fork and others.
 *
 * Each function appends one whole record, padded to 8 bytes, with a sample_id_all trailer unless layout is NULL, and
 * then fills in the record's size. Values are written in w's byte order. Used by kernel/recording, perfdata/writer and
 * the tests.
 */
#ifndef ABI_ENCODE_H
#define ABI_ENCODE_H

#include "abi/sample.h"

/* Writes any record whose type has fields in record_table, from the same struct that record_decode fills (type and misc
 * are fields->type and misc). False if the type has no encoder or the record passes 65,535 bytes. */
bool record_encode(struct writer *w, const struct record_fields *fields, uint16_t misc,
	const struct record_layout *layout, const struct sample_id *id);
/* Writes a sample of this layout. This is the inverse of sample_decode, for tests and for rewriting. Arrays of words
 * are copied as they are: they must be in w's byte order. */
bool sample_encode(struct writer *w, const struct record_layout *layout, uint16_t misc, const struct sample *sample);

#endif
