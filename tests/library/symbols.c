/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.c - checks the names of addresses (tally/symbols.h) with functions of the program itself.
 */
#include <inttypes.h>
#include <stdint.h>
#include <tally/symbols.h>
#include <unistd.h>

#include "checks.h"

static struct tally_error err;

/* Neither static nor inlined, so that it has a symbol at any optimisation level. */
__attribute__((noinline)) void a_function_to_find(void);
__attribute__((noinline)) void a_function_to_find(void)
{
	__asm__ volatile("");
}

/* Returns the offset in the program file of the code at an address, by /proc/self/maps. */
static uint64_t file_offset(const void *address)
{
	char line[8192];
	FILE *maps = fopen("/proc/self/maps", "r");
	uint64_t start, end, offset, at = (uint64_t)(uintptr_t)address;
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) == 3 && at >= start &&
			at < end) {
			fclose(maps);
			return at - start + offset;
		}
	}
	FAIL("no mapping has %p", address);
}

CHECK(names_its_own_function)
{
	struct tally_symbols *symbols = tally_symbols_open("/proc/self/exe", &err);
	struct tally_symbol symbol;
	uint64_t offset = file_offset((const void *)a_function_to_find);
	if (!symbols)
		FAIL("%s", err.text);
	EXPECT(tally_symbols_find(symbols, offset, &symbol));
	EXPECT(strcmp(symbol.name, "a_function_to_find") == 0);
	EXPECT_EQ(symbol.start, offset);
	EXPECT(symbol.end > offset);
	EXPECT(!tally_symbols_find(symbols, 0, &symbol)); /* Offset 0 is the ELF header. */
	EXPECT(!tally_symbols_find(symbols, UINT64_MAX, &symbol));
	tally_symbols_close(symbols);
	tally_symbols_close(NULL);
}

CHECK(a_file_without_names_says_why)
{
	EXPECT(!tally_symbols_open("/dev/null", &err));
	EXPECT_EQ(err.status, TALLY_NOT_FOUND);
	EXPECT(strstr(err.text, "/dev/null has no symbols"));
	EXPECT(!tally_symbols_open("/no/such/file", &err));
	EXPECT(strstr(err.text, "/no/such/file has no symbols"));
	EXPECT(!tally_symbols_open("/no/such/file", NULL));
}

int main(int argc, char **argv)
{
	return checks_main(argc, argv);
}
