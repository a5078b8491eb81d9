/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cgroup_names.h"

#include "base/error.h"
#include "base/text.h"

enum tally_status cgroup_names_add(
	struct cgroup_names *names, uint64_t id, struct tally_str path, struct tally_error *err)
{
	uint64_t *slot = map_u64_at(&names->ids, id, NULL);
	uint32_t index;
	struct text visible = {0};
	text_visible(&visible, path);
	bool ok = slot && !visible.failed &&
		  intern_add(&names->paths, visible.data ? visible.data : "", visible.len, &index);
	text_deinit(&visible);
	if (!ok)
		return error_nomem(err);
	*slot = index;
	return TALLY_OK;
}

enum tally_status cgroup_names_read(struct cgroup_names *names, struct perfdata_reader *reader, struct tally_error *err)
{
	struct record record;
	enum tally_status status;
	*names = (struct cgroup_names){0};
	intern_init(&names->paths);
	perfdata_reader_rewind(reader);
	while ((status = perfdata_reader_next(reader, &record, err)) == TALLY_OK) {
		struct record_fields fields;
		if (record.type != RECORD_CGROUP || record_decode(&record, &fields, NULL) != TALLY_OK)
			continue;
		status = cgroup_names_add(names, fields.cgroup.id, fields.cgroup.path, err);
		if (status != TALLY_OK)
			return status;
	}
	return status == TALLY_END || status == TALLY_CORRUPT ? TALLY_OK : status;
}

void cgroup_names_deinit(struct cgroup_names *names)
{
	map_u64_deinit(&names->ids);
	intern_deinit(&names->paths);
}

bool cgroup_names_find(const struct cgroup_names *names, uint64_t id, struct tally_str *path)
{
	uint64_t index;
	if (!map_u64_find(&names->ids, id, &index))
		return false;
	*path = intern_get(&names->paths, (uint32_t)index);
	return true;
}
