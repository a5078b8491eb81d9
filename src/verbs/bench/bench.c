/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"

#define BENCH_NS_PER_S 1000000000.0
#define NS_PER_US      1000.0

void bench_say(const struct bench *bench, const char *format, ...)
{
	va_list args;
	if (bench->format != BENCH_DEFAULT)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

static void bench_json_begin(const struct bench *bench, struct json *j)
{
	char name[64];
	snprintf(name, sizeof(name), "%s/%s", bench->collection, bench->name);
	json_object(j, NULL);
	json_u64(j, "schema", 1);
	json_string(j, "benchmark", str_from(name));
}

static void bench_json_end(struct json *j)
{
	json_object_end(j);
	fwrite(j->out->data, 1, j->out->len, stdout);
	text_deinit(j->out);
}

static void bench_json(const struct bench *bench, const struct bench_result *result)
{
	struct text t = {0};
	struct json j = {.out = &t, .is_compact = true};
	bench_json_begin(bench, &j);
	if (result->function)
		json_string(&j, "function", str_from(result->function));
	if (result->operations)
		json_u64(&j, "operations", result->operations);
	if (result->bytes)
		json_u64(&j, "bytes", result->bytes);
	if (result->is_cycles)
		json_fixed(&j, "cycles_per_byte", result->cycles, 6);
	else
		json_fixed(&j, "seconds", (double)result->ns / BENCH_NS_PER_S, 9);
	bench_json_end(&j);
}

void bench_time(const struct bench *bench, const struct bench_result *result)
{
	if (bench->format == BENCH_JSON)
		bench_json(bench, result);
	else if (bench->format == BENCH_SIMPLE)
		printf("%.3f\n", (double)result->ns / BENCH_NS_PER_S);
	else
		printf("     Total time: %.3f [sec]\n", (double)result->ns / BENCH_NS_PER_S);
}

void bench_rate(const struct bench *bench, const struct bench_result *result)
{
	bench_time(bench, result);
	if (bench->format != BENCH_DEFAULT)
		return;
	double operations = (double)result->operations, ns = (double)result->ns;
	printf("\n %14f usecs/op\n", operations > 0 ? ns / NS_PER_US / operations : 0);
	printf(" %14.0f ops/sec\n", ns > 0 ? floor(operations / (ns / BENCH_NS_PER_S)) : 0);
}

void bench_throughput(const struct bench *bench, const struct bench_result *result)
{
	static const char *const units[] = {"bytes", "KB", "MB", "GB"};
	double rate = result->ns ? (double)result->bytes / ((double)result->ns / BENCH_NS_PER_S) : 0;
	size_t unit = 0;
	if (bench->format == BENCH_JSON) {
		bench_json(bench, result);
	} else if (bench->format == BENCH_SIMPLE) {
		printf("%f\n", result->is_cycles ? result->cycles : rate);
	} else if (result->is_cycles) {
		printf(" %14f cycles/byte\n", result->cycles);
	} else {
		for (; rate >= 1024 && unit + 1 < ARRAY_LEN(units); unit++)
			rate /= 1024;
		printf(" %14f %s/sec\n", rate, units[unit]);
	}
}

void bench_figures(const struct bench *bench, const char *const *names, const double *values)
{
	struct text t = {0};
	struct json j = {.out = &t, .is_compact = true};
	if (bench->format != BENCH_JSON)
		return;
	bench_json_begin(bench, &j);
	for (size_t i = 0; names[i]; i++)
		json_fixed(&j, names[i], values[i], values[i] == floor(values[i]) ? 0 : 3);
	bench_json_end(&j);
}

int bench_fail(const struct bench *bench, const char *what)
{
	return cli_failf(bench->cli, "bench %s %s: %s: %s", bench->collection, bench->name, what, strerror(errno));
}

uint64_t bench_size(const char *text)
{
	static const struct {
		const char *unit;
		unsigned shift;
	} units[] = {{"", 0}, {"B", 0}, {"K", 10}, {"KB", 10}, {"M", 20}, {"MB", 20}, {"G", 30}, {"GB", 30}, {"T", 40},
		{"TB", 40}};
	size_t digits = strspn(text, "0123456789");
	uint64_t value;
	if (!str_to_u64((struct tally_str){text, digits}, 10, &value))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strcasecmp(text + digits, units[i].unit) == 0)
			return value <= UINT64_MAX >> units[i].shift ? value << units[i].shift : 0;
	return 0;
}
