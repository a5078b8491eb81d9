/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_report.h - prints what was found out about a machine and a target: as text, as JSON (docs/schema/doctor.json), or
 * as a snippet of configuration that opens what is closed.
 *
 *	doctor_text(&report, is_verbose, &out);
 */
#ifndef VERBS_DOCTOR_DOCTOR_REPORT_H
#define VERBS_DOCTOR_DOCTOR_REPORT_H

#include "kernel/system/host_info.h"
#include "tasks/doctor/doctor_plan.h"

struct doctor_report {
	const struct host_info *host;
	const char *user; /* its name or number */
	const struct machine_checks *checks;
	const struct machine_gates *gates;
	const struct target_checks *target; /* NULL: none was named */
	struct doctor_plan plans[PLAN_COUNT];
	bool can_measure;
};

enum doctor_fix {
	DOCTOR_FIX_NONE,
	DOCTOR_FIX_SYSCTL,
	DOCTOR_FIX_SETCAP,
	DOCTOR_FIX_SYSTEMD,
	DOCTOR_FIX_DOCKER,
	DOCTOR_FIX_PODMAN,
	DOCTOR_FIX_KUBERNETES
};

/* is_verbose: also the settings that are not in the way. */
void doctor_text(const struct doctor_report *report, bool is_verbose, struct text *out);
void doctor_json(const struct doctor_report *report, struct text *out);
/* Lines to put into a file or to run, with comments that say where; DOCTOR_FIX_NONE: those for where this process runs, if
 * anything is in the way. */
void doctor_fix(const struct doctor_report *report, enum doctor_fix fix, struct text *out);

#endif
