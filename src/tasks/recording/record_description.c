/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_description.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "tasks/recording/record_features.h"

static enum tally_status write_description(const struct record_opening *o, int fd, struct tally_error *err)
{
	const struct record_request *q = o->request;
	struct record_features features;
	struct perfdata_writer *writer;
	struct record_features_input input = {
		.kernel = q->kernel, .events = q->events, .attrs = &q->plan.attrs, .argv = q->argv};
	input.sources = recorder_sources(o->recorder, &input.source_count);
	enum tally_status status = record_features_read(&input, &features, err);

	if (status != TALLY_OK)
		return status;
	status = perfdata_writer_create_pipe(fd, &writer, err);
	if (status == TALLY_OK) {
		status = record_opening_add_events(q, o->recorder, writer, err);
		if (status == TALLY_OK)
			status = perfdata_writer_begin(writer, &features.features, err);
		perfdata_writer_destroy(writer);
	}
	record_features_deinit(&features);
	return status;
}

/* Writes the description as the start of a stream into memory, and maps it. */
enum tally_status record_description_read(
	const struct record_opening *o, struct file_map *description, struct tally_error *err)
{
	int fd = memfd_create("tally events", MFD_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "memory for the description of events");
	enum tally_status status = write_description(o, fd, err);
	if (status == TALLY_OK)
		status = file_map_fd(fd, "the description of events", description, err);
	close(fd);
	return status;
}
