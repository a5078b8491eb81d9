/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_page.h - provides the web page that shows the contents of a profile store. Its script sends its requests to the
 * server that it came from.
 *
 *	http_answer(request, "text/html", fleet_page_html());
 */
#ifndef VIEW_FLEET_FLEET_PAGE_H
#define VIEW_FLEET_FLEET_PAGE_H

#include "base/bytes.h"

/* Returns the page, which is constant data. */
struct tally_str fleet_page_html(void);
/* Returns the value of the header Content-Security-Policy for the page's answer. */
struct tally_str fleet_page_policy(void);

#endif
