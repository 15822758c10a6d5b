// SPDX-License-Identifier: MIT
/*
 * svg.c - lines in panels; see svg.h
 *
 *	  title
 *	y |mark    |mark            -- name
 *	  |  ____  |                -- name
 *	  |_/    \_|__________
 *	  +-------------------
 *	           x
 */
#include "svg.h"

#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a panel, in pixels: the frame, and what lies around it. */
#define WIDTH 720.0
#define HEIGHT 260.0
#define LEFT 70.0
#define RIGHT 120.0
#define TOP 40.0
#define BOTTOM 60.0
#define PANEL (TOP + HEIGHT + BOTTOM)
#define TICKS 5 /* on an axis, about */

/* Told apart by colour-blind readers too (Okabe and Ito). */
static const char *const colours[SVG_MAX_LINES] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
};

struct axis {
	double from, to, step;
};

struct frame {
	FILE *file;
	const struct svg_panel *panel;
	struct axis x, y;
	double top; /* of its inside */
};

/* ---- axes -------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten. */
static double round_step(double span)
{
	double raw = span / TICKS, power = pow(10, floor(log10(raw)));
	double times = raw / power;

	return power * (times < 1.5 ? 1 :
			times < 3.5 ? 2 :
			times < 7.5 ? 5 :
				      10);
}

static struct axis axis_to(double from, double largest)
{
	double to = largest > from ? largest : from + 1;
	struct axis a = { from, to, round_step(to - from) };

	return a;
}

/* The next tick from the largest value on. */
static struct axis axis_to_tick(double from, double largest)
{
	struct axis a = axis_to(from, largest);

	a.to = from + ceil((a.to - from) / a.step) * a.step;
	return a;
}

static double largest(const struct svg_panel *p, bool of_y)
{
	double most = -INFINITY;

	for (size_t i = 0; i < p->nr_lines; i++) {
		const struct svg_line *l = &p->lines[i];

		for (size_t k = 0; k < l->count; k++) {
			double v = of_y ? l->y[k] : l->x[k];

			if (isfinite(v) && v > most)
				most = v;
		}
	}
	return most;
}

static double x_at(const struct frame *f, double x)
{
	return LEFT + (x - f->x.from) / (f->x.to - f->x.from) * WIDTH;
}

static double y_at(const struct frame *f, double y)
{
	double share = (y - f->y.from) / (f->y.to - f->y.from);

	return f->top + HEIGHT - (share > 0 ? share : 0) * HEIGHT;
}

/* ---- elements ---------------------------------------------------------- */

static void put_text(FILE *file, double x, double y, const char *more,
		     const char *text)
{
	fprintf(file, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
	for (; *text; text++) {
		if (*text == '<' || *text == '&')
			fprintf(file, "&#%d;", *text);
		else
			fputc(*text, file);
	}
	fputs("</text>\n", file);
}

static void put_number(FILE *file, double x, double y, const char *more,
		       double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6g", v);
	put_text(file, x, y, more, text);
}

static void put_rule(FILE *file, double x1, double y1, double x2, double y2,
		     const char *stroke)
{
	fprintf(file,
		"<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" "
		"fill=\"none\"/>\n",
		x1, y1, x2, y2, stroke);
}

static void put_y_axis(const struct frame *f, const char *name)
{
	char turned[64];
	double middle = f->top + HEIGHT / 2;

	for (int i = 0; f->y.from + i * f->y.step < f->y.to * (1 + 1e-9); i++) {
		double v = f->y.from + i * f->y.step, y = y_at(f, v);

		put_rule(f->file, LEFT, y, LEFT + WIDTH, y, "#ddd");
		put_number(f->file, LEFT - 6, y + 4, " text-anchor=\"end\"", v);
	}
	snprintf(turned, sizeof(turned),
		 " text-anchor=\"middle\" transform=\"rotate(-90 20 %.1f)\"",
		 middle);
	put_text(f->file, 20, middle, turned, name);
}

static void put_x_axis(const struct frame *f, const char *name)
{
	double bottom = f->top + HEIGHT;

	for (int i = 0; f->x.from + i * f->x.step < f->x.to * (1 + 1e-9); i++) {
		double v = f->x.from + i * f->x.step, x = x_at(f, v);

		put_rule(f->file, x, bottom, x, bottom + 5, "#000");
		put_number(f->file, x, bottom + 18, " text-anchor=\"middle\"",
			   v);
	}
	put_text(f->file, LEFT + WIDTH / 2, bottom + 38,
		 " text-anchor=\"middle\"", name);
	put_rule(f->file, LEFT, bottom, LEFT + WIDTH, bottom, "#000");
	put_rule(f->file, LEFT, f->top, LEFT, bottom, "#000");
}

static void put_marks(const struct frame *f)
{
	for (size_t i = 0; i < f->panel->nr_marks; i++) {
		const struct svg_mark *m = &f->panel->marks[i];
		double x = x_at(f, m->x);

		put_rule(f->file, x, f->top, x, f->top + HEIGHT, "#999");
		put_text(f->file, x + 4, f->top + 12, " fill=\"#666\"",
			 m->name);
	}
}

/* A move where a gap ends, a line elsewhere. */
static void put_line(const struct frame *f, const struct svg_line *l,
		     const char *colour)
{
	bool gap = true;

	fputs("<path d=\"", f->file);
	for (size_t i = 0; i < l->count; i++) {
		if (isfinite(l->y[i]))
			fprintf(f->file, "%c%.1f %.1f", gap ? 'M' : 'L',
				x_at(f, l->x[i]), y_at(f, l->y[i]));
		gap = !isfinite(l->y[i]);
	}
	fprintf(f->file,
		"\" stroke=\"%s\" stroke-width=\"2\" fill=\"none\"/>\n",
		colour);
}

static void put_lines(const struct frame *f)
{
	for (size_t i = 0; i < f->panel->nr_lines; i++) {
		double y = f->top + 10 + 20 * (double)i;

		put_line(f, &f->panel->lines[i], colours[i]);
		put_rule(f->file, LEFT + WIDTH + 10, y, LEFT + WIDTH + 30, y,
			 colours[i]);
		put_text(f->file, LEFT + WIDTH + 36, y + 4, "",
			 f->panel->lines[i].name);
	}
}

static void put_panel(FILE *file, const struct svg_axes *axes,
		      const struct svg_panel *panel, double top)
{
	struct frame f = {
		.file = file,
		.panel = panel,
		.x = axis_to(0, largest(panel, false)),
		.y = axis_to_tick(axes->y_from, largest(panel, true)),
		.top = top + TOP,
	};

	put_text(file, LEFT, top + TOP - 14, " font-weight=\"bold\"",
		 panel->title);
	put_y_axis(&f, axes->y_name);
	put_marks(&f);
	put_x_axis(&f, axes->x_name);
	put_lines(&f);
}

/* ---- the whole --------------------------------------------------------- */

void svg_write(const char *path, const struct svg_axes *axes,
	       const struct svg_panel *panels, size_t count)
{
	double width = LEFT + WIDTH + RIGHT, height = PANEL * (double)count;
	FILE *file;
	int failed;

	if (!path)
		return;
	file = fopen(path, "we");
	if (!file)
		bad_input("%s: %s", path, strerror(errno));
	fprintf(file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		"height=\"%.0f\" font-family=\"sans-serif\" "
		"font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, height);
	for (size_t i = 0; i < count; i++)
		put_panel(file, axes, &panels[i], PANEL * (double)i);
	fputs("</svg>\n", file);
	failed = ferror(file);
	if (fclose(file) || failed)
		bad_input("%s: could not be written: %s", path,
			  strerror(errno));
}
