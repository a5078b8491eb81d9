/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "tasks/fleet/destination_forms.h"
#include "view/export/export_formats.h"

#define CONTAINER_DIGITS 12 /* Length of a short container ID. */

static bool destination_otlp_is_id(struct tally_str container)
{
	for (size_t i = 0; i < container.len; i++)
		if (!isxdigit((unsigned char)container.data[i]))
			return false;
	return container.len >= CONTAINER_DIGITS;
}

/* Returns the name in OpenTelemetry's semantic conventions, or an empty string if export_otlp emits the attribute
 * itself. */
static struct tally_str destination_otlp_key(const struct fleet_label *label)
{
	static const struct {
		struct tally_str name, key;
	} known[] = {
		{STR("host"), STR("host.name")},
		{STR("kernel"), STR("")},
		{STR("arch"), STR("")},
		{STR("cpu_model"), STR("host.cpu.model.name")},
		{STR("service"), STR("service.name")},
		{STR("cgroup"), STR("process.linux.cgroup")},
		{STR("unit"), STR("systemd.unit.name")},
		{STR("pod"), STR("k8s.pod.uid")},
		{STR("process"), STR("process.executable.name")},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_equal(label->name, known[i].name))
			return known[i].key;
	if (str_equal(label->name, STR("container")))
		return destination_otlp_is_id(label->value) ? STR("container.id") : STR("container.name");
	return label->name;
}

typedef VEC(struct export_attribute) destination_otlp_attributes;

static bool destination_otlp_add(
	destination_otlp_attributes *attributes, const struct fleet_labels *labels, uint32_t label_set)
{
	for (size_t i = 0; i < labels->count; i++) {
		const struct fleet_label *label = &labels->items[i];
		const struct export_attribute attribute = {
			EXPORT_EVERY_PROCESS, destination_otlp_key(label), label->value, label_set};
		if (attribute.key.len > 0 && !vec_push(attributes, attribute))
			return false;
	}
	return true;
}

enum tally_status destination_write_otlp(const struct fleet_batch *batch, struct text *out, struct tally_error *err)
{
	struct text quality = {0};
	struct export_view view = destination_view(batch, &quality);
	destination_otlp_attributes attributes = {0};
	bool is_whole = destination_otlp_add(&attributes, &batch->labels, EXPORT_EVERY_SET);
	for (uint32_t i = 0; is_whole && i < batch->set_count; i++)
		is_whole = destination_otlp_add(&attributes, &batch->sets[i], i);
	view.attributes = attributes.items;
	view.attribute_count = attributes.len;
	enum tally_status status = is_whole ? destination_pack(export_otlp, &view, out, err) : error_nomem(err);
	vec_free(&attributes);
	text_deinit(&quality);
	return status;
}
