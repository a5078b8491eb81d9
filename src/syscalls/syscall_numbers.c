/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_numbers.h"

#include "base/array.h"
#include "syscalls/number_tables.h"

static const char *const numbers_x86_64[] = {SYSCALL_NUMBERS_X86_64, SYSCALL_NUMBERS_OF_ALL};
static const char *const numbers_i386[] = {SYSCALL_NUMBERS_I386, SYSCALL_NUMBERS_OF_ALL};
static const char *const numbers_arm64[] = {SYSCALL_NUMBERS_ARM64, SYSCALL_NUMBERS_OF_ALL};

/* 32-bit arm has no names here, nor has an unknown ABI (SYSCALLS_COUNT): their calls are printed by number. */
static const struct syscall_number_table {
	const char *const *names; /* NULL for an unused number. */
	size_t count;
} tables[SYSCALLS_COUNT + 1] = {
	[SYSCALLS_X86_64] = {numbers_x86_64, ARRAY_LEN(numbers_x86_64)},
	[SYSCALLS_I386] = {numbers_i386, ARRAY_LEN(numbers_i386)},
	[SYSCALLS_ARM64] = {numbers_arm64, ARRAY_LEN(numbers_arm64)},
};

/* Other names of system calls, as tracepoints and other tools have them, and the names in the tables of numbers. */
static const struct {
	const char *other, *name;
} numbers_others[] = {
	{"newstat", "stat"},
	{"newlstat", "lstat"},
	{"newfstat", "fstat"},
	{"newuname", "uname"},
	{"umount", "umount2"},
	{"sendfile64", "sendfile"},
	{"fstatat", "newfstatat"},
	{"fstatat64", "newfstatat"},
	{"pread", "pread64"},
	{"pwrite", "pwrite64"},
	{"prlimit", "prlimit64"},
	{"select", "_newselect"},
	{"mmap", "mmap2"},
};

const char *syscall_name(enum syscall_abi abi, uint32_t number)
{
	const struct syscall_number_table *table = &tables[abi];
	return number < table->count ? table->names[number] : NULL;
}

static uint32_t syscall_numbers_find(enum syscall_abi abi, struct tally_str name)
{
	const struct syscall_number_table *table = &tables[abi];
	for (uint32_t i = 0; i < table->count; i++) {
		const char *known = table->names[i];
		if (known && str_equal(str_from(known), name))
			return i;
	}
	return SYSCALL_UNKNOWN;
}

uint32_t syscall_number(enum syscall_abi abi, struct tally_str name)
{
	uint32_t number = syscall_numbers_find(abi, name);
	for (size_t i = 0; number == SYSCALL_UNKNOWN && i < ARRAY_LEN(numbers_others); i++)
		if (str_equal(str_from(numbers_others[i].other), name))
			number = syscall_numbers_find(abi, str_from(numbers_others[i].name));
	return number;
}

void syscall_print_name(struct text *t, enum syscall_abi abi, uint32_t number)
{
	const char *name = syscall_name(abi, number);
	if (name) {
		text_str(t, name);
		return;
	}
	text_str(t, "syscall_");
	text_u64(t, number);
}

const char *syscall_nearest(enum syscall_abi abi, const char *word)
{
	const struct syscall_number_table *table = &tables[abi];
	const char *candidates[SYSCALL_NUMBERS] = {NULL};
	size_t count = 0;
	for (uint32_t i = 0; i < table->count; i++)
		if (table->names[i])
			candidates[count++] = table->names[i];
	size_t nearest = text_nearest(candidates, count, word);
	return nearest < count ? candidates[nearest] : NULL;
}
