/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/otlp_resource.h"

#include <ctype.h>

#include "base/array.h"
#include "base/protobuf_writer.h"
#include "view/export/otlp_dictionary.h"

/* Field numbers of resource.proto and common.proto. */
enum { RESOURCE_ATTRIBUTES = 1 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum { VALUE_INT = 3 };

#define CONTAINER_ID_DIGITS 64

static bool otlp_resource_applies(const struct export_attribute *attribute, const struct otlp_resource *resource)
{
	return attribute->pid == EXPORT_EVERY_PROCESS || attribute->pid == resource->pid;
}

/* Whether one of the view's attributes from the first one on has the key. */
static bool otlp_resource_is_given(
	const struct export_view *view, const struct otlp_resource *resource, size_t first, struct tally_str key)
{
	for (size_t i = first; i < view->attribute_count; i++)
		if (otlp_resource_applies(&view->attributes[i], resource) && str_equal(view->attributes[i].key, key))
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

/* An attribute that the recording gives. */
static void otlp_resource_put_found(struct text *out, const struct export_view *view,
	const struct otlp_resource *resource, struct tally_str key, struct tally_str value)
{
	if (value.len > 0 && !otlp_resource_is_given(view, resource, 0, key))
		otlp_resource_put_pair(out, key, value);
}

static void otlp_resource_put_pid(
	struct text *out, const struct export_view *view, const struct otlp_resource *resource)
{
	if (resource->pid < 0 || otlp_resource_is_given(view, resource, 0, STR("process.pid")))
		return;
	size_t begin = protobuf_open(out);
	protobuf_string(out, KEY_VALUE_KEY, STR("process.pid"));
	size_t value = protobuf_open(out);
	protobuf_u64(out, VALUE_INT, (uint64_t)resource->pid);
	protobuf_close(out, KEY_VALUE_VALUE, value);
	protobuf_close(out, RESOURCE_ATTRIBUTES, begin);
}

/* The conventions' name of uname's architecture. */
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
	for (size_t i = 0; i < view->attribute_count; i++) {
		const struct export_attribute *given = &view->attributes[i];
		if (otlp_resource_applies(given, resource) &&
			!otlp_resource_is_given(view, resource, i + 1, given->key))
			otlp_resource_put_pair(out, given->key, given->value);
	}
	/* The name that the specification demands where nobody named the service. */
	struct text service = {0};
	text_str(&service, "unknown_service");
	if (resource->name.len > 0)
		text_char(&service, ':');
	text_bytes(&service, resource->name.data, resource->name.len);
	otlp_resource_put_found(out, view, resource, STR("service.name"), text_view(&service));
	text_deinit(&service);
	otlp_resource_put_found(out, view, resource, STR("process.executable.name"), resource->name);
	otlp_resource_put_pid(out, view, resource);
	otlp_resource_put_found(out, view, resource, STR("container.id"), otlp_container_id(resource->cgroup));
	otlp_resource_put_found(out, view, resource, STR("host.name"), about->hostname);
	otlp_resource_put_found(out, view, resource, STR("host.arch"), otlp_resource_arch(about->arch));
	otlp_resource_put_found(out, view, resource, STR("os.type"), STR("linux"));
	otlp_resource_put_found(out, view, resource, STR("os.version"), about->os);
}
