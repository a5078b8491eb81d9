/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/build_ids/recorded_build_ids.h"

#include <string.h>

#include "analysis/inject/inject_survey.h"
#include "base/error.h"
#include "machine/binary_id.h"

static struct record_build_id recorded_build_ids_id_of(const struct perfdata_build_id *listed)
{
	struct record_build_id id = {.size = listed->size};
	memcpy(id.bytes, listed->bytes, sizeof(id.bytes));
	return id;
}

/* Adds the rows in the order of perf 6.1: the kernel first, then in the order of the file. (perf 7.3 sorts by name.) */
static bool recorded_build_ids_add_listed(struct build_id_rows *rows, const struct perfdata_build_id *ids, size_t count)
{
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < count; i++) {
			bool is_kernel = binary_is_listed_kernel(ids[i].misc, ids[i].filename);
			struct record_build_id id = recorded_build_ids_id_of(&ids[i]);
			if (is_kernel == (turn == 0) && !build_id_rows_add(rows, ids[i].filename, &id))
				return false;
		}
	return true;
}

static const struct perfdata_build_id *recorded_build_ids_find_listed(
	const struct inject_survey *survey, struct tally_str name)
{
	for (size_t i = 0; i < survey->build_ids.len; i++)
		if (str_equal(survey->build_ids.items[i].filename, name))
			return &survey->build_ids.items[i];
	return NULL;
}

static bool recorded_build_ids_add_hits(struct build_id_rows *rows, const struct inject_survey *survey)
{
	const struct machine *machine = survey->pass.sideband.machine;
	size_t count = machine_binary_count(machine);
	for (int turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < count; i++) {
			const struct machine_binary *binary = machine_binary_get(machine, i);
			bool is_kernel = binary->kind == MACHINE_KERNEL;
			if (!survey->is_hit[i] || is_kernel != (turn == 0))
				continue;
			struct tally_str name =
				is_kernel ? STR("[kernel.kallsyms]") : machine_string(machine, binary->path);
			struct record_build_id id = binary->build_id;
			const struct perfdata_build_id *listed =
				id.size ? NULL : recorded_build_ids_find_listed(survey, name);
			if (listed)
				id = recorded_build_ids_id_of(listed);
			if (!build_id_rows_add(rows, name, &id))
				return false;
		}
	return true;
}

enum tally_status recorded_build_ids_list(struct perfdata_reader *reader, bool with_hits, struct build_id_rows *rows,
	struct input_health *health, struct tally_error *err)
{
	const struct perfdata_features *features = perfdata_reader_features(reader);
	*health = *perfdata_reader_health(reader);
	if (!with_hits && !perfdata_reader_is_pipe(reader) && feature_is_present(features, FEATURE_BUILD_ID))
		return recorded_build_ids_add_listed(rows, features->build_ids, features->build_id_count)
			       ? TALLY_OK
			       : error_nomem(err);
	struct inject_survey survey;
	enum tally_status status = inject_survey_read(reader, INJECT_SURVEY_HITS, &survey, err);
	if (status != TALLY_OK)
		return status;
	if (!recorded_build_ids_add_hits(rows, &survey))
		status = error_nomem(err);
	*health = survey.pass.sideband.health;
	inject_survey_deinit(&survey);
	return status;
}
