/* SPDX-License-Identifier: Apache-2.0 */
/* Surveys a recording and rewrites it with build IDs in its mappings and in time order; then the output
 * is read back. */
#include "analysis/inject/inject.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/inject/inject_survey.h"

static bool list_hits(const struct inject_survey *survey, struct inject_mmaps *mmaps)
{
	const struct machine *machine = survey->pass.sideband.machine;
	for (uint32_t i = 0; i < machine_binary_count(machine); i++) {
		struct tally_str path = machine_string(machine, machine_binary_get(machine, i)->path);
		struct record_build_id id = {.size = 20, .bytes = {0xab}};
		uint32_t index;
		if (!survey->is_hit[i])
			continue;
		if (!intern_add(&mmaps->paths, path.data, path.len, &index))
			return false;
		if (index == mmaps->ids.len && !vec_push(&mmaps->ids, id))
			return false;
	}
	return true;
}

static void read_back(int fd)
{
	struct perfdata_reader *reader;
	struct record record;
	enum tally_status status;
	if (lseek(fd, 0, SEEK_SET) != 0 || perfdata_reader_open_fd(fd, &reader, NULL) != TALLY_OK)
		return;
	while ((status = perfdata_reader_next(reader, &record, NULL)) == TALLY_OK)
		;
	if (!perfdata_reader_is_pipe(reader) && (status != TALLY_END || perfdata_reader_health(reader)->is_cut))
		abort(); /* The output is a complete file, whatever the input. */
	perfdata_reader_destroy(reader);
}

static void copy(struct perfdata_reader *reader, const struct inject_mmaps *mmaps, bool to_pipe)
{
	struct inject_options options = {.to_pipe = to_pipe, .sort = !to_pipe, .mmaps = mmaps};
	struct inject_result result;
	struct perfdata_rewriter *rewriter;
	int fd = memfd_create("copy", MFD_CLOEXEC);
	if (fd < 0)
		return;
	enum tally_status status = to_pipe ? perfdata_rewriter_create_pipe(fd, &rewriter, NULL)
					   : perfdata_rewriter_create_fd(fd, &rewriter, NULL);
	if (status == TALLY_OK) {
		if (inject_copy(reader, rewriter, &options, &result, NULL) == TALLY_OK)
			read_back(fd);
		perfdata_rewriter_destroy(rewriter);
	}
	perfdata_reader_rewind(reader);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_reader *reader;
	struct inject_survey survey;
	if (perfdata_reader_open_bytes((struct tally_bytes){data, size}, &reader, NULL) != TALLY_OK)
		return 0;
	if (inject_survey_read(reader, INJECT_SURVEY_HITS, &survey, NULL) == TALLY_OK) {
		struct inject_mmaps mmaps = {.drop_others = size % 2};
		intern_init(&mmaps.paths);
		if (list_hits(&survey, &mmaps)) {
			copy(reader, &mmaps, false);
			copy(reader, NULL, true);
		}
		intern_deinit(&mmaps.paths);
		vec_free(&mmaps.ids);
		inject_survey_deinit(&survey);
	}
	perfdata_reader_destroy(reader);
	return 0;
}
