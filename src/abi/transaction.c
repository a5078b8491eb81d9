/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/transaction.h"

#include "base/array.h"

#define ABORT_SHIFT 32
/* One of these two bits is set if it is known whether the instruction itself caused the abort. */
#define SYNC_BITS (UINT64_C(3) << 2)

void transaction_print(struct text *t, uint64_t transaction)
{
	static const char *const words[] = {
		"EL ", "TX ", "SYNC ", "ASYNC ", "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ "};
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (transaction >> i & 1)
			text_str(t, words[i]);
	if (transaction && !(transaction & SYNC_BITS))
		text_str(t, "NEITHER ");
	if (transaction >> ABORT_SHIFT) {
		text_char(t, ':');
		text_hex(t, transaction >> ABORT_SHIFT, 0);
	}
}
