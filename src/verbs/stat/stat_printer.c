/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_printer.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "verbs/stat/stat_reasons.h"
#include "verbs/stat/stat_rung.h"
#include "verbs/stat/stat_statistics.h"

char *stat_printer_heading(const struct stat_job *job, const char *label)
{
	struct text t = {0};
	if (job->settings.counting.bpf_programs) {
		text_printf(&t, "'BPF program(s) %s'", job->settings.counting.bpf_programs);
	} else if (label[0]) {
		text_str(&t, label);
	} else {
		text_char(&t, '\'');
		for (size_t i = 0; job->command && job->command[i]; i++)
			text_printf(&t, "%s%s", i ? " " : "", job->command[i]);
		text_char(&t, '\'');
	}
	text_char(&t, '\0');
	if (t.failed)
		text_deinit(&t);
	return t.data;
}

/* Text output formats numbers as in user_locale, which must outlive the printer; CSV and JSON use the C locale. */
struct stat_printer stat_printer_make(const struct cli *cli, const struct stat_settings *s, locale_t user_locale)
{
	bool is_text = !s->view.separator && !s->view.is_json;
	const char *thousands = user_locale ? nl_langinfo_l(THOUSEP, user_locale) : "";
	const char *decimal = user_locale && is_text ? nl_langinfo_l(RADIXCHAR, user_locale) : NULL;
	return (struct stat_printer){.cli = cli,
		.settings = s,
		.style = {.separator = s->view.separator,
			.is_json = s->view.is_json,
			.has_metrics_only = s->view.has_metrics_only,
			.thousands = s->view.has_big_num ? thousands : "",
			.decimal = decimal,
			.hides_zeros = s->view.hides_zeros,
			.has_csv_summary = !s->view.no_csv_summary}};
}

enum tally_status stat_printer_open(struct stat_printer *p, struct tally_error *err)
{
	const struct stat_settings *s = p->settings;
	const char *output =
		/* "-" stands for standard error, like the default. */
		s->view.output && strcmp(s->view.output, "-") != 0 ? s->view.output : NULL;
	p->fd = STDERR_FILENO;
	if (output) {
		p->fd = open(output, O_WRONLY | O_CREAT | O_CLOEXEC | (s->view.is_append ? O_APPEND : O_TRUNC), 0666);
		if (p->fd < 0)
			return error_set_errno(err, TALLY_IO, errno, "cannot write '%s'", output);
	} else if (s->view.log_fd != UINT64_MAX) {
		if (s->view.log_fd > INT32_MAX || fcntl((int)s->view.log_fd, F_GETFD) < 0)
			return error_set_errno(
				err, TALLY_INVALID, EBADF, "--log-fd %llu", (unsigned long long)s->view.log_fd);
		p->fd = (int)s->view.log_fd;
	}
	text_to_fd(&p->text, p->fd);
	text_separated_by(&p->text, s->view.separator);
	if (output && !s->view.is_json) {
		time_t now = time(NULL);
		char stamp[64];
		struct tm tm;
		if (localtime_r(&now, &tm) && strftime(stamp, sizeof(stamp), "%a %b %e %H:%M:%S %Y", &tm))
			text_printf(&p->text, "# started on %s\n\n", stamp);
	}
	return TALLY_OK;
}

enum tally_status stat_printer_flush(struct stat_printer *p, struct tally_error *err)
{
	fflush(stdout);
	if (p->settings->view.is_quiet)
		text_clear(&p->text);
	if (p->text.failed)
		return error_nomem(err);
	if (!text_flush(&p->text))
		return error_set_errno(err, TALLY_IO, p->text.write_errno, "cannot write the counts");
	return TALLY_OK;
}

void stat_printer_label(struct stat_printer *p, const struct stat_job *job)
{
	if (job->rung && !p->settings->view.is_json)
		text_printf(&p->text, "# %.*s\n", (int)job->rung->label.len, job->rung->label.data);
}

void stat_printer_origin(struct stat_printer *p, const struct stat_report *report)
{
	if (report->origin && !p->has_origin && !p->settings->view.is_json) {
		text_str(&p->text, "# counted by ");
		text_visible(&p->text, str_from(report->origin->by));
		text_str(&p->text, ", which do not show ");
		text_visible(&p->text, str_from(report->origin->not_seen));
		text_char(&p->text, '\n');
	}
	p->has_origin = true;
}

void stat_printer_interval(void *context, const struct stat_report *report)
{
	struct stat_printer *p = context;
	if (p->settings->view.clears_screen)
		text_str(&p->text, "\033[H\033[2J");
	p->style.has_interval_header = !p->has_printed || p->settings->view.clears_screen;
	p->has_printed = true;
	stat_rows_print(&p->text, report, &p->style);
	(void)stat_printer_flush(p, NULL); /* A write error is stored in the text and reported at the end. */
}

bool stat_printer_explains(const struct stat_printer *p)
{
	const struct stat_settings *s = p->settings;
	bool is_for_scripts = (s->view.separator || s->view.is_json) && p->fd == STDERR_FILENO && !s->view.verbose;
	return !s->view.is_quiet && !is_for_scripts;
}

static void print_raw_counts(const struct stat_session *session)
{
	for (size_t i = 0; i < session->events->len; i++) {
		double value = 0, enabled = 0, running = 0;
		for (size_t place = 0; place < session->aggregation.len; place++) {
			const struct stat_cell *cell = &session->cells[i * session->aggregation.len + place];
			value += cell->value.mean;
			enabled += cell->enabled_ns.mean;
			running += cell->running_ns.mean;
		}
		cli_sayf("%s: %.0f %.0f %.0f\n", session->events->specs[i].name, value, enabled, running);
	}
}

/* Prints warnings about the counts, unless the rows contain them or the terminal shows them next to the rows. */
static void stat_printer_warn(struct stat_printer *p, const struct stat_report *report)
{
	const struct stat_settings *s = p->settings;
	if (!s->view.is_json && (p->fd != STDERR_FILENO || !stat_printer_explains(p))) {
		stat_rows_warnings(&p->text, report);
	} else if (s->view.is_json && s->counting.interval_ms && !s->view.has_summary && report->warnings->len > 0) {
		struct json line = {.out = &p->text, .is_compact = true, .colon = " : ", .comma = ", "};
		json_object(&line, NULL);
		stat_rows_warnings_json(&line, report);
		json_object_end(&line);
	}
}

enum tally_status stat_printer_totals(
	struct stat_printer *p, const struct stat_session *session, struct tally_error *err)
{
	const struct stat_settings *s = p->settings;
	struct stat_report report = stat_session_report(session);
	struct diag warnings;
	if (session->run_len == 0)
		return TALLY_OK;
	diag_init(&warnings);
	stat_reasons_warn(session, &warnings);
	report.warnings = &warnings;
	if (s->view.verbose)
		print_raw_counts(session);
	if (!s->counting.interval_ms || s->view.has_summary) {
		report.heading = p->heading;
		if (s->counting.interval_ms) {
			report.is_summary = true;
			report.interval_s = 0;
		}
		p->style.has_run_table = s->view.has_table;
		p->style.run_ns = session->run_ns;
		stat_rows_print(&p->text, &report, &p->style);
		if (session->values)
			stat_statistics_print(&p->text, session->values, &p->style);
	}
	stat_printer_warn(p, &report);
	diag_deinit(&warnings);
	enum tally_status status = stat_printer_flush(p, err);
	struct text reasons = {0};
	if (stat_printer_explains(p))
		stat_reasons_add(&reasons, p->cli->program, session);
	if (reasons.len)
		cli_say_rows((struct tally_str){reasons.data, reasons.len});
	text_deinit(&reasons);
	return status;
}

enum tally_status stat_printer_hold(const struct stat_printer *p, const struct stat_session *session,
	struct tracepoint_hold *hold, struct tally_error *err)
{
	struct text left_out = {0};
	enum tally_status status = tracepoint_hold_open(hold, session->kernel, false, session->events, &left_out, err);
	struct tally_str rest = {left_out.data, left_out.len}, line;
	while (status == TALLY_OK && stat_printer_explains(p) && str_next(&rest, '\n', &line) && line.len)
		cli_sayf("%s: %.*s\n", p->cli->program, (int)line.len, line.data);
	text_deinit(&left_out);
	return status;
}

void stat_printer_close(struct stat_printer *p)
{
	if (p->fd > STDERR_FILENO && p->settings->view.log_fd == UINT64_MAX)
		close(p->fd);
	text_deinit(&p->text);
}
