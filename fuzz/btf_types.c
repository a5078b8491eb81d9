/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as BTF are refused or indexed, and printing a struct of them ends. The first string is the name of
 * the struct.
 */
#include "syscalls/btf_types.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char names[][8] = {"pair", "mode", "u32", "a", ""};
	struct tally_bytes bytes = {data, size};
	struct btf_types *types;
	struct tally_error err = {0};
	struct text t = {0};
	if (btf_types_open(bytes, &types, &err) != TALLY_OK) {
		if (!err.text[0])
			abort();
		return 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tally_str name = str_from(names[i]);
		for (unsigned k = 0; k < 4; k++)
			(void)btf_types_print(types, name, bytes, k & 1, k & 2, &t);
		(void)btf_types_size(types, name);
		(void)btf_types_enumerator(types, name, size ? data[size - 1] : 0);
		text_clear(&t);
	}
	text_deinit(&t);
	btf_types_close(types);
	return 0;
}
