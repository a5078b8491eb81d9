/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_parse.c - parses arbitrary text in the event language for three machines. The result is an error with a
 * column inside the text, or a list in which every spec has a name and a valid leader, and the printed form of which
 * parses to the same number of specs.
 */
#include <stdlib.h>
#include <string.h>

#include "fake_root.h"
#include "kernel/events/event_format.h"
#include "kernel/events/event_parser.h"

static const char machine[] = "/sys/bus/event_source/devices/software/type: 1\n"
			      "/sys/bus/event_source/devices/cpu_core/type: 4\n"
			      "/sys/bus/event_source/devices/cpu_core/cpus: 0-1\n"
			      "/sys/bus/event_source/devices/cpu_core/format/event: config:0-7,32-35\n"
			      "/sys/bus/event_source/devices/cpu_core/events/mem: event=0xcd,ldlat=?\n"
			      "/sys/bus/event_source/devices/uncore_imc_0/type: 20\n"
			      "/sys/bus/event_source/devices/uncore_imc_0/cpumask: 0\n"
			      "/sys/bus/event_source/devices/uncore_imc_0/format/event: config:0-99\n"
			      "/sys/kernel/tracing/events/sched/sched_switch/id: 372\n";

/* The tree is shared by all inputs, because making it takes much longer than parsing. */
static char *root;
static struct kernel_seam seam;
static struct event_catalogue *catalogue;

static void clean_up(void)
{
	event_catalogue_destroy(catalogue);
	fake_root_remove(root);
}

static struct event_catalogue *catalogue_of_run(void)
{
	if (!catalogue) {
		seam.root = root = fake_root_make(machine);
		if (event_catalogue_create(&seam, &catalogue, NULL) != TALLY_OK)
			abort();
		atexit(clean_up);
	}
	return catalogue;
}

static void check_inverse(const struct event_list *list)
{
	struct event_list again = {0};
	struct text text = {0};
	event_format(&text, list);
	text_char(&text, '\0');
	if (list->len > 0 &&
		(event_parse(catalogue_of_run(), text.data, &again, NULL) != TALLY_OK || again.len != list->len))
		abort();
	for (size_t i = 0; i < again.len; i++)
		if (again.specs[i].attr.config != list->specs[i].attr.config ||
			again.specs[i].attr.flags != list->specs[i].attr.flags ||
			again.specs[i].leader != list->specs[i].leader)
			abort();
	event_list_deinit(&again);
	text_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct event_list list = {0};
	struct tally_error err = {0};
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (event_parse(catalogue_of_run(), text, &list, &err) != TALLY_OK) {
		if (list.len != 0 || err.offset > size)
			abort();
	}
	for (size_t i = 0; i < list.len; i++)
		if (!list.specs[i].name || list.specs[i].leader > i || !list.specs[i].unit)
			abort();
	check_inverse(&list);
	event_list_deinit(&list);
	free(text);
	return 0;
}
