/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iio_ports.h - finds which PCIe root port each unit of an Intel server's uncore counts for: the kernel says so in
 * /sys/devices/uncore_iio_N/dieM.
 *
 * Reads under the seam's root. The list belongs to the caller. Source: Linux, Documentation/ABI/testing/
 * sysfs-devices-mapping.
 *
 *	struct iio_ports ports;
 *	status = iio_ports_read(kernel, &ports, err);   // UNSUPPORTED: this machine has none
 *	iio_ports_deinit(&ports);
 */
#ifndef KERNEL_SYSTEM_IIO_PORTS_H
#define KERNEL_SYSTEM_IIO_PORTS_H

#include "base/vec.h"
#include "kernel/system/kernel_seam.h"

struct iio_port {
	unsigned pmu, die;
	unsigned segment, bus;
};

struct iio_ports { /* by unit, then by die */
	VEC(struct iio_port) ports;
};

TALLY_MUST_CHECK enum tally_status iio_ports_read(
	const struct kernel_seam *kernel, struct iio_ports *ports, struct tally_error *err);
/* Keeps those of a list such as "0000:17,0:3a". NOT_FOUND: one of them is none of these ports. */
TALLY_MUST_CHECK enum tally_status iio_ports_keep(struct iio_ports *ports, const char *list, struct tally_error *err);
void iio_ports_deinit(struct iio_ports *ports);

#endif
