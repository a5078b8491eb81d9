/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/destination_forms.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "tasks/fleet/batch_view.h"

static struct tally_str destination_label(const struct fleet_batch *batch, struct tally_str name)
{
	const struct fleet_label *label = fleet_labels_find(&batch->labels, name);
	return label ? label->value : STR("");
}

struct export_view destination_view(const struct fleet_batch *batch, struct text *quality)
{
	batch_view_quality(batch, quality);
	return (struct export_view){
		.profile = batch->profile,
		.event = PROFILE_NONE,
		.about = {.program = STR("tally"),
			.version = str_from(TALLY_VERSION),
			.hostname = destination_label(batch, STR("host")),
			.os = destination_label(batch, STR("kernel")),
			.arch = destination_label(batch, STR("arch")),
			.cpu = destination_label(batch, STR("cpu_model")),
			.quality = text_view(quality),
			.has_wall_clock = true},
		.has_times = true,
		.first_time = batch->begin_ns,
		.last_time = batch->end_ns,
	};
}

static enum tally_status destination_forms_append(int fd, struct text *out, struct tally_error *err)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *room = size < 0 ? NULL : text_room(out, (size_t)size);
	if (!room)
		return error_nomem(err);
	for (off_t at = 0; at < size;) {
		ssize_t got = pread(fd, room + at, (size_t)(size - at), at);
		if (got <= 0)
			return error_set_errno(err, TALLY_IO, got < 0 ? errno : EIO, "cannot read from memory");
		at += got;
	}
	out->len += (size_t)size;
	return TALLY_OK;
}

enum tally_status destination_pack(void (*write)(struct byte_sink *, const struct export_view *),
	const struct export_view *view, struct text *out, struct tally_error *err)
{
	struct byte_sink sink;
	int fd = memfd_create("tally-batch", MFD_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot make room in memory for a batch");
	byte_sink_init(&sink, fd, true);
	write(&sink, view);
	enum tally_status status = byte_sink_finish(&sink, "memory", err);
	if (status == TALLY_OK)
		status = destination_forms_append(fd, out, err);
	close(fd);
	return status;
}
