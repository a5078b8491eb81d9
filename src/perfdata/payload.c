/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/payload.h"

uint64_t perfdata_payload_bytes(const struct record *record, bool is_pipe)
{
	struct record_fields fields;
	if (record->type == RECORD_AUXTRACE && record_decode(record, &fields, NULL) == TALLY_OK)
		return fields.auxtrace.size;
	if (is_pipe && record->type == RECORD_HEADER_TRACING_DATA && record_decode(record, &fields, NULL) == TALLY_OK)
		return ((uint64_t)fields.tracing_data.size + 7) & ~UINT64_C(7);
	return 0;
}
