/* SPDX-License-Identifier: Apache-2.0 */
#include "view/fleet/fleet_page.h"

#include "view/fleet_html.h"

/* The flame graph runs in a frame that has no origin of its own and gets its text from this page. */
#define FLEET_PAGE_POLICY                                                                                           \
	"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; frame-src " \
	"'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

struct tally_str fleet_page_html(void)
{
	return (struct tally_str){fleet_html, sizeof(fleet_html) - 1};
}

struct tally_str fleet_page_policy(void)
{
	return STR(FLEET_PAGE_POLICY);
}
