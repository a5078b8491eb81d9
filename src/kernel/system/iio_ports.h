/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iio_ports.h - finds the PCIe root port of each IIO unit in the uncore of Intel servers, by the files
 * /sys/devices/uncore_iio_N/dieM.
 *
 * It reads files below the seam's root. The list belongs to the caller. Source: Linux, Documentation/ABI/testing/
 * sysfs-devices-mapping.
 *
 *	struct iio_ports ports;
 *	status = iio_ports_read(kernel, &ports, err);   // TALLY_UNSUPPORTED if the machine has none
 *	iio_ports_deinit(&ports);
 */
#ifndef KERNEL_SYSTEM_IIO_PORTS_H
#define KERNEL_SYSTEM_IIO_PORTS_H

#include "base/vec.h"
#include "kernel/system/kernel_seam.h"

struct iio_port {
	unsigned pmu, die; /* N and M of the file. */
	unsigned segment, bus; /* PCI segment and bus of the root port. */
};

struct iio_ports { /* Sorted by PMU, then by die. */
	VEC(struct iio_port) ports;
};

TALLY_MUST_CHECK enum tally_status iio_ports_read(
	const struct kernel_seam *kernel, struct iio_ports *ports, struct tally_error *err);
/* Removes all ports that are not in a list such as "0000:17,0:3a"; TALLY_NOT_FOUND if it has an unknown port. */
TALLY_MUST_CHECK enum tally_status iio_ports_keep(struct iio_ports *ports, const char *list, struct tally_error *err);
void iio_ports_deinit(struct iio_ports *ports);

#endif
