/* SPDX-License-Identifier: Apache-2.0 */
#include "code/disasm/capstone_load.h"

#include "tally_config.h"

#if CAPSTONE_IS_LOADED
#include <capstone/capstone.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "base/shared_object.h"

/* The soname of the library has its major version, which the header also defines. */
#define TEXT_OF(number)		 #number
#define CAPSTONE_FILE_OF(number) "libcapstone.so." TEXT_OF(number)
#define CAPSTONE_FILE		 CAPSTONE_FILE_OF(CS_API_MAJOR)

static struct {
	__typeof__(&cs_close) close;
	__typeof__(&cs_disasm_iter) disasm_iter;
	__typeof__(&cs_free) free;
	__typeof__(&cs_insn_group) insn_group;
	__typeof__(&cs_insn_name) insn_name;
	__typeof__(&cs_malloc) malloc;
	__typeof__(&cs_open) open;
	__typeof__(&cs_option) option;
	__typeof__(&cs_reg_name) reg_name;
	__typeof__(&cs_regs_access) regs_access;
} library;

static bool is_loaded;
static char failure[256]; /* Message of the loader if the library could not be loaded. */

static void load_functions(void)
{
	const struct {
		void **function;
		const char *name;
	} functions[] = {
		{(void **)&library.close, "cs_close"},
		{(void **)&library.disasm_iter, "cs_disasm_iter"},
		{(void **)&library.free, "cs_free"},
		{(void **)&library.insn_group, "cs_insn_group"},
		{(void **)&library.insn_name, "cs_insn_name"},
		{(void **)&library.malloc, "cs_malloc"},
		{(void **)&library.open, "cs_open"},
		{(void **)&library.option, "cs_option"},
		{(void **)&library.reg_name, "cs_reg_name"},
		{(void **)&library.regs_access, "cs_regs_access"},
	};
	void *handle = shared_object_open(CAPSTONE_FILE, RTLD_NOW | RTLD_LOCAL);
	is_loaded = handle != NULL;
	for (size_t i = 0; i < ARRAY_LEN(functions) && is_loaded; i++) {
		*functions[i].function = dlsym(handle, functions[i].name);
		is_loaded = *functions[i].function != NULL;
	}
	if (!is_loaded)
		snprintf(failure, sizeof(failure), "%s", shared_object_error());
}

enum tally_status capstone_load(struct tally_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load_functions);
	if (is_loaded)
		return TALLY_OK;
	return error_set(err, TALLY_UNSUPPORTED, "disassembling needs capstone (Debian's package libcapstone%d): %s",
		CS_API_MAJOR, failure);
}

cs_err cs_open(cs_arch arch, cs_mode mode, csh *handle)
{
	return library.open(arch, mode, handle);
}

cs_err cs_close(csh *handle)
{
	return library.close(handle);
}

cs_err cs_option(csh handle, cs_opt_type type, size_t value)
{
	return library.option(handle, type, value);
}

cs_insn *cs_malloc(csh handle)
{
	return library.malloc(handle);
}

void cs_free(cs_insn *insn, size_t count)
{
	library.free(insn, count);
}

bool cs_disasm_iter(csh handle, const uint8_t **code, size_t *size, uint64_t *address, cs_insn *insn)
{
	return library.disasm_iter(handle, code, size, address, insn);
}

const char *cs_reg_name(csh handle, unsigned reg)
{
	return library.reg_name(handle, reg);
}

const char *cs_insn_name(csh handle, unsigned insn)
{
	return library.insn_name(handle, insn);
}

bool cs_insn_group(csh handle, const cs_insn *insn, unsigned group)
{
	return library.insn_group(handle, insn, group);
}

cs_err cs_regs_access(
	csh handle, const cs_insn *insn, cs_regs read, uint8_t *read_count, cs_regs written, uint8_t *written_count)
{
	return library.regs_access(handle, insn, read, read_count, written, written_count);
}

#else

enum tally_status capstone_load(struct tally_error *err)
{
	(void)err;
	return TALLY_OK;
}

#endif
