/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/labels.h"

#include <stdlib.h>

#include "base/control.h"
#include "base/error.h"

static bool labels_begins_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool label_name_is_valid(struct tally_str name)
{
	if (name.len == 0 || name.len > LABEL_NAME_BYTES || !labels_begins_name(name.data[0]))
		return false;
	for (size_t i = 1; i < name.len; i++)
		if (!labels_begins_name(name.data[i]) && (name.data[i] < '0' || name.data[i] > '9'))
			return false;
	return true;
}

bool label_value_is_valid(struct tally_str value)
{
	return value.len <= LABEL_VALUE_BYTES && control_span(value.data, value.len) == value.len;
}

static int labels_compare_texts(struct tally_str a, struct tally_str b)
{
	size_t len = MIN(a.len, b.len);
	int order = len ? memcmp(a.data, b.data, len) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

const struct fleet_label *fleet_labels_find(const struct fleet_labels *labels, struct tally_str name)
{
	for (size_t first = 0, last = labels->count; first < last;) {
		size_t middle = first + (last - first) / 2;
		int order = labels_compare_texts(name, labels->items[middle].name);
		if (order == 0)
			return &labels->items[middle];
		if (order < 0)
			last = middle;
		else
			first = middle + 1;
	}
	return NULL;
}

static int labels_compare(const void *left, const void *right)
{
	const struct fleet_label *a = left, *b = right;
	int order = labels_compare_texts(a->name, b->name);
	return order ? order : labels_compare_texts(a->value, b->value);
}

static enum tally_status labels_check(const struct fleet_label *label, struct tally_error *err)
{
	int shown = (int)MIN(label->name.len, LABEL_NAME_BYTES);
	if (!label_name_is_valid(label->name))
		return error_set(err, TALLY_INVALID,
			"'%.*s' cannot be the name of a label: use letters, digits and '_', begin with no digit, at "
			"most %d characters",
			shown, shown ? label->name.data : "", LABEL_NAME_BYTES);
	if (!label_value_is_valid(label->value))
		return error_set(err, TALLY_INVALID,
			"the value of label '%.*s' is not valid: use UTF-8 without control characters, at most %d "
			"bytes",
			shown, label->name.data, LABEL_VALUE_BYTES);
	return TALLY_OK;
}

enum tally_status fleet_labels_make(
	struct fleet_label *items, size_t count, struct fleet_labels *labels, struct tally_error *err)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		enum tally_status status = labels_check(&items[i], err);
		if (status != TALLY_OK)
			return status;
	}
	if (count > 1)
		qsort(items, count, sizeof(*items), labels_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept && labels_compare(&items[kept - 1], &items[i]) == 0)
			continue;
		if (kept && str_equal(items[kept - 1].name, items[i].name))
			return error_set(err, TALLY_INVALID, "label '%.*s' has two values, '%.*s' and '%.*s'",
				(int)items[i].name.len, items[i].name.data, (int)MIN(items[kept - 1].value.len, 64),
				items[kept - 1].value.data, (int)MIN(items[i].value.len, 64), items[i].value.data);
		items[kept++] = items[i];
	}
	if (kept > LABELS_MAX)
		return error_set(err, TALLY_INVALID, "%zu labels are more than the limit of %d", kept, LABELS_MAX);
	*labels = (struct fleet_labels){items, kept};
	return TALLY_OK;
}
