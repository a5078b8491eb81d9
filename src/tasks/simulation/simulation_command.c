/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_command.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "kernel/system/program_path.h"

#ifdef __aarch64__
#define OWN_MACHINE	 EM_AARCH64
#define OWN_MACHINE_NAME "64-bit ARM"
#else
#define OWN_MACHINE	 EM_X86_64
#define OWN_MACHINE_NAME "x86-64"
#endif

/* Reports the same error as execvp would. */
static enum tally_status simulation_command_refuse(const char *command, struct tally_error *err)
{
	int errnum = ENOENT;
	if (strchr(command, '/') && access(command, X_OK) != 0)
		errnum = errno;
	else if (strchr(command, '/'))
		errnum = EACCES; /* The path is a directory. */
	return error_set_errno(
		err, errnum == EACCES ? TALLY_DENIED : TALLY_NOT_FOUND, errnum, "cannot run '%s'", command);
}

/* Refuses programs that are not readable, or for another machine or word size. The fields up to e_machine are at the
 * same offsets in 32-bit and 64-bit ELF files. */
static enum tally_status simulation_command_check_machine(const char *path, struct tally_error *err)
{
	Elf64_Ehdr header;
	size_t len = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, TALLY_UNSUPPORTED, errno,
			"cannot simulate '%s': this user may run but not read it, and Valgrind has to read it", path);
	enum tally_status status = file_read_some(fd, &header, sizeof(header), &len, err);
	close(fd);
	if (status != TALLY_OK || len < sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return status; /* For a script, Valgrind runs its interpreter. */
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return error_set(err, TALLY_UNSUPPORTED,
			"cannot simulate '%s': it is a 32-bit program, and tally's simulator is built "
			"for " OWN_MACHINE_NAME " only",
			path);
	if (header.e_machine != OWN_MACHINE)
		return error_set(err, TALLY_UNSUPPORTED,
			"cannot simulate '%s': it is a program for another machine than " OWN_MACHINE_NAME, path);
	return TALLY_OK;
}

enum tally_status simulation_command_check(const char *command, struct tally_error *err)
{
	char path[PATH_MAX];
	struct stat st;
	if (!program_path_find(command, path) || stat(path, &st) != 0)
		return simulation_command_refuse(command, err);
	bool has_capabilities = getxattr(path, "security.capability", NULL, 0) > 0;
	if (st.st_mode & (S_ISUID | S_ISGID) || has_capabilities)
		return error_set(err, TALLY_UNSUPPORTED,
			"cannot simulate '%s': it %s: Valgrind runs no program that changes privileges; run a "
			"copy without that",
			path, has_capabilities ? "has file capabilities" : "is set-user-ID or set-group-ID");
	return simulation_command_check_machine(path, err);
}
