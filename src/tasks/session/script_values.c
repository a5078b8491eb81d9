/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/script_values.h"

#include <time.h>

#include "base/error.h"

static void script_values_register_name(struct text *t, const struct arch *arch, uint32_t number)
{
	/* A wide register has two consecutive numbers, of which only the first has a name. */
	const char *name = arch ? arch_register_name(arch, number) : NULL;
	if (!name && arch && number > arch->wide_from)
		name = arch_register_name(arch, number - 1);
	if (name) {
		text_str_right(t, str_from(name), 5);
	} else {
		text_char(t, 'r');
		text_u64(t, number);
	}
}

void script_print_registers(struct text *t, const struct arch *arch, const struct sample_regs *regs, bool swap)
{
	if (regs->values.count == 0)
		return;
	text_str(t, " ABI:");
	text_u64(t, regs->abi);
	text_char(t, ' ');
	uint64_t mask = regs->mask;
	for (uint32_t i = 0; i < regs->values.count && mask; i++, mask &= mask - 1) {
		script_values_register_name(t, arch, (uint32_t)__builtin_ctzll(mask));
		text_str(t, ":0x");
		text_hex(t, sample_u64_at(regs->values.data, i, swap), 0);
		text_char(t, ' ');
	}
}

void script_print_page_size(struct text *t, uint64_t bytes)
{
	static const char units[] = "BKMG";
	if (bytes == 0) {
		text_str(t, "N/A");
		return;
	}
	size_t unit = 0;
	while (bytes > 1024 && bytes % 1024 == 0 && unit + 2 < sizeof(units)) {
		bytes /= 1024;
		unit++;
	}
	text_u64(t, bytes);
	text_char(t, units[unit]);
}

#define MISC_WIDTH 5

void script_print_misc(struct text *t, uint32_t record_type, uint16_t misc)
{
	static const char modes[8] = {[MISC_CPUMODE_KERNEL] = 'K',
		[MISC_CPUMODE_USER] = 'U',
		[MISC_CPUMODE_HYPERVISOR] = 'H',
		[MISC_CPUMODE_GUEST_KERNEL] = 'G',
		[MISC_CPUMODE_GUEST_USER] = 'g'};
	size_t start = t->len;
	char mode = modes[misc & MISC_CPUMODE_MASK];
	if (mode)
		text_char(t, mode);
	if ((record_type == RECORD_MMAP || record_type == RECORD_MMAP2) && (misc & MISC_MMAP_DATA))
		text_char(t, 'M');
	if (record_type == RECORD_COMM && (misc & MISC_COMM_EXEC))
		text_char(t, 'E');
	if ((record_type == RECORD_SWITCH || record_type == RECORD_SWITCH_CPU_WIDE) && (misc & MISC_SWITCH_OUT))
		text_str(t, misc & MISC_SWITCH_OUT_PREEMPT ? "Sp" : "S");
	size_t len = t->len - start;
	text_repeat(t, ' ', len < MISC_WIDTH ? MISC_WIDTH + 1 - len : 1);
}

static bool script_values_is_printable(uint8_t c)
{
	return c >= ' ' && c <= '~';
}

/* Returns the length of the string if the bytes are a printable string that is padded with NUL bytes, else
 * SIZE_MAX. */
static size_t whole_string(struct tally_bytes raw)
{
	size_t len = 0;
	while (len < raw.len && script_values_is_printable(raw.data[len]))
		len++;
	for (size_t i = len; i < raw.len; i++)
		if (raw.data[i])
			return SIZE_MAX;
	return len < raw.len ? len : SIZE_MAX;
}

#define BPF_LINE_BYTES 8

void script_print_bpf_output(struct text *t, struct tally_bytes raw)
{
	text_char(t, '\n');
	for (size_t at = 0; at < raw.len; at += BPF_LINE_BYTES) {
		text_str(t, at == 0 ? "      BPF output: " : "                  ");
		text_hex(t, at, 4);
		text_char(t, ':');
		for (size_t i = at; i < at + BPF_LINE_BYTES; i++) {
			if (i < raw.len) {
				text_char(t, ' ');
				text_hex(t, raw.data[i], 2);
			} else {
				text_str(t, "   ");
			}
		}
		text_str(t, "  ");
		for (size_t i = at; i < at + BPF_LINE_BYTES; i++)
			text_char(t, i >= raw.len			       ? ' '
				     : script_values_is_printable(raw.data[i]) ? (char)raw.data[i]
									       : '.');
		text_char(t, '\n');
	}
	size_t len = whole_string(raw);
	if (len == SIZE_MAX)
		return;
	text_str(t, "      BPF string: \"");
	text_bytes(t, (const char *)raw.data, len);
	text_str(t, "\"\n");
}

struct script_clock script_clock_make(const struct perfdata_features *features)
{
	return (struct script_clock){.is_missing = !feature_is_present(features, FEATURE_CLOCK_DATA) ||
						   feature_is_damaged(features, FEATURE_CLOCK_DATA),
		.offset_ns = features->wall_clock_ns - features->clockid_time_ns};
}

void script_print_time_of_day(struct text *t, struct script_clock *clock, uint64_t time_ns, unsigned decimals)
{
	if (clock->is_missing) {
		text_str(t, "disabled ");
		return;
	}
	uint64_t wall_ns = time_ns + clock->offset_ns;
	uint64_t second = wall_ns / 1000000000;
	if (clock->label_len == 0 || clock->second != second) {
		time_t when = (time_t)second;
		struct tm tm;
		clock->second = second;
		clock->label_len =
			localtime_r(&when, &tm) ? strftime(clock->label, sizeof(clock->label), "%F %T.", &tm) : 0;
	}
	text_bytes(t, clock->label, clock->label_len);
	uint64_t rest = wall_ns % 1000000000;
	for (unsigned i = decimals; i < 9; i++)
		rest /= 10;
	text_u64_padded(t, rest, decimals);
	text_char(t, ' ');
}

void script_print_cgroup(struct text *t, const struct cgroup_names *cgroups, uint64_t id)
{
	struct tally_str name;
	text_char(t, ' ');
	if (!cgroup_names_find(cgroups, id, &name))
		name = STR("unknown");
	text_bytes(t, name.data, name.len);
}
