/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/cgroup_labels.h"

#include <stdio.h>

#define ID_DIGITS	64
#define SHORT_ID_DIGITS 12

static bool cgroup_is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static struct tally_str cgroup_cut(struct tally_str text, size_t first, size_t last)
{
	return (struct tally_str){text.data + first, text.len - first - last};
}

/* Finds 64 consecutive hexadecimal digits in components like "docker-ID.scope" or "x:cri-containerd:ID". */
static bool find_long_id(struct tally_str part, struct tally_str *id)
{
	size_t run = 0;
	for (size_t i = 0; i <= part.len; i++) {
		if (i < part.len && cgroup_is_hex(part.data[i])) {
			run++;
			continue;
		}
		if (run == ID_DIGITS) {
			*id = (struct tally_str){part.data + i - run, run};
			return true;
		}
		run = 0;
	}
	return false;
}

static bool strip(struct tally_str part, struct tally_str prefix, struct tally_str suffix, struct tally_str *rest)
{
	if (part.len <= prefix.len + suffix.len || !str_starts_with(part, prefix) || !str_ends_with(part, suffix))
		return false;
	*rest = cgroup_cut(part, prefix.len, suffix.len);
	return true;
}

/* Finds the ID or the name of a container in a component of a cgroup path. before is the parent component. */
static bool find_container(struct tally_str part, struct tally_str before, struct tally_str *id)
{
	static const struct {
		struct tally_str prefix, suffix;
	} forms[] = {{{"lxc.payload.", 12}, {"", 0}}, {{"lxc.monitor.", 12}, {"", 0}}, {{"machine-", 8}, {".scope", 6}},
		{{"systemd-nspawn@", 15}, {".service", 8}}};
	if (find_long_id(part, id))
		return true;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strip(part, forms[i].prefix, forms[i].suffix, id))
			return true;
	if (!str_equal(before, STR("lxc")) && !str_equal(before, STR("lxc.payload")))
		return false;
	*id = part;
	return true;
}

static bool is_unit(struct tally_str part)
{
	struct tally_str name;
	return strip(part, STR(""), STR(".service"), &name) || strip(part, STR(""), STR(".scope"), &name) ||
	       strip(part, STR(""), STR(".mount"), &name) || strip(part, STR(""), STR(".socket"), &name) ||
	       strip(part, STR(""), STR(".swap"), &name);
}

/* A UID has 8-4-4-4-12 digits, or 32 without separators in the case of static pods. The systemd driver replaces '-'
 * by '_', because '-' separates slices. */
static bool is_pod_uid(struct tally_str text)
{
	size_t digits = 0;
	for (size_t i = 0; i < text.len; i++) {
		bool is_dash = text.data[i] == '-' || text.data[i] == '_';
		bool has_dashes = text.len == 36;
		bool wants_dash = has_dashes && (i == 8 || i == 13 || i == 18 || i == 23);
		if (is_dash != wants_dash || (!is_dash && !cgroup_is_hex(text.data[i])))
			return false;
		digits += !is_dash;
	}
	return digits == 32;
}

/* Parses "pod<UID>", "kubepods-burstable-pod<UID>.slice", and the latter followed by ":cri-containerd:ID". */
static bool find_pod(struct tally_str part, struct cgroup_labels *labels)
{
	struct tally_str rest = part, uid;
	if (!str_starts_with(part, STR("pod")) && !memmem(part.data, part.len, "kubepods", 8))
		return false;
	if (!str_next(&rest, ':', &part))
		return false;
	if (str_ends_with(part, STR(".slice")))
		part.len -= 6;
	for (size_t len = 36; len >= 32; len -= 4) {
		if (part.len < len + 3)
			continue;
		uid = cgroup_cut(part, part.len - len, 0);
		if (memcmp(uid.data - 3, "pod", 3) != 0 || !is_pod_uid(uid))
			continue;
		for (size_t i = 0; i < uid.len; i++)
			labels->pod_uid[i] = uid.data[i] == '_' ? '-' : uid.data[i];
		labels->pod = (struct tally_str){labels->pod_uid, uid.len};
		return true;
	}
	return false;
}

void cgroup_labels_parse(struct tally_str path, struct cgroup_labels *labels)
{
	struct tally_str rest = path, part, before = {"", 0}, slice = {"", 0}, id;
	*labels = (struct cgroup_labels){0};
	while (str_next(&rest, '/', &part)) {
		bool is_pod = part.len && find_pod(part, labels);
		if (part.len && find_container(part, before, &id)) {
			labels->container = id;
			/* Units and slices around a container belong to the container runtime. */
			labels->unit = slice = (struct tally_str){"", 0};
		} else if (is_unit(part)) {
			/* systemd prefixes '_' to names that have a meaning for the kernel. */
			labels->unit = part.data[0] == '_' ? cgroup_cut(part, 1, 0) : part;
		} else if (!is_pod && str_ends_with(part, STR(".slice"))) {
			slice = part;
		}
		before = part;
	}
	if (!labels->unit.len && !labels->container.len && !labels->pod.len)
		labels->unit = slice;
}

struct tally_str cgroup_labels_service(const struct cgroup_labels *labels)
{
	struct tally_str unit = labels->unit, container = labels->container, id;
	if (unit.len) {
		unit.len -= str_ends_with(unit, STR(".service")) ? 8 : 0;
		return unit;
	}
	if (find_long_id(container, &id))
		container.len = SHORT_ID_DIGITS;
	return container;
}

bool cgroup_path_choose(struct tally_str text, struct tally_str *path)
{
	struct tally_str rest = text, line, hierarchy, controllers;
	int best = 0;
	while (str_next(&rest, '\n', &line)) {
		if (!str_next(&line, ':', &hierarchy) || !str_next(&line, ':', &controllers) || line.len == 0)
			continue;
		int rank = controllers.len == 0 ? 3 : str_equal(controllers, STR("name=systemd")) ? 2 : 1;
		struct cgroup_labels labels;
		cgroup_labels_parse(line, &labels);
		rank += labels.container.len ? 6 : str_equal(line, STR("/")) ? 0 : 3;
		if (rank <= best)
			continue;
		best = rank;
		*path = line;
	}
	return best > 0;
}
