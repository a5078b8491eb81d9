/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary bytes as the stream of a simulated process. */
#include "tasks/simulation/simulation_counts.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct simulation_image image;
	struct tally_error err;
	if (simulation_image_decode((struct tally_bytes){data, size}, &image, &err) != TALLY_OK)
		return 0;
	for (size_t event = 0; event < SIM_EVENT_COUNT; event++)
		if (image.values[event] && !image.is_counted[event])
			abort();
	return 0;
}
