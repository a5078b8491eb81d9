/* SPDX-License-Identifier: Apache-2.0 */
/* Packs arbitrary bytes as the dump of a runtime: the result can be opened, and every function that was hit has the
 * same address. Also opens arbitrary bytes as a packed dump. */
#include "code/pack/pack_dump.h"

#include <stdlib.h>
#include <string.h>

/* Every second function counts as hit. */
static void pack_and_open(const struct jitdump *dump)
{
	VEC(uint64_t) hits = {0};
	struct writer packed = {0};
	struct jitdump again;
	size_t len;
	for (size_t i = 0; i < dump->codes.len; i += 2)
		if (!vec_push(&hits, dump->codes.items[i].offset))
			abort();
	if (!pack_dump_make(dump, hits.items, hits.len, &(struct pack_dump_hiding){0}, &packed))
		abort();
	char *bytes = pack_dump_open(writer_view(&packed), &len);
	if (!bytes || len != dump->bytes.len ||
		jitdump_parse(&again, (struct tally_bytes){(const uint8_t *)bytes, len}, NULL) != TALLY_OK)
		abort();
	for (size_t i = 0; i < dump->codes.len; i += 2) {
		const struct jitdump_code *code = &dump->codes.items[i], *found = jitdump_find(&again, code->offset);
		if (!found || found->offset != code->offset || strcmp(found->name, code->name) != 0 ||
			memcmp(bytes + code->offset, dump->bytes.data + code->offset, (size_t)code->size) != 0)
			abort();
	}
	jitdump_deinit(&again);
	free(bytes);
	writer_deinit(&packed);
	vec_free(&hits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump dump;
	size_t len;
	free(pack_dump_open((struct tally_bytes){data, size}, &len));
	if (jitdump_parse(&dump, (struct tally_bytes){data, size}, NULL) != TALLY_OK)
		return 0;
	pack_and_open(&dump);
	jitdump_deinit(&dump);
	return 0;
}
