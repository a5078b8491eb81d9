/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/iio_ports.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "kernel/system/kernel_files.h"

#define PMU_PREFIX "uncore_iio_"
#define DIE_PREFIX "die"
#define MAX_NUMBER 4096

/* Parses the number after a prefix; false if the name does not match. */
static bool iio_ports_number(const char *name, const char *prefix, unsigned *number)
{
	size_t len = strlen(prefix);
	uint64_t value;
	if (strncmp(name, prefix, len) != 0 || !str_to_u64(str_from(name + len), 10, &value) || value > MAX_NUMBER)
		return false;
	*number = (unsigned)value;
	return true;
}

/* Parses "0000:3a" or "0:3a". */
static bool iio_ports_parse(struct tally_str text, struct iio_port *port)
{
	uint64_t segment, bus;
	struct tally_str part;
	if (!str_next(&text, ':', &part) || !str_to_u64(part, 16, &segment) || !str_to_u64(text, 16, &bus) ||
		segment > 0xffff || bus > 0xff)
		return false;
	port->segment = (unsigned)segment;
	port->bus = (unsigned)bus;
	return true;
}

static enum tally_status iio_ports_read_unit(
	const struct kernel_seam *kernel, unsigned pmu, struct iio_ports *ports, struct tally_error *err)
{
	struct name_list names = {0};
	enum tally_status status = kernel_names(kernel, &names, err, "/sys/devices/" PMU_PREFIX "%u", pmu);
	for (size_t i = 0; i < names.len && status == TALLY_OK; i++) {
		struct iio_port port = {.pmu = pmu};
		char *text;
		if (!iio_ports_number(names.items[i], DIE_PREFIX, &port.die) ||
			kernel_text(kernel, &text, NULL, "/sys/devices/" PMU_PREFIX "%u/%s", pmu, names.items[i]) !=
				TALLY_OK)
			continue;
		/* The file is empty if this unit of the die has no port. */
		if (iio_ports_parse(str_from(text), &port) && !vec_push(&ports->ports, port))
			status = error_nomem(err);
		free(text);
	}
	name_list_deinit(&names);
	return status;
}

static int iio_ports_compare(const void *a, const void *b)
{
	const struct iio_port *x = a, *y = b;
	if (x->pmu != y->pmu)
		return x->pmu < y->pmu ? -1 : 1;
	return x->die < y->die ? -1 : x->die > y->die;
}

enum tally_status iio_ports_read(const struct kernel_seam *kernel, struct iio_ports *ports, struct tally_error *err)
{
	struct name_list names = {0};
	unsigned pmu;
	*ports = (struct iio_ports){0};
	enum tally_status status = kernel_names(kernel, &names, err, "/sys/devices");
	for (size_t i = 0; i < names.len && status == TALLY_OK; i++)
		if (iio_ports_number(names.items[i], PMU_PREFIX, &pmu))
			status = iio_ports_read_unit(kernel, pmu, ports, err);
	name_list_deinit(&names);
	if (status == TALLY_OK && ports->ports.len == 0)
		status = error_set(err, TALLY_UNSUPPORTED,
			"this machine does not count the traffic of PCIe root ports: there is no "
			"/sys/devices/" PMU_PREFIX "N/" DIE_PREFIX "M (Intel Xeon Scalable and later, on the host)");
	if (status != TALLY_OK)
		iio_ports_deinit(ports);
	else
		qsort(ports->ports.items, ports->ports.len, sizeof(*ports->ports.items), iio_ports_compare);
	return status;
}

enum tally_status iio_ports_keep(struct iio_ports *ports, const char *list, struct tally_error *err)
{
	struct tally_str rest = str_from(list), item;
	size_t kept = 0;
	while (str_next_item(&rest, &item)) {
		struct iio_port asked, *items = ports->ports.items;
		size_t at = kept;
		bool is_port = iio_ports_parse(item, &asked);
		while (at < ports->ports.len && (items[at].segment != asked.segment || items[at].bus != asked.bus))
			at++;
		if (!is_port || at == ports->ports.len)
			return error_set(err, TALLY_NOT_FOUND,
				"'%.*s' is no root port of this machine ('iostat list' shows them), or is named twice",
				(int)MIN(item.len, 40), item.data);
		struct iio_port found = items[at];
		memmove(items + kept + 1, items + kept, (at - kept) * sizeof(*items));
		items[kept++] = found;
	}
	ports->ports.len = kept;
	if (kept == 0)
		return error_set(err, TALLY_NOT_FOUND, "the list of root ports is empty");
	return TALLY_OK;
}

void iio_ports_deinit(struct iio_ports *ports)
{
	vec_free(&ports->ports);
}
