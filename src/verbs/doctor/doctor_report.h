/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_report.h - prints the checks of a machine and a target: as text, as JSON (docs/schema/doctor.json), or as
 * configuration that grants the missing access.
 *
 *	doctor_text(&report, is_verbose, &out);
 */
#ifndef VERBS_DOCTOR_DOCTOR_REPORT_H
#define VERBS_DOCTOR_DOCTOR_REPORT_H

#include "kernel/system/host_info.h"
#include "tasks/doctor/doctor_plan.h"

struct doctor_report {
	const struct host_info *host;
	const char *user; /* Name or number of the user. */
	const struct machine_checks *checks;
	const struct machine_gates *gates;
	const struct target_checks *target; /* NULL if no target was given. */
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

/* is_verbose adds the settings that do not prevent anything, and the complete list of the target's files. */
void doctor_text(const struct doctor_report *report, bool is_verbose, struct text *out);
void doctor_json(const struct doctor_report *report, struct text *out);
/* Appends the lines of a configuration, or commands, with comments that say where they belong. DOCTOR_FIX_NONE selects
 * those for the environment of this process, and appends nothing if nothing prevents measuring. */
void doctor_fix(const struct doctor_report *report, enum doctor_fix fix, struct text *out);

#endif
