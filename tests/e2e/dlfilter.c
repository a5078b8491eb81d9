/* SPDX-License-Identifier: Apache-2.0 */
/* A dlfilter for tests: prints all its arguments and the results of all functions. Its first argument selects its
 * return values. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "perf_dlfilter.h"

struct perf_dlfilter_fns perf_dlfilter_fns;
static int seen;

static const char *mode(void *ctx)
{
	int count = 0;
	char **arguments = perf_dlfilter_fns.args(ctx, &count);
	return count ? arguments[0] : "";
}

int start(void **data, void *ctx)
{
	int count = 0;
	char **arguments = perf_dlfilter_fns.args(ctx, &count);
	printf("start, %d arguments:", count);
	for (int i = 0; i < count; i++)
		printf(" '%s'", arguments[i]);
	printf(", a place: %d\n", perf_dlfilter_fns.resolve_ip(ctx) != NULL);
	*data = &seen;
	return strcmp(mode(ctx), "no start") ? 0 : -5;
}

int stop(void *data, void *ctx)
{
	printf("stop, %d seen, a place: %d\n", *(int *)data, perf_dlfilter_fns.resolve_ip(ctx) != NULL);
	return 0;
}

static void print_place(const char *what, const struct perf_dlfilter_al *al)
{
	if (!al) {
		printf("  %s: none\n", what);
		return;
	}
	printf("  %s: %s+%u at %llx of [%llx-%llx), %s, binding %d, 64 bits %d, kernel %d, build id ", what,
		al->sym ? al->sym : "-", al->symoff, al->addr, al->sym_start, al->sym_end, al->dso ? al->dso : "-",
		al->sym_binding, al->is_64_bit, al->is_kernel_ip);
	for (unsigned i = 0; i < al->buildid_size; i++)
		printf("%02x", al->buildid[i]);
	printf("\n");
}

static void print_sample(const struct perf_dlfilter_sample *s)
{
	printf(" ip %llx pid %d tid %d time %llu addr %llx id %llu stream %lld period %llu\n", s->ip, s->pid, s->tid,
		s->time, s->addr, s->id, s->stream_id, s->period);
	printf("  weight %llu latency %u stage %u transaction %llx cpu %d flags %u source %x physical %llx\n",
		s->weight, s->ins_lat, s->p_stage_cyc, s->transaction, s->cpu, s->flags, (__u32)s->data_src,
		s->phys_addr);
	printf("  pages %llu %llu cgroup %llu mode %d correlates %d misc %d event %s guest %d %d size %d\n",
		s->data_page_size, s->code_page_size, s->cgroup, s->cpumode, s->addr_correlates_sym, s->misc, s->event,
		s->machine_pid, s->vcpu, s->size >= sizeof(*s));
	printf("  raw %u:", s->raw_size);
	for (unsigned i = 0; i < s->raw_size; i++)
		printf(" %02x", ((const __u8 *)s->raw_data)[i]);
	printf("\n");
	for (unsigned i = 0; i < s->brstack_nr; i++)
		printf("  branch %llx %llx predicted %d cycles %d\n", s->brstack[i].from, s->brstack[i].to,
			s->brstack[i].predicted, s->brstack[i].cycles);
	for (unsigned i = 0; i < s->raw_callchain_nr; i++)
		printf("  caller %llx\n", s->raw_callchain[i]);
}

static void print_answers(const struct perf_dlfilter_sample *s, void *ctx)
{
	const struct perf_dlfilter_al *ip = perf_dlfilter_fns.resolve_ip(ctx);
	print_place("ip", ip);
	if (ip)
		printf("  filtered %d comm %s\n", ip->filtered != 0, ip->comm);
	print_place("addr", perf_dlfilter_fns.resolve_addr(ctx));
	struct perf_dlfilter_al al = {.size = sizeof(al)};
	if (perf_dlfilter_fns.resolve_address(ctx, s->ip - 5, &al) == 0) {
		print_place("before", &al);
		if (perf_dlfilter_fns.al_cleanup)
			perf_dlfilter_fns.al_cleanup(ctx, &al);
	}
	struct perf_dlfilter_al old = {.size = 24, .sym_start = 77};
	printf("  old: %d, %u bytes, %llx, %llu\n", perf_dlfilter_fns.resolve_address(ctx, 0x12345, &old), old.size,
		old.addr, old.sym_start);
	__u32 length = 99, line = 99;
	const __u8 *bytes = perf_dlfilter_fns.insn(ctx, &length);
	printf("  instruction:");
	for (unsigned i = 0; bytes && i < length; i++)
		printf(" %02x", bytes[i]);
	const char *path = perf_dlfilter_fns.srcline(ctx, &line);
	const char *slash = path ? strrchr(path, '/') : NULL;
	printf(" %s:%u\n", slash ? slash + 1 : path ? path : "-", line);
	struct perf_event_attr *attr = perf_dlfilter_fns.attr(ctx);
	printf("  attr: type %u config %llx sample_type %llx period %llu branches %llx\n", attr->type, attr->config,
		attr->sample_type, attr->sample_period, attr->branch_sample_type);
	__u8 code[8] = {0};
	__s32 count = perf_dlfilter_fns.object_code(ctx, s->ip, code, sizeof(code));
	printf("  code %d:", count);
	for (__s32 i = 0; i < count; i++)
		printf(" %02x", code[i]);
	printf(", elsewhere %d\n", perf_dlfilter_fns.object_code(ctx, 0x99999999, code, sizeof(code)));
}

static int ask(const char *when, const struct perf_dlfilter_sample *sample, void *ctx)
{
	const char *wish = mode(ctx);
	size_t length = strlen(when);
	++seen;
	if (!strcmp(wish, "show")) {
		printf("%s:", when);
		print_sample(sample);
		print_answers(sample, ctx);
	}
	if (strncmp(wish, when, length) != 0)
		return 0;
	return !strcmp(wish + length, " drops") ? sample->tid == 1001 : !strcmp(wish + length, " fails") ? -4 : 0;
}

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	(void)data;
	return ask("early", sample, ctx);
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	(void)data;
	return ask("late", sample, ctx);
}

const char *filter_description(const char **more)
{
	*more = "for tests of what a filter is given";
	return "prints all that it sees";
}
