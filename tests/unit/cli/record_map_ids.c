/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_map_ids.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

static bool id_of(struct record_map_ids *ids, const char *name, struct record_build_id *id)
{
	*id = (struct record_build_id){.size = 0};
	return ids->source.of_kernel(ids->source.context, str_from(name), id);
}

static void of_the_kernel(void **state)
{
	struct record_map_ids ids;
	struct record_build_id id;
	char notes[4096];
	FILE *file = fopen("/sys/kernel/notes", "rb");
	size_t len = file ? fread(notes, 1, sizeof(notes), file) : 0;
	if (file)
		(void)fclose(file);
	if (!len)
		skip_because("/sys/kernel/notes cannot be read");
	record_map_ids_init(&ids);
	assert_true(id_of(&ids, "[kernel.kallsyms]_text", &id));
	assert_int_equal(id.size, 20);
	assert_non_null(memmem(notes, len, id.bytes, id.size));
	record_map_ids_deinit(&ids);
}

static void of_modules_that_are_not_loaded(void **state)
{
	struct record_map_ids ids;
	struct record_build_id id;
	record_map_ids_init(&ids);
	assert_false(id_of(&ids, "[no-such-module]", &id));
	assert_false(id_of(&ids, "/lib/modules/6.1/kernel/net/no-such-module.ko.xz", &id));
	assert_false(id_of(&ids, "", &id));
	record_map_ids_deinit(&ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_kernel),
		cmocka_unit_test(of_modules_that_are_not_loaded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
