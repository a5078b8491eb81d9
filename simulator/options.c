/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <valgrind.h>

struct sim_options sim_options = {
	.kinds = SIM_KIND_INSTRUCTIONS,
	.i1 = {512, 8, 6},
	.d1 = {512, 8, 6},
	.ll = {131072, 16, 6},
	.itlb = {128, 8, 12},
	.dtlb = {64, 4, 12},
	.collects_at_start = True,
};

struct options_event {
	const HChar *name;
	UInt kind;
};

static const struct options_event options_events[SIM_EVENT_COUNT] = {
#define OPTIONS_EVENT(number, identifier, text, word) [number] = {text, SIM_KIND_##word},
	SIM_EVENTS(OPTIONS_EVENT)
#undef OPTIONS_EVENT
};

static const struct options_event options_kinds[] = {{"instructions", SIM_KIND_INSTRUCTIONS},
	{"branches", SIM_KIND_BRANCHES}, {"caches", SIM_KIND_CACHES}, {"tlb", SIM_KIND_TLB}};

/* Reads a number and moves *text past it. Returns False if there is none, or one above 2^48. */
static Bool options_number(const HChar **text, ULong *value)
{
	HChar *end;
	if (!VG_(isdigit)(**text) || VG_(strspn)(*text, "0123456789") > 15)
		return False;
	*value = VG_(strtoull10)(*text, &end);
	*text = end;
	return *value < 1ull << 48;
}

/* Reads exactly three numbers separated by commas. */
static Bool options_three(const HChar *text, ULong values[3])
{
	for (UInt i = 0; i < 3; i++) {
		if (i && *text++ != ',')
			return False;
		if (!options_number(&text, &values[i]))
			return False;
	}
	return *text == '\0';
}

static Bool options_is_power(ULong value)
{
	return value && !(value & (value - 1));
}

/* Reads SIZE,WAYS,LINE of a cache. A first level must have a power of two of sets, as in hardware. */
static void options_cache(const HChar *argument, const HChar *value, Bool is_first, struct sim_geometry *geometry)
{
	ULong v[3] = {0};
	if (!options_three(value, v))
		VG_(fmsg_bad_option)(argument, "Give a cache as SIZE,WAYS,LINE: bytes, a number, and bytes.\n");
	if (!options_is_power(v[2]) || v[2] < 16 || v[2] > 4096)
		VG_(fmsg_bad_option)(argument, "The line size must be a power of two from 16 to 4096.\n");
	if (!v[1] || v[1] > 256)
		VG_(fmsg_bad_option)(argument, "The number of ways must be from 1 to 256.\n");
	if (!v[0] || v[0] % (v[1] * v[2]) || v[0] > 1ull << 32)
		VG_(fmsg_bad_option)(argument, "The size must be a multiple of WAYS * LINE, and 4 GiB at most.\n");
	if (is_first && !options_is_power(v[0] / v[1] / v[2]))
		VG_(fmsg_bad_option)(argument, "SIZE / WAYS / LINE (the sets) must be a power of two at this level.\n");
	*geometry = (struct sim_geometry){(UInt)(v[0] / v[2]), (UInt)v[1], (UInt)VG_(log2_64)(v[2])};
}

static void options_tlb(const HChar *argument, const HChar *value, struct sim_geometry *geometry)
{
	ULong v[3] = {0};
	if (!options_three(value, v))
		VG_(fmsg_bad_option)(argument, "Give a TLB as ENTRIES,WAYS,PAGE: two numbers, and bytes.\n");
	if (!options_is_power(v[2]) || v[2] < 4096 || v[2] > 1u << 30)
		VG_(fmsg_bad_option)(argument, "The page size must be a power of two from 4096 to 1 GiB.\n");
	if (!v[1] || v[1] > v[0] || v[0] > 65536 || v[0] % v[1])
		VG_(fmsg_bad_option)(argument, "ENTRIES must be a multiple of WAYS, and 65536 at most.\n");
	*geometry = (struct sim_geometry){(UInt)v[0], (UInt)v[1], (UInt)VG_(log2_64)(v[2])};
}

static Bool options_is_word(const HChar *text, SizeT length, const HChar *word)
{
	return VG_(strlen)(word) == length && VG_(strncmp)(text, word, length) == 0;
}

static void options_read_kinds(const HChar *argument, const HChar *list)
{
	sim_options.kinds = SIM_KIND_INSTRUCTIONS;
	for (;;) {
		SizeT length = VG_(strcspn)(list, ",");
		UInt found = 0;
		for (UInt i = 0; i < sizeof options_kinds / sizeof *options_kinds; i++) {
			if (options_is_word(list, length, options_kinds[i].name))
				found = options_kinds[i].kind;
		}
		if (!found)
			VG_(fmsg_bad_option)
		(argument, "Name what to simulate: instructions, branches, caches, tlb, with commas between.\n");
		sim_options.kinds |= found;
		if (!list[length])
			return;
		list += length + 1;
	}
}

static void options_sample(const HChar *argument, const HChar *value)
{
	SizeT length = VG_(strcspn)(value, ":");
	const HChar *rest = value + length;
	ULong period = 0;
	UInt event = 0;
	while (event < SIM_EVENT_COUNT && !options_is_word(value, length, options_events[event].name))
		event++;
	if (event == SIM_EVENT_COUNT)
		VG_(fmsg_bad_option)(argument, "There is no such event.\n");
	if (*rest++ != ':' || !options_number(&rest, &period) || *rest || !period)
		VG_(fmsg_bad_option)(argument, "Give a sample as EVENT:PERIOD; the period is from 1 to 2^48.\n");
	if (sim_options_samples((enum sim_event)event))
		VG_(fmsg_bad_option)(argument, "This event is sampled already.\n");
	if (sim_options.sampled_count == SIM_SAMPLED_MOST)
		VG_(fmsg_bad_option)(argument, "At most %u events can be sampled.\n", SIM_SAMPLED_MOST);
	sim_options.sampled[sim_options.sampled_count++] = (struct sim_sampled){.event = event, .period = period};
}

static void options_stack_bytes(const HChar *argument, const HChar *value)
{
	ULong bytes = 0;
	if (!options_number(&value, &bytes) || *value || bytes % 8 || bytes > SIM_STACK_BYTES_MOST)
		VG_(fmsg_bad_option)(argument, "Give a multiple of 8, at most %u.\n", SIM_STACK_BYTES_MOST);
	sim_options.stack_bytes = (UInt)bytes;
}

static void options_toggle(const HChar *argument, const HChar *pattern)
{
	if (!*pattern)
		VG_(fmsg_bad_option)(argument, "Name a function, or give a shell pattern.\n");
	if (sim_options.toggle_count == SIM_TOGGLES_MOST)
		VG_(fmsg_bad_option)(argument, "At most %d functions can be given.\n", SIM_TOGGLES_MOST);
	sim_options.toggles[sim_options.toggle_count++] = pattern;
}

static Bool options_read_geometry(const HChar *argument)
{
	const HChar *value;
	if (VG_STR_CLO(argument, "--i1", value))
		options_cache(argument, value, True, &sim_options.i1);
	else if (VG_STR_CLO(argument, "--d1", value))
		options_cache(argument, value, True, &sim_options.d1);
	else if (VG_STR_CLO(argument, "--l2", value))
		options_cache(argument, value, False, &sim_options.l2);
	else if (VG_STR_CLO(argument, "--ll", value))
		options_cache(argument, value, False, &sim_options.ll);
	else if (VG_STR_CLO(argument, "--itlb", value))
		options_tlb(argument, value, &sim_options.itlb);
	else if (VG_STR_CLO(argument, "--dtlb", value))
		options_tlb(argument, value, &sim_options.dtlb);
	else
		return False;
	return True;
}

Bool sim_options_read(const HChar *argument)
{
	const HChar *value;
	if (VG_STR_CLO(argument, "--stream-dir", value))
		sim_options.stream_dir = value;
	else if (VG_STR_CLO(argument, "--events", value))
		options_read_kinds(argument, value);
	else if (VG_STR_CLO(argument, "--sample", value))
		options_sample(argument, value);
	else if (VG_STR_CLO(argument, "--stack-bytes", value))
		options_stack_bytes(argument, value);
	else if (VG_STR_CLO(argument, "--toggle", value))
		options_toggle(argument, value);
	else if (VG_BOOL_CLO(argument, "--collect-at-start", sim_options.collects_at_start)) {
		/* The macro has stored the value. */
	} else
		return options_read_geometry(argument);
	return True;
}

void sim_options_usage(void)
{
	VG_(printf)
	("    --stream-dir=DIR          write the streams <pid>.<n> into this folder (must be given)\n"
	 "    --events=LIST             simulate these: instructions,branches,caches,tlb [instructions]\n"
	 "    --i1=SIZE,WAYS,LINE       cache of instructions [32768,8,64]\n"
	 "    --d1=SIZE,WAYS,LINE       cache of data [32768,8,64]\n"
	 "    --l2=SIZE,WAYS,LINE       second level of both [none]\n"
	 "    --ll=SIZE,WAYS,LINE       last level [8388608,16,64]\n"
	 "    --itlb=ENTRIES,WAYS,PAGE  TLB of instructions [128,8,4096]\n"
	 "    --dtlb=ENTRIES,WAYS,PAGE  TLB of data [64,4,4096]\n"
	 "    --sample=EVENT:PERIOD     take a sample each PERIOD events (repeatable)\n"
	 "    --stack-bytes=N           give each sample registers and so many bytes of the stack [0]\n"
	 "    --toggle=FUNCTION         collect only while FUNCTION is on the thread's stack (repeatable)\n"
	 "    --collect-at-start=no     collect only between the program's client requests [yes]\n");
}

void sim_options_debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

/* Ends the program explicitly, because the core does so only while it reads options. */
#define OPTIONS_REFUSE(...)                        \
	do {                                       \
		VG_(fmsg_bad_option)(__VA_ARGS__); \
		VG_(exit)(1);                      \
	} while (0)

void sim_options_check(void)
{
	if (!sim_options.stream_dir || !*sim_options.stream_dir)
		OPTIONS_REFUSE("--stream-dir", "Give a folder for the streams: --stream-dir=DIR.\n");
	for (UInt i = 0; i < sim_options.sampled_count; i++) {
		const struct options_event *event = &options_events[sim_options.sampled[i].event];
		UInt word = 0;
		while (options_kinds[word].kind != event->kind)
			word++;
		if (!(sim_options.kinds & event->kind))
			OPTIONS_REFUSE("--sample", "'%s' is simulated only with --events=%s.\n", event->name,
				options_kinds[word].name);
		if (!sim_options.l2.entries && VG_(strncmp)(event->name, "l2-", 3) == 0)
			OPTIONS_REFUSE("--sample", "'%s' is simulated only with --l2.\n", event->name);
	}
}

Bool sim_options_samples(enum sim_event event)
{
	for (UInt i = 0; i < sim_options.sampled_count; i++) {
		if (sim_options.sampled[i].event == event)
			return True;
	}
	return False;
}

static UInt options_print_geometry(
	HChar *text, UInt size, const HChar *name, const struct sim_geometry *geometry, Bool is_tlb)
{
	ULong first = is_tlb ? geometry->entries : (ULong)geometry->entries << geometry->shift;
	if (!geometry->entries)
		return 0;
	return VG_(snprintf)(text, (Int)size, " %s=%llu,%u,%u", name, first, geometry->ways, 1u << geometry->shift);
}

UInt sim_options_model(HChar *text, UInt size)
{
	UInt at = VG_(snprintf)(text, (Int)size, "valgrind=%d.%d", __VALGRIND_MAJOR__, __VALGRIND_MINOR__);
	if (sim_options.kinds & SIM_KIND_CACHES) {
		at += options_print_geometry(text + at, size - at, "i1", &sim_options.i1, False);
		at += options_print_geometry(text + at, size - at, "d1", &sim_options.d1, False);
		at += options_print_geometry(text + at, size - at, "l2", &sim_options.l2, False);
		at += options_print_geometry(text + at, size - at, "ll", &sim_options.ll, False);
	}
	if (sim_options.kinds & SIM_KIND_TLB) {
		at += options_print_geometry(text + at, size - at, "itlb", &sim_options.itlb, True);
		at += options_print_geometry(text + at, size - at, "dtlb", &sim_options.dtlb, True);
	}
	if (sim_options.kinds & SIM_KIND_BRANCHES)
		at += VG_(snprintf)(text + at, (Int)(size - at), " predictor=gshare-16k");
	return at;
}
