/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the raw data of a wait in either byte order (chosen by the first byte), encodes it and decodes it again,
 * which gives the same values.
 */
#include "abi/wait_record.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wait_record wait, again;
	if (size < 1)
		return 0;
	bool swap = data[0] & 1;
	struct tally_bytes raw = {data + 1, size - 1};
	if (wait_record_decode(raw, swap, &wait, NULL) != TALLY_OK)
		return 0;
	struct writer w = {.swap = swap};
	wait_record_encode(&w, &(struct sample){.pid = 1}, &wait);
	if (w.failed || !wait_record_is(raw, swap) ||
		wait_record_decode(writer_view(&w), swap, &again, NULL) != TALLY_OK)
		abort();
	if (again.state != wait.state || again.flags != wait.flags || again.count != wait.count ||
		again.syscall != wait.syscall || again.waker_tid != wait.waker_tid ||
		!str_equal(again.waker_comm, wait.waker_comm) || again.waker_ips.count != wait.waker_ips.count ||
		again.end_ns != wait.end_ns)
		abort();
	writer_deinit(&w);
	return 0;
}
