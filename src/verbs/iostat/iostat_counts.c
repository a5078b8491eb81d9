/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/iostat/iostat_counts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

/* Each count of IIO_DATA_REQ stands for four bytes (Intel, uncore performance monitoring reference manuals). */
#define BYTES_OF_A_COUNT 4
#define MEGABYTE	 (1024.0 * 1024.0)
#define MAX_DIES	 4096

/* Event and unit mask of each metric: data that devices request from the CPU, and data that the CPU requests from
 * devices. */
static const struct {
	unsigned event, umask;
	const char *key;
} metrics[IOSTAT_METRICS] = {{0x83, 0x04, "inbound_read_mb"}, {0x83, 0x01, "inbound_write_mb"},
	{0xc0, 0x04, "outbound_read_mb"}, {0xc0, 0x01, "outbound_write_mb"}};

void iostat_events(const struct iio_ports *ports, struct text *out)
{
	size_t start = out->len;
	for (size_t i = 0; i < ports->ports.len; i++) {
		unsigned pmu = ports->ports.items[i].pmu;
		size_t before = 0;
		while (before < i && ports->ports.items[before].pmu != pmu)
			before++;
		/* An event counts on all dies, so each PMU is listed once. */
		for (size_t m = 0; m < IOSTAT_METRICS && before == i; m++)
			text_printf(out, "%suncore_iio_%u/event=%#x,umask=%#x,ch_mask=0xf,fc_mask=0x7,name=iio%um%zu/",
				out->len > start ? "," : "", pmu, metrics[m].event, metrics[m].umask, pmu, m);
	}
}

struct iostat_row {
	unsigned socket, die, pmu, metric;
	double count;
	bool is_counted;
};

/* Parses a line such as "S0-D1,1,1234,,iio0m2,...". */
static bool iostat_row_parse(struct tally_str line, struct iostat_row *row)
{
	struct tally_str aggregate, cpus, value, unit, name;
	char text[64], number[64], *end;
	if (!str_next(&line, ',', &aggregate) || !str_next(&line, ',', &cpus) || !str_next(&line, ',', &value) ||
		!str_next(&line, ',', &unit) || !str_next(&line, ',', &name))
		return false;
	snprintf(text, sizeof(text), "%.*s %.*s", (int)MIN(aggregate.len, 24), aggregate.data, (int)MIN(name.len, 24),
		name.data);
	snprintf(number, sizeof(number), "%.*s", (int)MIN(value.len, 60), value.data);
	row->count = strtod(number, &end);
	row->is_counted = end > number && *end == 0 && row->count >= 0;
	return sscanf(text, "S%u-D%u iio%um%u", &row->socket, &row->die, &row->pmu, &row->metric) == 4 &&
	       row->metric < IOSTAT_METRICS;
}

static int iostat_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* Collects the dies of all rows, sorted by socket, which is the order of the kernel's numbers. */
static size_t iostat_dies(struct tally_str csv, uint64_t dies[MAX_DIES])
{
	struct tally_str line;
	struct iostat_row row;
	size_t count = 0;
	while (str_next(&csv, '\n', &line)) {
		size_t at = 0;
		if (!iostat_row_parse(line, &row))
			continue;
		uint64_t die = (uint64_t)row.socket << 32 | row.die;
		while (at < count && dies[at] != die)
			at++;
		if (at == count && count < MAX_DIES)
			dies[count++] = die;
	}
	qsort(dies, count, sizeof(*dies), iostat_compare);
	return count;
}

bool iostat_counts_read(struct tally_str csv, const struct iio_ports *ports, struct iostat_count *counts)
{
	uint64_t *dies = malloc(MAX_DIES * sizeof(*dies));
	struct tally_str line;
	struct iostat_row row;
	if (!dies)
		return false;
	size_t die_count = iostat_dies(csv, dies);
	while (str_next(&csv, '\n', &line)) {
		unsigned die = 0;
		if (!iostat_row_parse(line, &row))
			continue;
		while (die < die_count && dies[die] != ((uint64_t)row.socket << 32 | row.die))
			die++;
		for (size_t i = 0; i < ports->ports.len; i++) {
			const struct iio_port *port = &ports->ports.items[i];
			if (port->pmu != row.pmu || port->die != die || !row.is_counted)
				continue;
			counts[i].megabytes[row.metric] = row.count * BYTES_OF_A_COUNT / MEGABYTE;
			counts[i].is_counted[row.metric] = true;
		}
	}
	free(dies);
	return true;
}

void iostat_print(const struct iio_ports *ports, const struct iostat_count *counts, struct text *out)
{
	text_str(out, "\n Performance counter stats for 'system wide':\n\n"
		      "   port             Inbound Read(MB)    Inbound Write(MB)    Outbound Read(MB)   Outbound "
		      "Write(MB) \n");
	for (size_t i = 0; i < ports->ports.len; i++) {
		const struct iio_port *port = &ports->ports.items[i];
		text_printf(out, "%04x:%02x", port->segment, port->bus);
		for (size_t m = 0; m < IOSTAT_METRICS; m++) {
			if (counts[i].is_counted[m])
				text_printf(out, "%21.0f", counts[i].megabytes[m]);
			else
				text_printf(out, "%21s", "<not counted>");
		}
		text_str(out, " \n");
	}
}

void iostat_json(const struct iio_ports *ports, const struct iostat_count *counts, struct text *out)
{
	struct json j = {.out = out};
	json_object(&j, NULL);
	json_u64(&j, "schema", 1);
	json_array(&j, "ports");
	for (size_t i = 0; i < ports->ports.len; i++) {
		const struct iio_port *port = &ports->ports.items[i];
		char name[32];
		snprintf(name, sizeof(name), "%04x:%02x", port->segment, port->bus);
		json_object(&j, NULL);
		json_string(&j, "port", str_from(name));
		json_u64(&j, "unit", port->pmu);
		json_u64(&j, "die", port->die);
		for (size_t m = 0; counts && m < IOSTAT_METRICS; m++)
			if (counts[i].is_counted[m])
				json_fixed(&j, metrics[m].key, counts[i].megabytes[m], 6);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
}
