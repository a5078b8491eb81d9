/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_smi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "kernel/system/kernel_files.h"

#define SWITCH "/sys/bus/event_source/devices/cpu/freeze_on_smi"

static bool switch_write(const struct kernel_seam *kernel, char value)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s" SWITCH, kernel->root);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool ok = write(fd, &value, 1) == 1;
	int errnum = errno;
	close(fd);
	errno = errnum;
	return ok;
}

enum tally_status stat_smi_freeze(const struct kernel_seam *kernel, struct stat_smi *smi, struct tally_error *err)
{
	int64_t was = kernel_number(kernel, -1, SWITCH);
	smi->is_lacking = was < 0;
	if (smi->is_lacking)
		return error_set(err, TALLY_UNSUPPORTED,
			"--smi-cost: freeze_on_smi is not supported: the PMU 'cpu' has no such switch in sysfs (Intel "
			"has it)");
	if (was != 0)
		return TALLY_OK;
	if (!switch_write(kernel, '1'))
		return error_set_errno(
			err, TALLY_DENIED, errno, "Failed to set freeze_on_smi (it takes root): " SWITCH);
	smi->was_switched = true;
	return TALLY_OK;
}

void stat_smi_restore(const struct kernel_seam *kernel, struct stat_smi *smi)
{
	if (smi->was_switched)
		/* An error is ignored, because the switch cannot be restored if its file is gone. */
		(void)switch_write(kernel, '0');
	smi->was_switched = false;
}
