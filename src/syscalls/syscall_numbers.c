/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_numbers.h"

#include "syscalls/number_tables.h"

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

/* 32-bit arm has no table: its calls are printed by number. */
static const struct syscall_number_table *syscall_numbers_table(enum syscall_abi abi)
{
	static const struct syscall_number_table none = {NULL, 0};
	switch (abi) {
	case SYSCALLS_X86_64:
		return &syscall_numbers_x86_64;
	case SYSCALLS_I386:
		return &syscall_numbers_i386;
	case SYSCALLS_ARM64:
		return &syscall_numbers_arm64;
	case SYSCALLS_ARM:
	case SYSCALLS_COUNT:
		break;
	}
	return &none;
}

const char *syscall_name(enum syscall_abi abi, uint32_t number)
{
	const struct syscall_number_table *table = syscall_numbers_table(abi);
	return number < table->count ? table->names[number] : NULL;
}

static uint32_t syscall_numbers_find(enum syscall_abi abi, struct tally_str name)
{
	const struct syscall_number_table *table = syscall_numbers_table(abi);
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
	const struct syscall_number_table *table = syscall_numbers_table(abi);
	const char *candidates[SYSCALL_NUMBERS] = {NULL};
	size_t count = 0;
	for (uint32_t i = 0; i < table->count; i++)
		if (table->names[i])
			candidates[count++] = table->names[i];
	size_t nearest = text_nearest(candidates, count, word);
	return nearest < count ? candidates[nearest] : NULL;
}
