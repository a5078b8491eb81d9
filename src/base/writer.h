/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - appends values in a given byte order to a growing buffer. Its failure is sticky when memory runs out.
 *
 *	struct writer w = {0};
 *	writer_u32(&w, 7);
 *	if (w.failed) return error_nomem(err);
 *	... w.data, w.len ...; writer_deinit(&w);
 */
#ifndef BASE_WRITER_H
#define BASE_WRITER_H

#include "base/bytes.h"

struct writer {
	uint8_t *data;
	size_t len, cap;
	bool swap; /* True to write the byte order that differs from the host's. */
	bool failed;
};

void writer_deinit(struct writer *w);
void writer_clear(struct writer *w);
void writer_bytes(struct writer *w, const void *data, size_t len);
void writer_zeros(struct writer *w, size_t len);
void writer_u8(struct writer *w, uint8_t v);
void writer_u16(struct writer *w, uint16_t v);
void writer_u32(struct writer *w, uint32_t v);
void writer_u64(struct writer *w, uint64_t v);
/* Appends zeros up to the next multiple of alignment. */
void writer_align(struct writer *w, size_t alignment);
/* Overwrites a value at an offset that has been written. */
void writer_patch_u16(struct writer *w, size_t offset, uint16_t v);
void writer_patch_u32(struct writer *w, size_t offset, uint32_t v);
void writer_patch_u64(struct writer *w, size_t offset, uint64_t v);
static inline struct tally_bytes writer_view(const struct writer *w)
{
	return (struct tally_bytes){w->data, w->len};
}

#endif
