/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/otlp_resource.h"

#include <ctype.h>

#include "base/array.h"
#include "base/protobuf_writer.h"
#include "base/vec.h"
#include "view/export/otlp_dictionary.h"

/* Field numbers of resource.proto and common.proto. */
enum { RESOURCE_ATTRIBUTES = 1 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum { OTLP_RESOURCE_VALUE_INT = 3 };

#define CONTAINER_ID_DIGITS 64

/* Attributes of the view that apply to one resource. */
struct otlp_resource_given {
	VEC(const struct export_attribute *) list;
};

/* Returns where the attributes of a set begin, or would begin. */
static size_t otlp_resource_find_set(const struct export_view *view, uint32_t label_set)
{
	size_t begin = 0, end = view->attribute_count;
	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;
		uint32_t set = view->attributes[middle].label_set;
		if (set == EXPORT_EVERY_SET || set < label_set)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

/* Adds the attributes of one set, or of EXPORT_EVERY_SET, from first on. Returns false if out of memory. */
static bool otlp_resource_gather_set(struct otlp_resource_given *given, const struct export_view *view, size_t first,
	uint32_t label_set, int32_t pid)
{
	for (size_t i = first; i < view->attribute_count; i++) {
		const struct export_attribute *attribute = &view->attributes[i];
		if (attribute->label_set != label_set)
			break;
		bool is_its = attribute->pid == EXPORT_EVERY_PROCESS || attribute->pid == pid;
		if (is_its && !vec_push(&given->list, attribute))
			return false;
	}
	return true;
}

/* Returns whether an attribute from first on has the key. */
static bool otlp_resource_is_given(const struct otlp_resource_given *given, size_t first, struct tally_str key)
{
	for (size_t i = first; i < given->list.len; i++)
		if (str_equal(given->list.items[i]->key, key))
			return true;
	return false;
}

static void otlp_resource_put_pair(struct text *out, struct tally_str key, struct tally_str value)
{
	size_t begin = protobuf_open(out);
	protobuf_string(out, KEY_VALUE_KEY, key);
	otlp_put_text(out, KEY_VALUE_VALUE, value);
	protobuf_close(out, RESOURCE_ATTRIBUTES, begin);
}

/* Adds an attribute from the recording, unless the view already provides one with this key. */
static void otlp_resource_put_found(
	struct text *out, const struct otlp_resource_given *given, struct tally_str key, struct tally_str value)
{
	if (value.len > 0 && !otlp_resource_is_given(given, 0, key))
		otlp_resource_put_pair(out, key, value);
}

static void otlp_resource_put_pid(struct text *out, const struct otlp_resource_given *given, int32_t pid)
{
	if (pid < 0 || otlp_resource_is_given(given, 0, STR("process.pid")))
		return;
	size_t begin = protobuf_open(out);
	protobuf_string(out, KEY_VALUE_KEY, STR("process.pid"));
	size_t value = protobuf_open(out);
	protobuf_u64(out, OTLP_RESOURCE_VALUE_INT, (uint64_t)pid);
	protobuf_close(out, KEY_VALUE_VALUE, value);
	protobuf_close(out, RESOURCE_ATTRIBUTES, begin);
}

/* Returns the name in OpenTelemetry's conventions for an architecture of uname. */
static struct tally_str otlp_resource_arch(struct tally_str machine)
{
	static const struct {
		struct tally_str machine, name;
	} known[] = {
		{STR("x86_64"), STR("amd64")},
		{STR("aarch64"), STR("arm64")},
		{STR("i686"), STR("x86")},
		{STR("armv7l"), STR("arm32")},
		{STR("ppc64le"), STR("ppc64")},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_equal(machine, known[i].machine))
			return known[i].name;
	return machine;
}

struct tally_str otlp_container_id(struct tally_str cgroup)
{
	size_t digits = 0;
	for (size_t i = 0; i <= cgroup.len; i++) {
		if (i < cgroup.len && isxdigit((unsigned char)cgroup.data[i])) {
			digits++;
			continue;
		}
		if (digits == CONTAINER_ID_DIGITS)
			return (struct tally_str){cgroup.data + i - CONTAINER_ID_DIGITS, CONTAINER_ID_DIGITS};
		digits = 0;
	}
	return STR("");
}

void otlp_resource_put(struct text *out, const struct export_view *view, const struct otlp_resource *resource)
{
	const struct export_about *about = &view->about;
	struct otlp_resource_given given = {0};
	size_t first = otlp_resource_find_set(view, resource->label_set);
	bool is_gathered = otlp_resource_gather_set(&given, view, 0, EXPORT_EVERY_SET, resource->pid) &&
			   otlp_resource_gather_set(&given, view, first, resource->label_set, resource->pid);
	out->failed = !is_gathered || out->failed;
	for (size_t i = 0; i < given.list.len; i++)
		if (!otlp_resource_is_given(&given, i + 1, given.list.items[i]->key))
			otlp_resource_put_pair(out, given.list.items[i]->key, given.list.items[i]->value);
	/* The specification requires this name if the service is not named. */
	struct text service = {0};
	text_str(&service, "unknown_service");
	if (resource->name.len > 0)
		text_char(&service, ':');
	text_bytes(&service, resource->name.data, resource->name.len);
	otlp_resource_put_found(out, &given, STR("service.name"), text_view(&service));
	text_deinit(&service);
	otlp_resource_put_found(out, &given, STR("process.executable.name"), resource->name);
	otlp_resource_put_pid(out, &given, resource->pid);
	otlp_resource_put_found(out, &given, STR("container.id"), otlp_container_id(resource->cgroup));
	otlp_resource_put_found(out, &given, STR("host.name"), about->hostname);
	otlp_resource_put_found(out, &given, STR("host.arch"), otlp_resource_arch(about->arch));
	otlp_resource_put_found(out, &given, STR("os.type"), STR("linux"));
	otlp_resource_put_found(out, &given, STR("os.version"), about->os);
	otlp_resource_put_found(out, &given, STR("tally.origin"), about->origin.kind);
	vec_free(&given.list);
}
