/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_sample.h - converts a decoded sample to the form of tally/sampler.h. The result points into the record.
 *
 *	enum tally_status status = sample_present(&layout, &record, &sample, err);
 */
#ifndef KERNEL_RECORDING_TALLY_SAMPLE_H
#define KERNEL_RECORDING_TALLY_SAMPLE_H

#include <tally/sampler.h>

#include "abi/sample.h"

/* Decodes a record of this layout. Returns TALLY_CORRUPT if the record is too short for it, or if its arrays are not
 * aligned to 8 bytes. */
TALLY_MUST_CHECK enum tally_status sample_present(const struct record_layout *layout, const struct record *record,
	struct tally_sample *sample, struct tally_error *err);

/* Converts a record of the public interface; the result borrows its bytes. */
static inline struct record tally_record_inside(const struct tally_record *record)
{
	return (struct record){
		.type = record->type, .misc = record->misc, .bytes = {(const uint8_t *)record->bytes, record->size}};
}

#endif
