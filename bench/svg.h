/* SPDX-License-Identifier: MIT */
/*
 * svg.h - lines in panels, one under the other, as an SVG picture
 *
 * Text and numbers only: it can be put under version control and compared.
 */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include <stddef.h>

#define SVG_MAX_LINES 6 /* in a panel: as many colours as there are */

struct svg_line {
	const char *name;
	const double *x, *y; /* a y that is not finite leaves a gap */
	size_t count;
};

/* What begins at @x: a vertical line, and its name right of it. */
struct svg_mark {
	const char *name;
	double x;
};

struct svg_panel {
	const char *title;
	struct svg_line lines[SVG_MAX_LINES];
	size_t nr_lines;
	const struct svg_mark *marks;
	size_t nr_marks;
};

struct svg_axes {
	const char *x_name, *y_name;
	double y_from; /* of all panels; they end where their lines do */
};

/*
 * svg_write() - ends the program when it fails
 * @path: NULL means that nothing is written
 */
void svg_write(const char *path, const struct svg_axes *axes,
	       const struct svg_panel *panels, size_t count);

#endif /* BENCH_SVG_H */
