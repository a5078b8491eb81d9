/* SPDX-License-Identifier: Apache-2.0 */
/* Parses arbitrary bytes as tracing data, and prints a payload of zeros and one of ones by the resulting formats. */
#include <string.h>

#include "analysis/tracepoint_fields.h"

#define PAYLOAD_BYTES 96
#define EVENT_IDS     8
#define FIELDS	      8 /* Number of fields of each event that are printed individually. */

static void print(struct tracepoint_printer *printer, uint8_t fill)
{
	uint8_t raw[PAYLOAD_BYTES];
	struct text t = {0};
	memset(raw, fill, sizeof(raw));
	for (uint8_t id = 0; id < EVENT_IDS; id++) {
		raw[0] = raw[1] = id; /* The ID is the same in either byte order. */
		const struct tally_bytes payload = {raw, sizeof(raw)};
		(void)tracepoint_print(printer, payload, &t);
		for (unsigned i = 0; i < FIELDS; i++)
			(void)tracepoint_field_print(printer, payload, TRACEPOINT_OWN, i, &t);
	}
	text_deinit(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracepoint_printer *printer;
	if (tracepoint_printer_create((struct tally_bytes){data, size}, &printer, NULL) != TALLY_OK)
		return 0;
	print(printer, 0);
	print(printer, 1);
	tracepoint_printer_destroy(printer);
	return 0;
}
