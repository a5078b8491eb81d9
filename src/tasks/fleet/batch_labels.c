/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/batch_labels.h"

#include "base/error.h"

enum tally_status batch_labels_group(struct fleet_batch *batch, struct tally_str name, struct tally_error *err)
{
	struct profile *p = (struct profile *)batch->profile;
	if (!label_name_is_valid(name))
		return error_set(err, TALLY_INVALID,
			"'%.*s' is not the name of a label: those have letters, digits and _", (int)MIN(name.len, 64),
			name.data);
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct fleet_label *label = fleet_labels_find(&batch->sets[batch->set_of_thread[i]], name);
		if (!label)
			label = fleet_labels_find(&batch->labels, name);
		struct tally_str value = label && label->value.len ? label->value : STR("-");
		uint32_t text;
		if (!intern_add(&p->strings, value.data, value.len, &text))
			return error_nomem(err);
		p->threads[i].comm = text;
	}
	return TALLY_OK;
}
