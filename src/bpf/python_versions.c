/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/python_versions.h"

#include "base/array.h"

static const struct python_version python_versions[] = {
	{"python3.11", "libpython3.11.so.1.0",
		{.runtime_interpreters = 40,
			.runtime_current = 576,
			.interpreter_threads = 16,
			.thread_next = 8,
			.thread_cframe = 56,
			.thread_id = 152,
			.thread_native_id = 160,
			.cframe_frame = 8,
			.cframe_previous = 16,
			.frame_code = 32,
			.frame_previous = 48,
			.frame_instruction = 56,
			.frame_is_entry = 68,
			.code_instructions = 184,
			.code_first_line = 72,
			.code_file = 112,
			.code_name = 128,
			.code_lines = 136,
			.text_length = 16,
			.text_state = 32,
			.text_ascii = 48,
			.text_other = 72,
			.bytes_size = 16,
			.bytes_data = 32}},
};

const struct python_version *python_version_of(struct tally_str path)
{
	size_t at = path.len;
	while (at > 0 && path.data[at - 1] != '/')
		at--;
	struct tally_str name = {path.data + at, path.len - at};
	for (size_t i = 0; i < ARRAY_LEN(python_versions); i++)
		if (str_equal(name, str_from(python_versions[i].program)) ||
			str_equal(name, str_from(python_versions[i].library)))
			return &python_versions[i];
	return NULL;
}
