/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_page.h - has the web page that shows what a store holds. Its script asks the server that it came from.
 *
 *	http_answer(request, "text/html", fleet_page_html());
 */
#ifndef VIEW_FLEET_FLEET_PAGE_H
#define VIEW_FLEET_FLEET_PAGE_H

#include "base/bytes.h"

/* The page, which lives as long as the program. */
struct tally_str fleet_page_html(void);
/* What the header Content-Security-Policy of the page's answer must be. */
struct tally_str fleet_page_policy(void);

#endif
